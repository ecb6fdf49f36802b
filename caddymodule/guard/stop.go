package guard

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/takeover"
)

// stopper bounds how long a server waits for connections over TCP when it stops. Caddy waits as long
// as grace_period says, and forever if it says nothing: also for a request that has come by half,
// which a client never completes. What handlers of others do is Caddy's to wait for, and so is the
// rest of a body that one of them has left unread, if grace_period says how long. Any other
// connection is closed after [takeover.OwnGrace].
type stopper struct {
	conns   sync.Map // net.Conn to *served: those that are open, and were not taken over by a WebSocket
	began   atomic.Int64
	bounded bool // by grace_period
}

// served is what handlers do for a connection.
type served struct {
	others atomic.Int32 // handlers of other modules that run
	ended  atomic.Int64 // when the last one ended, in Unix nanoseconds
	theirs atomic.Bool  // the last one was of another module, and its request may not be read to its end
}

type servedKey struct{} // in the context of a connection: *served

const sweepEvery = time.Second

// connContext is the hook of an [http.Server] for a new connection.
func (s *stopper) connContext(ctx context.Context, conn net.Conn) context.Context {
	c := new(served)
	s.conns.Store(conn, c)
	return context.WithValue(ctx, servedKey{}, c)
}

// connState is the hook of an [http.Server] for the end of a request, and of a connection.
func (s *stopper) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateHijacked, http.StateClosed:
		s.conns.Delete(conn)
	case http.StateIdle:
		if c, ok := s.conns.Load(conn); ok {
			c.(*served).theirs.Store(false)
		}
	}
}

// shutdown is the hook of an [http.Server] that begins to stop.
func (s *stopper) shutdown() {
	s.began.Store(time.Now().UnixNano())
	time.AfterFunc(sweepEvery, s.sweep)
}

// sweep closes the connections that wait for nobody, and comes again while there are others.
func (s *stopper) sweep() {
	closed, left := 0, 0
	s.conns.Range(func(conn, v any) bool {
		c := v.(*served)
		quiet := time.Since(time.Unix(0, max(s.began.Load(), c.ended.Load())))
		if c.others.Load() > 0 || s.bounded && c.theirs.Load() || quiet < takeover.OwnGrace {
			left++
			return true
		}
		closed++
		takeover.CloseSocket(conn.(net.Conn))
		return true
	})
	if closed > 0 {
		caddy.Log().Named("pubsub.guard").Warn("connections are cut off: their requests did not end while the server stops",
			zap.Int("connections", closed), zap.Duration("waited", takeover.OwnGrace))
	}
	if left > 0 {
		time.AfterFunc(sweepEvery, s.sweep)
	}
}

// serve counts the handlers of a request, which are those of others until [Own] says otherwise.
func serve(r *http.Request) (end func()) {
	c, ok := r.Context().Value(servedKey{}).(*served)
	if !ok {
		return func() {}
	}
	return c.begin()
}

func (c *served) begin() (end func()) {
	c.others.Add(1)
	c.theirs.Store(true)
	return func() {
		c.ended.Store(time.Now().UnixNano())
		c.others.Add(-1)
	}
}

// Own says that one of our handlers serves a request, until done is called: a server that stops does
// not wait for it longer than [takeover.OwnGrace].
func Own(r *http.Request) (done func()) {
	if entry, ok := takeover.EntryOf(r); ok {
		return entry.Own()
	}
	c, ok := r.Context().Value(servedKey{}).(*served)
	if !ok {
		return func() {}
	}
	c.others.Add(-1)
	c.theirs.Store(false)
	return func() { c.others.Add(1) }
}
