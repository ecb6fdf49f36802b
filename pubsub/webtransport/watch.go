package webtransport

import (
	"context"
	"sync"
	"time"
)

const (
	tickEvery      = time.Second   // after streams that are not wanted
	peerCheckEvery = 5 * tickEvery // of a client's address, and of whether it reads
)

// watcher looks after what clients do rarely, if at all: to open a second
// bidirectional stream, to move to another address, and not to read. Goroutines that wait for
// that would cost each session 3 KiB a piece.
type watcher struct {
	mu    sync.Mutex
	conns map[*connection]struct{}
	timer *time.Timer // runs walk as long as there are connections
}

// watched is for all connections of the process: one timer is enough for them.
var watched = watcher{conns: map[*connection]struct{}{}}

// join has a connection looked after, until leave.
func (r *watcher) join(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = struct{}{}
	switch {
	case len(r.conns) > 1:
	case r.timer == nil:
		r.timer = time.AfterFunc(tickEvery, r.checkAll)
	default:
		r.timer.Reset(tickEvery)
	}
}

// leave returns when nobody looks after the connection any more.
func (r *watcher) leave(c *connection) {
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

func (r *watcher) checkAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.check()
	}
	if len(r.conns) > 0 {
		r.timer.Reset(tickEvery)
	}
}

// check waits for nothing. It comes from one goroutine at a time.
func (c *connection) check() {
	if c.opened.Load() && !c.refusesStreams {
		if stream, err := c.AcceptStream(never); err == nil {
			c.refusesStreams = true
			c.goroutines.Go(func() { c.refuseStreams(stream) })
		}
	}
	c.ticks++
	if c.served.Load() && c.ticks%int(peerCheckEvery/tickEvery) == 0 {
		c.session.CheckProgress()
	}
	if c.checksPeer.Load() && c.ticks%int(peerCheckEvery/tickEvery) == 0 {
		c.goroutines.Go(func() {
			defer c.recoverFault()
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
