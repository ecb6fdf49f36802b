package refusals

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// MaxKept is how many refusals a [Log] keeps: at most some 8 MiB.
const MaxKept = 4096

// Log keeps the newest refusals in memory. When it is full, a new one takes the place of the
// oldest of whoever has most of them: among strangers and those with a token, then among networks
// or issuers, and so on. All methods are safe for concurrent use. The zero value is an empty Log.
type Log struct {
	mu   sync.Mutex
	root payer
	last time.Time // of the newest
	seq  uint64
}

// payer is whoever has refusals, with those who are a part of it.
type payer struct {
	name     string
	within   *payer
	count    int       // of all refusals in it
	newest   uint64    // when it got the last one
	kept     []Refusal // that are of none of its parts, oldest first
	parts    map[string]*payer
	mostKept byCount // the same
	index    int     // in within.mostKept
}

// Add keeps a refusal, whose time is at least a nanosecond after that of the one before.
func (l *Log) Add(r Refusal, of []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Time = r.Time.Round(0); !r.Time.After(l.last) {
		r.Time = l.last.Add(1)
	}
	l.last = r.Time
	if l.root.count == MaxKept {
		l.root.removeOldest()
	}
	p := &l.root
	for _, name := range of {
		p = p.part(name)
	}
	p.kept = append(p.kept, r)
	l.seq++
	for ; p != nil; p = p.within {
		p.newest = l.seq
		p.counted(1)
	}
}

// List returns the newest refusals that match, newest first, and whether there are others.
func (l *Log) List(f Filter, limit int) (list []Refusal, more bool) {
	l.mu.Lock()
	l.root.collect(&f, &list)
	l.mu.Unlock()
	slices.SortFunc(list, func(a, b Refusal) int { return b.Time.Compare(a.Time) })
	if len(list) > limit {
		return list[:limit:limit], true
	}
	return list, false
}

func (p *payer) part(name string) *payer {
	part := p.parts[name]
	if part == nil {
		if p.parts == nil {
			p.parts = map[string]*payer{}
		}
		part = &payer{name: name, within: p}
		p.parts[name] = part
		heap.Push(&p.mostKept, part)
	}
	return part
}

// counted changes how many refusals there are in p, and removes it when there are none.
func (p *payer) counted(n int) {
	p.count += n
	switch {
	case p.within == nil:
	case p.count == 0:
		heap.Remove(&p.within.mostKept, p.index)
		delete(p.within.parts, p.name)
	default:
		heap.Fix(&p.within.mostKept, p.index)
	}
}

func (p *payer) removeOldest() {
	for len(p.mostKept) > 0 && p.mostKept[0].count > len(p.kept) {
		p = p.mostKept[0]
	}
	p.kept[0] = Refusal{}
	p.kept = p.kept[1:]
	for within := p; within != nil; within = within.within {
		within.counted(-1)
	}
}

func (p *payer) collect(f *Filter, into *[]Refusal) {
	for i := range p.kept {
		if f.matches(&p.kept[i]) {
			*into = append(*into, p.kept[i])
		}
	}
	for _, part := range p.parts {
		part.collect(f, into)
	}
}

// byCount is a heap: first whoever has most, and of those whoever was refused least recently.
type byCount []*payer

func (h byCount) Len() int { return len(h) }
func (h byCount) Less(i, j int) bool {
	return h[i].count > h[j].count || h[i].count == h[j].count && h[i].newest < h[j].newest
}
func (h byCount) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *byCount) Push(x any) {
	p := x.(*payer)
	p.index = len(*h)
	*h = append(*h, p)
}
func (h *byCount) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}
