package webtransport

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{})
		c := e.connect("/serve")
		c.subscribe("#")
		c.send("PING", "SUB:t:a\r\n")
		c.expect("PONG", "OK:SUB:t:a")
		for _, n := range []int{0, 1, 100, 507, 508, 509, 1 << 16, 5, 1<<16 - 9, 1 << 14, 0} {
			c.send(publish("x", make([]byte, n)))
			c.expect(fmt.Sprintf("deliver x %d [#]", n))
		}
		c.send(publish("x", make([]byte, 64<<10+1))) // the largest that does not close
		c.expect("ERR:payload_too_large:PUB:t:x")
		c.send("nonsense", "", "\x01nonsense", " \x00", "AUTH:good")
		c.expect("ERR:bad_request", "ERR:bad_request", "ERR:bad_frame", "ERR:bad_request", "ERR:bad_request")
		c.send("UNSUB:t:#")
		c.expect("OK:UNSUB:t:#")
	})
}

func TestBreachesClose(t *testing.T) {
	length := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	const limit = 64<<10 + pubsub.ReadOverhead
	for name, c := range map[string]struct {
		bytes []byte
		lines []string
		code  wire.CloseCode
	}{
		"not UTF-8":           {bytes: wire.AppendMessage(nil, []byte("SUB:t:\xff")), code: wire.CloseInvalidUTF8},
		"too big":             {bytes: length(limit + 1), code: wire.CloseTooBig}, // and nothing follows
		"4 GiB":               {bytes: length(1<<32 - 1), code: wire.CloseTooBig},
		"too big after PING":  {bytes: append(wire.AppendMessage(nil, []byte("PING")), length(limit+1)...), lines: []string{"PONG"}, code: wire.CloseTooBig},
		"a stream's bad line": {code: wire.CloseInvalidUTF8},
	} {
		run(t, name, func(t *testing.T) {
			e := newEdge(t, setup{})
			p := e.connect("/serve")
			p.subscribe("a")
			if c.bytes != nil {
				p.main.write(c.bytes)
			} else {
				p.uni().write([]byte("SUB:D:t:\xff\n"))
			}
			p.expect(append(c.lines, "FIN")...)
			p.expectEnd(c.code)
		})
	}
	run(t, "16 in a row, on all streams together", func(t *testing.T) {
		e := newEdge(t, setup{})
		p := e.connect("/serve")
		for range pubsub.MaxBroken / 2 {
			p.send("nonsense")
			p.expect("ERR:bad_request")
		}
		p.uni().write([]byte(strings.Repeat("nonsense\n", pubsub.MaxBroken/2)))
		for range pubsub.MaxBroken / 2 {
			p.expect("ERR:bad_request")
		}
		p.expect("FIN")
		p.expectEnd(wire.ClosePolicy)
	})
}

func TestClientFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{})
		c := e.connect("/serve")
		c.send("PING")
		c.main.finish()
		c.expect("PONG", "FIN")
		c.expectEnd(wire.CloseNormal)

		c = e.connect("/serve") // in the middle of a message
		c.main.write([]byte{0, 0, 0, 5, 'P'})
		c.main.finish()
		c.expect("FIN")
		c.expectEnd(wire.CloseNormal)

		c = e.connect("/serve") // or with a reset
		c.subscribe("a")
		c.main.writer.CancelWrite(7)
		c.expect("FIN")
		c.expectEnd(wire.CloseNormal)

		c = e.connect("/serve") // or by not reading any more
		c.subscribe("a")
		c.main.reader.CancelRead(7)
		for end := time.Now().Add(eventTimeout); c.Context().Err() == nil && time.Now().Before(end); { // the edge notices with what it writes
			e.publish("a", 1)
			time.Sleep(time.Millisecond)
		}
		c.expectEnd(wire.CloseNormal)
	})
}

// gone waits until the hub has no session any more, in virtual time: for less than a cap
// holds one back. It has to end without being told to: a drained one would get RECONNECT
// and 10 s more.
func (e *edge) gone() {
	e.Helper()
	for end := time.Now().Add(20 * time.Second); len(e.hub.Stats()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			e.Fatal("a session has not ended")
		}
	}
}

func TestClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{})
		c := e.connect("/serve")
		c.subscribe("a")
		_ = c.CloseWithError(42, "bye")
		e.gone()

		c = e.connect("/serve") // with its connection
		c.subscribe("a")
		_ = c.conn.CloseWithError(noError, "")
		e.gone()

		c = e.dial("/serve") // before it opened a stream
		_ = c.CloseWithError(42, "bye")
		e.gone()

		e = newEdge(t, setup{quic: func(c *quic.Config) { c.MaxIdleTimeout = time.Second }})
		c = e.connect("/serve") // without a word
		c.subscribe("a")
		c.socket.Close()
		e.gone()
	})
}

func TestRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{limits: func(l *pubsub.Limits) { l.SendQueue = 32 << 20 }})
		c := e.connect("/serve")
		c.subscribe("a")
		e.hub.TokenRevoked("a")
		c.expect("ERR:token_revoked", "FIN")
		c.expectEnd(wire.CloseForbidden)

		c = e.dial("/serve") // a client without a stream cannot be told
		e.hub.TokenRevoked("a")
		c.expectEnd(wire.CloseForbidden)

		// A main stream that nobody reads does not hold up the code.
		c = e.connect("/serve")
		c.subscribe("a")
		for range backlog / (64 << 10) {
			e.publish("a", 64<<10)
		}
		c.blocked(streamWindow)
		start := time.Now()
		e.hub.TokenRevoked("a")
		c.expectEnd(wire.CloseForbidden)
		if took := time.Since(start); took < 2*time.Second {
			t.Errorf("took %v: the stream was not blocked", took)
		}
	})
}

// What was queued before the end of a drain arrives, then the code.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{limits: func(l *pubsub.Limits) { l.Drain = pubsub.MinDrain }})
		c, mute := e.connect("/serve"), e.dial("/serve")
		c.subscribe("a")
		gone := e.hub.DrainListener("here")
		c.expect("RECONNECT")
		c.send("SUB:t:b") // all works as before
		c.expect("OK:SUB:t:b")
		c.expect("FIN")
		c.expectEnd(wire.CloseGoingAway)
		mute.expectEnd(wire.CloseGoingAway)
		<-gone
	})
}

func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{})
		c := e.connect("/serve")
		c.subscribe("#")
		for range 1000 {
			e.publish("a", 200)
		}
		for range 1000 {
			c.expect("deliver a 200 [#]")
		}
	})
}

// Whatever a client reads when, and however messages are cut into writes, all of
// them come, in order.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{quic: func(c *quic.Config) {
			c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 16<<10, 16<<10
		}})
		c := e.connect("/serve")
		c.subscribe("#")
		sizes := []int{10, tryBytes, 200, 1400, 10, 10, 3 * tryBytes, 1000}
		for round := range 20 {
			for _, n := range sizes {
				e.publish("a", n)
				if round%2 == 0 { // each for itself
					c.expect(fmt.Sprintf("deliver a %d [#]", n))
				}
			}
			if round%2 == 1 {
				for _, n := range sizes {
					c.expect(fmt.Sprintf("deliver a %d [#]", n))
				}
			}
		}
	})
}

// A client that does not read holds up no other, and gets what waited once it
// does.
func TestStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{quic: func(c *quic.Config) {
			c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 16<<10, 16<<10
		}})
		c, other := e.connect("/serve"), e.connect("/serve")
		c.subscribe("#")
		other.subscribe("#")
		queued := func() (n int) {
			for _, s := range e.hub.Stats() {
				n += s.QueuedBytes
			}
			return n
		}
		sent := 0
		for stuck := false; !stuck; sent++ { // each with a write of its own, as long as there is room
			e.publish("a", 1000)
			other.expect("deliver a 1000 [#]")
			time.Sleep(100 * tryTimeout)
			stuck = queued() > 0
		}
		if sent < 16 {
			t.Errorf("stuck after %d messages, with room for 16", sent)
		}
		for range sent {
			c.expect("deliver a 1000 [#]")
		}
		e.publish("a", 1)
		c.expect("deliver a 1 [#]")
	})
}

// The streams of a client have one cap. What one sends, the others wait for.
func TestOneCap(t *testing.T) {
	t.Parallel()
	e := newEdge(t, setup{limits: func(l *pubsub.Limits) { l.DefaultIngressKB = 2 }})
	c := e.connect("/serve")
	c.subscribe("first")
	start := time.Now()
	for i := range 3 { // about 1.5 KiB on each, by count
		var text strings.Builder
		for j := range 24 {
			fmt.Fprintf(&text, "SUB:D:t:s%d.n%d.%s\n", i, j, strings.Repeat("x", 20))
		}
		c.lines(text.String())
	}
	c.send("SUB:t:" + strings.Repeat("y", 128))
	for range 3*24 + 1 {
		if got := c.main.read(); !strings.HasPrefix(got, "OK:SUB:t:") {
			t.Fatalf("got %q", got)
		}
	}
	// Each by itself would be within the second's worth that is free; together
	// they are more than twice that, and can overdraw it by a read of each.
	if took := time.Since(start); took < 500*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// A stream that is reset costs as much as a message.
func TestRefusedStreamsCost(t *testing.T) {
	t.Parallel()
	e := newEdge(t, setup{
		limits: func(l *pubsub.Limits) { l.DefaultIngressKB = 1 },
		quic:   func(c *quic.Config) { c.MaxIncomingStreams = 20 },
	})
	c := e.connect("/serve")
	c.subscribe("a")
	start := time.Now()
	for range 88 { // 2.75 KiB by count, of which the bucket holds 1 and the credit for streams another
		s := c.stream()
		s.poke([]byte{0})
		_ = s.writer.Close()
	}
	if took := time.Since(start); took < time.Second/2 {
		t.Errorf("took %v", took)
	}
}
