package index

import "github.com/millrace/millrace/pubsub/pattern"

// rolledHeap has channels in a heap, the one with the highest floor first. So who has missed
// little looks at few of them.
type rolledHeap []*Channel

func (h rolledHeap) Len() int           { return len(h) }
func (h rolledHeap) Less(i, j int) bool { return h[i].floor.n > h[j].floor.n }
func (h rolledHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].rolled, h[j].rolled = i+1, j+1
}

func (h *rolledHeap) Push(x any) {
	c := x.(*Channel)
	*h = append(*h, c)
	c.rolled = len(*h)
}

func (h *rolledHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h, c.rolled = (*h)[:last], 0
	return c
}

// last returns the highest floor above a number of a channel that matches. It looks at
// maxFloors channels at most: what it cannot tell by then counts as removed.
func (h rolledHeap) last(p pattern.Pattern, above uint64) (floor place, steps int) {
	floor.n = above
	found := false
	for todo := []int{0}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i >= len(h) || h[i].floor.n <= floor.n {
			continue
		}
		if steps++; steps > maxFloors {
			return h[0].floor, steps - 1
		}
		if p.Match(h[i].name) {
			floor, found = h[i].floor, true
			continue // all behind it are lower
		}
		todo = append(todo, 2*i+2, 2*i+1)
	}
	if !found {
		return place{}, steps
	}
	return floor, steps
}
