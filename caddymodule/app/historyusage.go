package app

import (
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// usageTimeout bounds how long the metrics wait for what a shared store keeps.
const usageTimeout = time.Second

// sharedHistory is a store of histories that configurations share.
type sharedHistory struct {
	history.Store

	calls  sync.WaitGroup // of Usage, where the store is one of several edges
	mu     sync.Mutex     // guards the rest
	asking *usageCall     // under way; nil: none
	closed bool
}

// usageCall is a call of Usage for all who want to know at the same time.
type usageCall struct {
	done chan struct{} // closed when the rest is set
	list []history.Usage
	err  error
}

// usage returns what the store keeps; false: it does not say so in time. A store of
// several edges may wait for a network, where who reads metrics must not.
func (s *sharedHistory) usage() ([]history.Usage, bool) {
	if _, shared := s.Store.(history.Shared); !shared {
		list, err := s.Usage()
		return list, err == nil
	}
	call := s.ask()
	if call == nil {
		return nil, false
	}
	select {
	case <-call.done:
		return call.list, call.err == nil
	case <-time.After(usageTimeout):
		return nil, false
	}
}

// ask begins a call, or joins the one under way; nil: the store is closed.
func (s *sharedHistory) ask() *usageCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking != nil || s.closed {
		return s.asking
	}
	call := &usageCall{done: make(chan struct{})}
	s.asking = call
	s.calls.Go(func() { // ends with the call, which Destruct ends by closing the store
		call.list, call.err = s.Usage()
		s.mu.Lock()
		s.asking = nil
		s.mu.Unlock()
		close(call.done)
	})
	return call
}

// Destruct implements [caddy.Destructor].
func (s *sharedHistory) Destruct() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.Close()
	s.calls.Wait()
	return err
}
