package webtransport

import (
	"context"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

const (
	tickEvery      = time.Second   // how often each connection is checked for streams that are not wanted
	peerCheckEvery = 5 * tickEvery // and for the client's address, and whether it reads
)

// connWatcher checks the connections of a hub for what clients do rarely, if at all: that
// they open a second bidirectional stream, move to another address, or do not read.
// Goroutines that wait for it would cost each session 3 KiB a piece.
type connWatcher struct {
	mu    sync.Mutex
	conns map[*connection]struct{}
	timer *time.Timer // runs checkAll as long as there are connections
}

// watchers has those of the hubs that have connections. A hub has a timer of its own, since
// tests give each hub its own clock.
var watchers = struct {
	sync.Mutex // taken before those of the watchers
	of         map[*pubsub.Hub]*connWatcher
}{of: map[*pubsub.Hub]*connWatcher{}}

// watch has a connection checked, until unwatch.
func (c *connection) watch() {
	watchers.Lock()
	defer watchers.Unlock()
	w := watchers.of[c.hub]
	if w == nil {
		w = &connWatcher{conns: map[*connection]struct{}{}}
		watchers.of[c.hub] = w
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = struct{}{}
	if w.timer == nil {
		w.timer = time.AfterFunc(tickEvery, w.checkAll)
	}
}

// unwatch returns when the connection is not checked any more.
func (c *connection) unwatch() {
	watchers.Lock()
	defer watchers.Unlock()
	w := watchers.of[c.hub]
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	if len(w.conns) == 0 {
		w.timer.Stop()
		delete(watchers.of, c.hub)
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
