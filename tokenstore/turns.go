package tokenstore

import (
	"context"
	"sync"
)

// turns bounds what each master token does at a time: calls beyond that wait in a line of its
// own, so that it delays nobody but itself. The zero value is ready.
type turns struct {
	mu      sync.Mutex
	masters map[string]*turn // by id, those that have calls
}

type turn struct {
	calls int           // under way and waiting; guarded by turns.mu
	slots chan struct{} // has one element for each call under way
}

// take waits until less than most calls of a master token are under way; leave must follow.
func (t *turns) take(ctx context.Context, master string, most int) (leave func(), err error) {
	t.mu.Lock()
	own := t.masters[master]
	if own == nil {
		if t.masters == nil {
			t.masters = map[string]*turn{}
		}
		own = &turn{slots: make(chan struct{}, most)}
		t.masters[master] = own
	}
	own.calls++
	t.mu.Unlock()
	end := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.calls--; own.calls == 0 {
			delete(t.masters, master)
		}
	}
	select {
	case own.slots <- struct{}{}:
		return func() { <-own.slots; end() }, nil
	case <-ctx.Done():
		end()
		return nil, context.Cause(ctx)
	}
}
