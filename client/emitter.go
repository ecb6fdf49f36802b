package client

import "sync"

// maxEvents is how many events may wait for the handler.
const maxEvents = 1024

// emitter calls the handler of events, from one goroutine, which run is.
type emitter struct {
	handler func(Event)

	mu      sync.Mutex
	waiting []Event
	last    bool // no more come
	wake    chan struct{}
}

func newEmitter(handler func(Event)) *emitter {
	return &emitter{handler: handler, wake: make(chan struct{}, 1)}
}

// tell never waits.
func (n *emitter) emit(e Event) {
	n.mu.Lock()
	_, closed := e.(Closed)
	if !n.last && (closed || len(n.waiting) < maxEvents) {
		n.waiting = append(n.waiting, e)
	}
	n.last = n.last || closed
	n.mu.Unlock()
	offer(n.wake)
}

// end ends run, after it has told what waits. There is no Closed for a client that was never there.
func (n *emitter) end() {
	n.mu.Lock()
	n.last = true
	n.mu.Unlock()
	offer(n.wake)
}

// run returns after it has told Closed, or after end.
func (n *emitter) run() {
	for {
		n.mu.Lock()
		events, last := n.waiting, n.last
		n.waiting = nil
		n.mu.Unlock()
		for _, e := range events {
			n.handler(e)
		}
		if last {
			return
		}
		<-n.wake
	}
}
