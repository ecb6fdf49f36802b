package app

import (
	"errors"
	"testing"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
)

// slowConfigurer is a history store that takes its time to be configured.
type slowConfigurer struct {
	guest.HistoryStoreModule
	asked, answer chan struct{}
}

func (c slowConfigurer) ConfigureHistoryStore(history.Store) error {
	close(c.asked)
	<-c.answer
	return errors.New("no disk")
}

// While a store holds up a reload, operators and other edges are still told how the edge is.
func TestInForceDuringReload(t *testing.T) {
	c := slowConfigurer{asked: make(chan struct{}), answer: make(chan struct{})}
	a := &App{histories: histories{module: c}}
	e, failed := new(edge), make(chan error)
	go func() { failed <- e.use(a, pubsub.Limits{}, nil) }()
	<-c.asked
	if !e.mu.TryLock() {
		t.Error("who asks what is in force has to wait for the store")
	} else {
		e.mu.Unlock()
	}
	close(c.answer)
	if err := <-failed; err == nil || e.inForce() != a {
		t.Errorf("the reload ended with %v", err)
	}
}
