package pattern

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// listReader walks a list a step at a time.
type listReader struct {
	at     *list[int]
	stable map[int]bool // items that have been there since the reader began
	met    map[int]int
}

// TestListReaders lets readers stand anywhere in a list while it changes. Each
// change becomes visible in one step, so a test with one goroutine sees all
// that can happen.
func TestListReaders(t *testing.T) {
	const items, steps = 8, 20000
	rnd := rand.New(rand.NewPCG(1, 2))
	var l list[int]
	content := map[int]bool{}
	var readers []*listReader
	complete := 0

	for range steps {
		switch item := rnd.IntN(items); rnd.IntN(16) {
		case 0, 1, 2, 3:
			change(t, &l, content, item)
			for _, r := range readers {
				delete(r.stable, item)
			}
		case 4:
			r := &listReader{at: &l, stable: map[int]bool{}, met: map[int]int{}}
			for item := range content {
				r.stable[item] = true
			}
			readers = append(readers, r)
		default:
			if len(readers) == 0 {
				continue
			}
			i := rnd.IntN(len(readers))
			r := readers[i]
			if at := r.at.first.Load(); at != nil {
				r.met[at.item]++
				r.at = &at.rest
				continue
			}
			r.check(t)
			complete++
			readers = slices.Delete(readers, i, i+1)
		}
	}
	if complete < steps/100 {
		t.Errorf("only %d readers came to the end", complete)
	}
}

func (r *listReader) check(t *testing.T) {
	t.Helper()
	for item, n := range r.met {
		if n > 1 {
			t.Fatalf("item %d was met %d times", item, n)
		}
	}
	for item := range r.stable {
		if r.met[item] == 0 {
			t.Fatalf("item %d was there all the time and not met", item)
		}
	}
}

// change takes item out, or puts it in if it is not there.
func change(t *testing.T, l *list[int], content map[int]bool, item int) {
	t.Helper()
	from, found := l.find(func(i *int) int { return cmp.Compare(*i, item) })
	if found != content[item] {
		t.Fatalf("find %d: %v", item, found)
	}
	if found {
		from.pop()
		delete(content, item)
	} else {
		from.push(item)
		content[item] = true
	}
	var got []int
	for at := l.first.Load(); at != nil; at = at.rest.first.Load() {
		got = append(got, at.item)
	}
	if !slices.IsSorted(got) || len(got) != len(content) || l.empty() != (len(got) == 0) {
		t.Fatalf("the list is %v, want what is in %v", got, content)
	}
}

func TestListReplace(t *testing.T) {
	var l list[int]
	l.push(3)
	l.push(1)
	standing := l.first.Load()
	l.replace(2)
	equal(t, "the first item", *l.front(), 2)
	equal(t, "where who stood at the old item goes on", *standing.rest.front(), 3)
	equal(t, "the rest of the new item", l.first.Load().rest.first.Load(), standing.rest.first.Load())
	equal(t, "the old item", standing.item, 1)
}

// TestListConcurrent has real readers, as a change that took two steps would
// show only to them.
func TestListConcurrent(t *testing.T) {
	var l list[int]
	for _, item := range []int{8, 4, 0} {
		l.push(item)
	}
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				var met [5]int
				for at := l.first.Load(); at != nil; at = at.rest.first.Load() {
					met[at.item/2]++
				}
				if met[0] != 1 || met[2] != 1 || met[4] != 1 || met[1] > 1 || met[3] > 1 {
					t.Errorf("items 0, 2, …, 8 were met %d times; 0, 4 and 8 are always there", met)
					return
				}
			}
		})
	}
	for i := range 60000 {
		from, found := l.find(func(item *int) int { return cmp.Compare(*item, i%5*2) })
		switch {
		case !found:
			from.push(i % 5 * 2)
		case i%5%2 == 0:
			from.replace(i % 5 * 2)
		default:
			from.pop()
		}
	}
	stop.Store(true)
	readers.Wait()
}
