package webtransport

import (
	"context"
	"sync"
	"time"
)

const (
	lookEvery  = time.Second   // after streams that are not wanted
	checkEvery = 5 * lookEvery // of a client's address, and of whether it reads
)

// rounds looks after what clients do rarely, if at all: to open a second
// bidirectional stream, to move to another address, and not to read. Goroutines that wait for
// that would cost each session 3 KiB a piece.
type rounds struct {
	mu    sync.Mutex
	conns map[*connection]struct{}
	timer *time.Timer // runs walk as long as there are connections
}

// watch is for all connections of the process: one timer is enough for them.
var watch = rounds{conns: map[*connection]struct{}{}}

// join has a connection looked after, until leave.
func (r *rounds) join(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = struct{}{}
	switch {
	case len(r.conns) > 1:
	case r.timer == nil:
		r.timer = time.AfterFunc(lookEvery, r.walk)
	default:
		r.timer.Reset(lookEvery)
	}
}

// leave returns when nobody looks after the connection any more.
func (r *rounds) leave(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, joined := r.conns[c]; !joined {
		return
	}
	delete(r.conns, c)
	if len(r.conns) == 0 {
		r.timer.Stop()
	}
}

func (r *rounds) walk() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.lookAfter()
	}
	if len(r.conns) > 0 {
		r.timer.Reset(lookEvery)
	}
}

// lookAfter waits for nothing. It comes from one goroutine at a time.
func (c *connection) lookAfter() {
	if c.opened.Load() && !c.refusing {
		if stream, err := c.AcceptStream(never); err == nil {
			c.refusing = true
			c.others.Go(func() { c.refuseStreams(stream) })
		}
	}
	c.looks++
	if c.served.Load() && c.looks%int(checkEvery/lookEvery) == 0 {
		c.session.CheckProgress()
	}
	if c.masked.Load() && c.looks%int(checkEvery/lookEvery) == 0 {
		c.others.Go(func() {
			defer c.recover()
			c.checkPeer()
		})
	}
}

// never is the context of those who do not want to wait.
var never = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
