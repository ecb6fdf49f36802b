package webtransport

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// However many streams a client opens, the session goes on.
func TestManyStreamsAreReset(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
		defer cancel()
		const n = 10_000
		for i := range n {
			s, err := c.OpenStreamSync(ctx)
			if err != nil {
				t.Fatalf("stream %d: %v", i, err)
			}
			_, _ = s.Write([]byte{0}) // fails once it is reset
			_ = s.Close()
			if i%1000 == 0 {
				c.send("PING")
				c.expect("PONG")
			}
		}
		c.subscribe("b")
	})
}

func TestLines(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		c.send("PING") // makes the main stream known
		c.expect("PONG")

		u := c.uni()
		u.write([]byte("SUB:D:t:a\nSUB:D:t:b\r\nSUB:D::c\nUNSUB:D:t:b\n"))
		c.expect("OK:SUB:t:a", "OK:SUB:t:b", "OK:SUB:~:c", "OK:UNSUB:t:b")
		for _, b := range []byte("SUB:D:t:bytewise\r\n") {
			u.write([]byte{b})
		}
		c.expect("OK:SUB:t:bytewise")
		u.write([]byte("SUB:t:a\nPING\n\nSUB:X:t:a\nAUTH:good\nSUB:D:U:a\n"))
		c.expect("ERR:bad_request", "ERR:bad_request", "ERR:bad_request", "ERR:bad_request", "ERR:bad_request", "OK:SUB:U:a")

		// A line that is too long is one broken line, whatever its length, and
		// wherever a character of its is cut.
		for _, fill := range []string{"x", "é", "€", "x€"} {
			u.write([]byte("SUB:D:t:" + strings.Repeat(fill, 40*wire.MaxLine) + "\nSUB:D:t:after\n"))
			c.expect("ERR:bad_request", "OK:SUB:t:after")
		}
		u.write([]byte("SUB:D:t:" + strings.Repeat("x", wire.MaxLine-len("SUB:D:t:")) + "\r\n")) // the longest invalid one
		c.expect("ERR:bad_pattern")
		u.finish()

		u = c.uni()
		u.write([]byte("SUB:D:t:d\nSUB:D:t:cut"))
		c.expect("OK:SUB:t:d")
		u.write([]byte(" off"))
		u.finish()
		c.expect("ERR:bad_request")
		c.lines(strings.Repeat("x", 5000))
		c.expect("ERR:bad_request")
		c.lines("SUB:D:t:cut off \xff") // is nothing that could be judged
		c.expect("ERR:bad_request")
		c.lines("")

		u = c.uni() // a reset is no end
		u.write([]byte("SUB:D:t:e\nSUB:D:t:reset"))
		c.expect("OK:SUB:t:e")
		u.writer.CancelWrite(1)
		c.subscribe("f")
		for range 3 { // nor does it count as anything
			u = c.uni()
			u.writer.CancelWrite(1)
		}
		c.subscribe("g")
	})
}

// Each line of a burst of streams is handled, although the edge reads 16 of them
// at the same time.
func TestManyLineStreams(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		const n = 300
		var want, got []string
		for i := range n {
			c.lines(fmt.Sprintf("SUB:D:t:s%03d\n", i))
			want = append(want, fmt.Sprintf("OK:SUB:t:s%03d", i))
		}
		for range n {
			got = append(got, c.main.read())
		}
		slices.Sort(got) // streams have no order
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}

		// Streams that stay open make others wait, and nothing else.
		held := make([]*far, MaxUniStreams)
		for i := range held {
			held[i] = c.uni()
			held[i].write([]byte("SUB:D:t:a\n"))
			c.expect("OK:SUB:t:a")
		}
		c.lines("SUB:D:t:waits\n")
		c.subscribe("b")
		held[3].write([]byte("SUB:D:t:c\n"))
		c.expect("OK:SUB:t:c")
		held[5].finish()
		c.expect("OK:SUB:t:waits")
	})
}

