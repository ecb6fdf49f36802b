package webtransport

import (
	"context"
	"sync"
	"time"
)

const (
	tickEvery      = time.Second   // how often each connection is checked for streams that are not wanted
	peerCheckEvery = 5 * tickEvery // and for the client's address, and whether it reads
)

// connWatcher checks for what clients do rarely, if at all: that they open a second
// bidirectional stream, move to another address, or do not read. Goroutines that wait
// for it would cost each session 3 KiB a piece.
type connWatcher struct {
	mu    sync.Mutex
	conns map[*connection]struct{}
	timer *time.Timer // runs checkAll as long as there are connections
}

// watcher watches all connections of the process: one timer is enough for them.
var watcher = connWatcher{conns: map[*connection]struct{}{}}

// add has a connection checked, until remove.
func (w *connWatcher) add(c *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = struct{}{}
	switch {
	case len(w.conns) > 1:
	case w.timer == nil:
		w.timer = time.AfterFunc(tickEvery, w.checkAll)
	default:
		w.timer.Reset(tickEvery)
	}
}

// remove returns when the connection is not checked any more.
func (w *connWatcher) remove(c *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, joined := w.conns[c]; !joined {
		return
	}
	delete(w.conns, c)
	if len(w.conns) == 0 {
		w.timer.Stop()
	}
}

func (w *connWatcher) checkAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.check()
	}
	if len(w.conns) > 0 {
		w.timer.Reset(tickEvery)
	}
}

// check never waits. It is called by one goroutine at a time.
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

// never is a context that is done: with it, accepting a stream does not wait.
var never = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
