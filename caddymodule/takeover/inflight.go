package takeover

import "sync"

// inflight counts what is in flight: connections, or requests. A WaitGroup would not do: here the count may
// rise from zero while somebody waits.
type inflight struct {
	mu      sync.Mutex
	n       int
	waiting []chan struct{} // closed when n reaches zero
}

func (f *inflight) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
}

func (f *inflight) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n--
	if f.n > 0 {
		return
	}
	for _, c := range f.waiting {
		close(c)
	}
	f.waiting = nil
}

// idle returns a channel that is closed once the count has been zero.
func (f *inflight) idle() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{})
	if f.n == 0 {
		close(c)
	} else {
		f.waiting = append(f.waiting, c)
	}
	return c
}

func (f *inflight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
