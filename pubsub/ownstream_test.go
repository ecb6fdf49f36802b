package pubsub

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// streamClient is a client whose transport has streams beside the main one.
type streamClient struct {
	*client
	mu      sync.Mutex
	streams []*testStream
	noMore  bool // the client grants no stream
}

// testStream notes what is written to one stream.
type testStream struct {
	inner   *client // decodes, and can block
	mu      sync.Mutex
	ended   bool
	stopped bool // the client stopped reading
}

func (c *streamClient) OpenStream() (Stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noMore {
		return nil, errors.New("no credit")
	}
	s := &testStream{inner: c.rig.newClient(nil)}
	c.streams = append(c.streams, s)
	return s, nil
}

func (c *streamClient) Abort() {
	c.client.Abort()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		s.inner.Abort()
	}
}

func (s *testStream) Write(msgs []Outgoing) error {
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return errors.New("stopped")
	}
	return s.inner.Write(msgs)
}

func (s *testStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return nil
}

func (s *testStream) isEnded() bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (r *rig) connectStreams(token string) (c *streamClient) {
	r.Helper()
	from := Client{Transport: "test", Listener: "port"}
	_, err := r.attach(Identity{TokenID: token}, from, func(inner *client) Transport {
		c = &streamClient{client: inner}
		return c
	})
	must(r, err)
	return c
}

// stream sends lines as a unidirectional stream does.
func (c *streamClient) stream(lines ...string) {
	c.rig.Helper()
	for _, l := range lines {
		if !c.Ready(time.Hour) {
			c.rig.Fatal("the session has ended")
		}
		c.HandleStreamLine([]byte(l))
	}
}

// own returns the n-th stream that the edge opened.
func (c *streamClient) own(n int) *testStream {
	c.rig.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if n >= len(c.streams) {
		c.rig.Fatalf("%d streams were opened, want %d", len(c.streams), n+1)
	}
	return c.streams[n]
}

func TestOwnStream(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.connectStreams("s"), r.connect("p")
		c.stream("SUB:U::a.*", "SUB:D::*.b")
		c.answer("SUB::a.b", "OK:SUB:~:*.b", "OK:SUB:~:a.b")
		p.publish("~", "a.b", "1")
		p.publish("~", "a.c", "2")
		c.own(0).inner.expect("OK:SUB:~:a.*", "~/a.b=1 [a.*]", "~/a.c=2 [a.*]")
		c.expect("~/a.b=1 [*.b a.b]")

		c.stream("SUB:U:~:a.*") // changes nothing
		c.expect("OK:SUB:~:a.*")
		c.send("UNSUB::a.*") // not that one
		c.expect("OK:UNSUB:~:a.*")
		p.publish("~", "a.d", "3")
		c.own(0).inner.expect("~/a.d=3 [a.*]")

		c.stream("UNSUB:U::a.*", "UNSUB:D::*.b", "UNSUB:U::x")
		c.expect("OK:UNSUB:~:a.*", "OK:UNSUB:~:*.b", "OK:UNSUB:~:x")
		p.publish("~", "a.b", "4")
		c.expect("~/a.b=4 [a.b]")
		if c.own(0).inner.expect(); !c.own(0).isEnded() {
			t.Error("the stream of an ended subscription is open")
		}
	})
}

func TestStreamLinesAreCheckedLikeOthers(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connectStreams("s")
		c.stream("SUB::a", "PING", "", "SUB:U:bad name:a", "SUB:U::a..b", "SUB:U::no", "SUB:X::a")
		c.expect("ERR:bad_request", "ERR:bad_request", "ERR:bad_request", "ERR:bad_tenant", "ERR:bad_pattern",
			"ERR:permission_denied:SUB:~:no", "ERR:bad_request")
		for range MaxBroken - 1 {
			c.stream("SUB::a")
		}
		c.expectClose(wire.ClosePolicy)
	})
}

func TestOwnStreamsAreLimited(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connectStreams("s")
		for i := range MaxOwnStreams {
			c.stream(fmt.Sprintf("SUB:U::s%d", i))
		}
		c.expect()
		c.stream("SUB:U::more", "SUB:D::more")
		c.expect("ERR:too_many_subscriptions:SUB:~:more", "OK:SUB:~:more")

		release := c.own(0).inner.block()
		p := r.connect("p")
		p.publish("~", "s0", "x")
		c.stream("UNSUB:U::s0")
		c.expect("OK:UNSUB:~:s0")
		c.stream("SUB:U::more") // the other stream has not ended yet
		c.expect("ERR:too_many_subscriptions:SUB:~:more")
		release()
		c.own(0).inner.expect("OK:SUB:~:s0", "~/s0=x [s0]")
		c.stream("SUB:U::more")
		c.own(MaxOwnStreams).inner.expect("OK:SUB:~:more")

		c.stream("UNSUB:U::s1")
		c.expect("OK:UNSUB:~:s1")
		c.mu.Lock()
		c.noMore = true
		c.mu.Unlock()
		c.stream("SUB:U::other")
		c.expect("ERR:too_many_subscriptions:SUB:~:other")
	})
}