// Streams that end at once cost a client no credit. They must not pile up.
func TestFloodOfEmptyStreams(t *testing.T) {
	flood := func(t *testing.T, c *client, wait int, code wire.CloseCode) {
		opened := 0
		for ; ; opened++ {
			s, err := c.OpenUniStreamSync(c.Context())
			if err != nil {
				break
			}
			_ = s.Close()
		}
		if opened < wait {
			t.Errorf("ended after %d streams", opened)
		}
		c.expectEnd(code)
	}
	t.Run("/serve", func(t *testing.T) { // in no bubble: its streams wait for a mutex, which holds virtual time up
		t.Parallel()
		e := newEdge(t, setup{limits: func(l *pubsub.Limits) { l.DefaultIngressKB = 1 }})
		flood(t, e.subscriber("a"), maxWaiting, wire.ClosePolicy)
	})
	run(t, "/await", setup{}, func(t *testing.T, e *edge) {
		c, start := e.connect("/await"), time.Now()
		flood(t, c, MaxUniStreams, wire.CloseUnauthorized)
		if took := time.Since(start); took >= AuthTimeout {
			t.Errorf("took %v", took)
		}
	})
}

func TestOwnStreams(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		c.send("PING")
		c.expect("PONG")
		own := c.subscribeOwn("a")
		c.subscribe("*")
		c.send(publish("a", []byte("xyz")), publish("b", nil))
		own.expect("deliver a 3 [a]")
		c.expect("deliver a 3 [*]", "deliver b 0 [*]")
		e.publish("a", 60_000)
		own.expect("deliver a 60000 [a]")
		c.expect("deliver a 60000 [*]")
		c.lines("SUB:U:t:a\n")
		c.expect("OK:SUB:t:a")

		for range 1000 {
			e.publish("a", 200)
		}
		c.lines("UNSUB:U:t:a\n")
		for range 1000 {
			own.expect("deliver a 200 [a]")
			c.expect("deliver a 200 [*]")
		}
		own.expect("FIN")
		c.expect("OK:UNSUB:t:a")
	})
}

// A client may grant fewer streams than the edge.
func TestNoCreditForOwnStreams(t *testing.T) {
	few := func(c *quic.Config) { c.MaxIncomingUniStreams = 5 } // 3 of them HTTP/3's own
	inBubble(t, setup{quic: few}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		c.send("PING")
		c.expect("PONG")
		granted := 0
		for ; ; granted++ {
			u := c.uni()
			u.write([]byte(fmt.Sprintf("SUB:U:t:s%d\nSUB:D:t:end\nUNSUB:D:t:end\n", granted)))
			u.finish()
			if got := c.main.read(); got != "OK:SUB:t:end" {
				if want := fmt.Sprintf("ERR:too_many_subscriptions:SUB:t:s%d", granted); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				break
			}
			c.expect("OK:UNSUB:t:end")
			c.own().expect(fmt.Sprintf("OK:SUB:t:s%d", granted))
		}
		if granted < 2 || granted > 5 {
			t.Errorf("%d streams were granted", granted)
		}
	})
}

// A stream that is not read holds up no other.
func TestBlockedStreams(t *testing.T) {
	inBubble(t, setup{limits: func(l *pubsub.Limits) { l.SendQueue = 2 * backlog }}, func(t *testing.T, e *edge) {
		c := e.subscriber("main")
		own, other := c.subscribeOwn("own"), c.subscribeOwn("other")

		for _, blocked := range []struct {
			channel string
			*far
		}{{"main", c.main}, {"own", own}} {
			const n = backlog / (64 << 10)
			for range n {
				e.publish(blocked.channel, 64<<10)
			}
			for range 20 {
				e.publish("other", 1000)
				other.expect("deliver other 1000 [other]")
				if blocked.channel == "own" {
					c.send("PING")
					c.expect("PONG")
				}
			}
			if queued := e.hub.Stats()[0].QueuedBytes; queued < backlog/2 {
				t.Errorf("%s was not blocked: only %d bytes wait", blocked.channel, queued)
			}
			for range n {
				blocked.expect(fmt.Sprintf("deliver %s %d [%s]", blocked.channel, 64<<10, blocked.channel))
			}
		}
	})
}

// Not even all of a client's windows together hold up the session's end.
func TestAllStreamsBlocked(t *testing.T) {
	inBubble(t, setup{limits: func(l *pubsub.Limits) { l.SendQueue = 4 * backlog }}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		c.subscribeOwn("a")
		c.subscribeOwn("*")
		for range backlog / (64 << 10) {
			e.publish("a", 64<<10)
		}
		c.blocked(connectionWindow)
		e.hub.TokenRevoked("a")
		select {
		case <-c.Context().Done(): // the window has hardly room for a code
		case <-time.After(eventTimeout):
			t.Fatal("the session has not ended")
		}
		e.gone()
	})
}
