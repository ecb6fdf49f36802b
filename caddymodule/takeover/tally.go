package takeover

import "sync"

// tally counts what is under way. A WaitGroup would not do: here the count may
// rise from zero while somebody waits.
type tally struct {
	mu   sync.Mutex
	n    int
	none []chan struct{} // closed when n gets zero
}

func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n > 0 {
		return
	}
	for _, c := range t.none {
		close(c)
	}
	t.none = nil
}

// idle returns a channel that is closed once the count has been zero.
func (t *tally) idle() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan struct{})
	if t.n == 0 {
		close(c)
	} else {
		t.none = append(t.none, c)
	}
	return c
}

func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}
