package webtransport

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestMessages(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.subscriber("#")
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
		run(t, name, setup{}, func(t *testing.T, e *edge) {
			p := e.subscriber("a")
			if c.bytes != nil {
				p.main.write(c.bytes)
			} else {
				p.uni().write([]byte("SUB:D:t:\xff\n"))
			}
			p.expect(append(c.lines, "FIN")...)
			p.expectEnd(c.code)
		})
	}
	run(t, "16 in a row, on all streams together", setup{}, func(t *testing.T, e *edge) {
		p := e.connect("/serve")
		for range pubsub.MaxBroken / 2 {
			p.send("nonsense")
			p.expect("ERR:bad_request")
		}
		p.uni().write([]byte(strings.Repeat("nonsense\n", pubsub.MaxBroken/2)))
		for range pubsub.MaxBroken / 2 {
			p.expect("ERR:bad_request")
		}
		p.ends(wire.ClosePolicy)
	})
}

func TestClientFinishes(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		c.send("PING")
		c.main.finish()
		c.ends(wire.CloseNormal, "PONG")

		c = e.connect("/serve") // in the middle of a message
		c.main.write([]byte{0, 0, 0, 5, 'P'})
		c.main.finish()
		c.ends(wire.CloseNormal)

		c = e.subscriber("a") // or with a reset
		c.main.writer.CancelWrite(7)
		c.ends(wire.CloseNormal)

		c = e.subscriber("a") // or by not reading any more
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
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		_ = c.CloseWithError(42, "bye")
		e.gone()

		c = e.subscriber("a") // with its connection
		_ = c.conn.CloseWithError(noError, "")
		e.gone()

		c = e.dial("/serve") // before it opened a stream
		_ = c.CloseWithError(42, "bye")
		e.gone()

		e = newEdge(t, setup{quic: func(c *quic.Config) { c.MaxIdleTimeout = time.Second }})
		c = e.subscriber("a") // without a word
		c.socket.Close()
		e.gone()
	})
}

// A client that goes away while the edge does not read from it is noticed.
func TestClientLeavesWhileItWaits(t *testing.T) {
	for name, set := range map[string]func(*pubsub.Limits){
		"tenant's cap": func(l *pubsub.Limits) { l.TenantIngressKB = 1 },
		"its own cap":  func(l *pubsub.Limits) { l.DefaultIngressKB = 1 },
	} {
		run(t, name, setup{limits: set}, func(t *testing.T, e *edge) {
			c := e.connect("/serve")
			large := publish("a", make([]byte, 60<<10)) // a minute's worth
			c.send(large)
			time.Sleep(time.Second)
			c.send(publish("a", nil))
			_ = c.conn.CloseWithError(noError, "")
			e.gone()
			if n := e.hub.Metrics().MessagesIn; n != 1 {
				t.Errorf("%d publishes were accepted, want 1", n)
			}
		})
	}
}

func TestRevoked(t *testing.T) {
	inBubble(t, setup{limits: func(l *pubsub.Limits) { l.SendQueue = 32 << 20 }}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		e.hub.TokenRevoked("a")
		c.ends(wire.CloseForbidden, "ERR:token_revoked")

		c = e.dial("/serve") // a client without a stream cannot be told
		e.hub.TokenRevoked("a")
		c.expectEnd(wire.CloseForbidden)

		// A main stream that nobody reads does not hold up the code.
		c = e.subscriber("a")
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

// A client that does not read holds up no other, and gets what waited once it does, in order,
// however messages are cut into writes.
func TestStuckReader(t *testing.T) {
	inBubble(t, setup{quic: smallWindows}, func(t *testing.T, e *edge) {
		c, other := e.subscriber("#"), e.subscriber("#")
		sizes := []int{10, tryBytes, 200, 1400, 10, 10, 3 * tryBytes, 1000}
		for range 20 {
			sent, bytes := 0, 0
			for stuck := false; !stuck; sent++ { // each with a write of its own, as long as there is room
				n := sizes[sent%len(sizes)]
				bytes += n
				e.publish("a", n)
				other.expect(fmt.Sprintf("deliver a %d [#]", n))
				time.Sleep(100 * tryTimeout)
				for _, s := range e.hub.Stats() {
					stuck = stuck || s.QueuedBytes > 0
				}
			}
			if bytes < 8<<10 {
				t.Errorf("stuck after %d bytes, with windows of 16 KiB", bytes)
			}
			for i := range sent {
				c.expect(fmt.Sprintf("deliver a %d [#]", sizes[i%len(sizes)]))
			}
		}
	})
}

// A stream that is reset costs as much as a message.
func TestRefusedStreamsCost(t *testing.T) {
	inBubble(t, setup{
		limits: func(l *pubsub.Limits) { l.DefaultIngressKB = 1 },
		quic:   func(c *quic.Config) { c.MaxIncomingStreams = 20 },
	}, func(t *testing.T, e *edge) {
		c, start := e.subscriber("a"), time.Now()
		for range 400 { // 12.5 KiB by count; the bucket holds 1
			s := c.stream()
			s.poke([]byte{0})
			_ = s.writer.Close()
		}
		if took := time.Since(start); took < 10*time.Second || took > 13*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