// A client that reads its main stream, but not its own one, is notified of its
// losses, once a second at most.
func TestNoticesAreNotAFlood(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.SendQueue = 4000 }), func(r *rig) {
		c, p := r.connectStreams("s"), r.connect("p")
		c.stream("SUB:U::u")
		c.own(0).inner.take()
		release := c.own(0).inner.block()
		defer release()
		for range 100 {
			p.publish("~", "u", strings.Repeat("u", 900))
			synctest.Wait()
		}
		c.expect("ERR:slow_consumer:1")
		c.after(slowNoticeEvery, fmt.Sprintf("ERR:slow_consumer:%d", c.droppedTotal.Load()-1))
		time.Sleep(10 * slowNoticeEvery)
		c.expect()
	})
}

// What a stream still holds is written before the edge closes, but a stream that
// nobody reads does not hold up the close for long.
func TestOwnStreamsAtTheEnd(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, stuck, p := r.connectStreams("s"), r.connectStreams("t"), r.connect("p")
		for _, sub := range []*streamClient{c, stuck} {
			sub.stream("SUB:U::u")
			sub.own(0).inner.take()
		}
		release := c.own(0).inner.block()
		stuck.own(0).inner.block()
		p.publish("~", "u", "1")
		p.publish("~", "u", "2")
		synctest.Wait()
		r.hub.Drain()
		time.Sleep(r.hub.limits.Load().Drain)
		synctest.Wait()
		c.ends(0, "RECONNECT")
		release()
		c.own(0).inner.expect("~/u=1 [u]", "~/u=2 [u]")
		c.expectClose(wire.CloseGoingAway)
		stuck.expectClose(0)
		time.Sleep(closeGrace)
		synctest.Wait()
		<-stuck.finished
	})
}

// A client that stops reading a stream of its own loses that subscription's
// messages alone.
func TestStoppedStream(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.connectStreams("s"), r.connect("p")
		c.stream("SUB:U::u", "SUB:D::u")
		s := c.own(0)
		s.inner.take()
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		p.publish("~", "u", "1")
		synctest.Wait()
		p.publishAs(wire.OneNearest, "~", "u", "2")
		c.expect("OK:SUB:~:u", "~/u=1 [u]", "~/u=2 [u]")
		c.stream("UNSUB:D::u")
		c.expect("OK:UNSUB:~:u")
		p.publishAs(wire.OneNearest, "~", "u", "3")
		c.stream("UNSUB:U::u", "SUB:U::u")
		c.expect("OK:UNSUB:~:u")
		c.own(1).inner.expect("OK:SUB:~:u")
		equal(t, "lanes", len(c.queue.ownLanes), 1)
	})
}

// A deliver-one message goes to one connection, whatever streams it has.
func TestDeliverOneWithOwnStreams(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, d, p := r.connectStreams("c"), r.connectStreams("d"), r.connect("p")
		for _, sub := range []*streamClient{c, d} {
			sub.stream("SUB:U::u", "SUB:U::*")
			sub.own(0).inner.take()
			sub.own(1).inner.take()
		}
		const n = 200
		for range n {
			p.publishAs(wire.OneNearest, "~", "u", "x")
		}
		total := 0
		for _, sub := range []*streamClient{c, d} {
			first, second := len(sub.own(0).inner.take()), len(sub.own(1).inner.take())
			if first != second || first == 0 {
				t.Errorf("%d messages on one stream, %d on the other", first, second)
			}
			total += first
		}
		equal(t, "messages that arrived", total, n)
	})
}

func TestForbid(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, faulty := r.connect("s"), r.connect("f")
		c.Forbid("ip")
		c.ends(wire.CloseForbidden, "ERR:forbidden:ip")
		code, reason := c.CloseStatus()
		equal(t, "code", code, wire.CloseForbidden)
		equal(t, "reason", reason, "forbidden:ip")
		faulty.CloseInternal()
		faulty.ends(wire.CloseInternal, "ERR:internal")
	})
}
