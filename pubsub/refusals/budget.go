package refusals

import (
	"strings"
	"sync"
	"time"
)

// Budget bounds how many refusals of a second are written down. Strangers, and those with a token,
// have Max each; of that a part of them, such as a network, has half at most, and so on. Safe for
// concurrent use.
type Budget struct {
	Max int // at least 1

	mu      sync.Mutex
	second  time.Time // that is counted
	taken   map[string]int
	omitted uint64
}

// Take reports whether one more may be written down for a payer, and how many were not since Take
// has reported it last, which it does once a second.
func (b *Budget) Take(now time.Time, of []string) (ok bool, omitted uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if second := now.Truncate(time.Second); !second.Equal(b.second) || b.taken == nil {
		omitted, b.omitted = b.omitted, 0
		b.second, b.taken = second, map[string]int{}
	}
	limit := b.Max
	for i := range of {
		if b.taken[join(of[:i+1])] >= limit {
			b.omitted++
			return false, omitted
		}
		limit = max(1, limit/2)
	}
	for i := range of { // so there are at most twice Max for each level
		b.taken[join(of[:i+1])]++
	}
	return true, omitted
}

// Omitted returns how many were not written down, and clears that count.
func (b *Budget) Omitted() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	omitted := b.omitted
	b.omitted = 0
	return omitted
}

func join(names []string) string { return strings.Join(names, "\x00") } // which no name has
