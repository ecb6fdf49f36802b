// Package turns divides what few can do at a time among many callers.
package turns

import (
	"context"
	"sync"
)

// Turns bounds what each caller does at a time: what it begins beyond that waits in a line of its own, so
// that it delays nobody but itself. All methods may be called concurrently. The zero value is ready.
type Turns struct {
	mu      sync.Mutex
	callers map[string]*turn // those that have calls
}

type turn struct {
	calls int           // under way and waiting; guarded by Turns.mu
	slots chan struct{} // has one element for each call under way
}

// Take waits until less than most calls of a caller are under way, for which it always passes the same
// number; leave must follow. The error is the cause why ctx has ended.
func (t *Turns) Take(ctx context.Context, caller string, most int) (leave func(), err error) {
	t.mu.Lock()
	own := t.callers[caller]
	if own == nil {
		if t.callers == nil {
			t.callers = map[string]*turn{}
		}
		own = &turn{slots: make(chan struct{}, most)}
		t.callers[caller] = own
	}
	own.calls++
	t.mu.Unlock()
	end := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.calls--; own.calls == 0 {
			delete(t.callers, caller)
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
