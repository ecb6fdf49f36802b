package webtransport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/webtransport-go"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestAuth(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/await")
		c.send("AUTH:good")
		c.expect("OK:AUTH")
		c.subscribe("a")
		c.send("AUTH:good")
		c.expect("ERR:bad_request")
		c.subscribeOwn("b")

		c = e.connect("/await") // what follows may come with it
		c.send("AUTH:good\r\n", "SUB:t:a", publish("a", make([]byte, 5000)))
		c.expect("OK:AUTH", "OK:SUB:t:a", "deliver a 5000 [a]")

		c = e.connect("/await") // or in pieces
		for _, b := range wire.AppendMessage(nil, []byte("AUTH:good")) {
			c.main.write([]byte{b})
		}
		c.expect("OK:AUTH")

		c = e.connect("/await") // lines wait for it
		c.lines("SUB:D:t:early\n")
		c.send("AUTH:good")
		c.expect("OK:AUTH", "OK:SUB:t:early")
		e.noPendingConns()
	})
}

// noPendingConns checks that nobody counts any more as yet to authenticate.
func (e *edge) noPendingConns() {
	e.Helper()
	for end := time.Now().Add(eventTimeout); ; time.Sleep(time.Millisecond) {
		var all []*pubsub.PendingConn
		for range pubsub.MaxPendingPerIP {
			if a, err := e.hub.AddPending(pubsub.Client{IP: netip.MustParseAddr("127.0.0.1")}); err == nil {
				all = append(all, a)
			}
		}
		for _, a := range all {
			a.Release()
		}
		if len(all) == pubsub.MaxPendingPerIP {
			return
		}
		if time.Now().After(end) {
			e.Fatalf("%d connections are still pending", pubsub.MaxPendingPerIP-len(all))
		}
	}
}

func TestRefusals(t *testing.T) {
	message := func(text string) []byte { return wire.AppendMessage(nil, []byte(text)) }
	set := setup{auth: func(e *edge, ctx context.Context, token string) (Admission, *Refusal) {
		if token == "full" {
			return Admission{}, &Refusal{Code: wire.CloseTryLater, Reason: "full"}
		}
		return e.checkToken(ctx, token)
	}}
	const unauthorized = "ERR:unauthorized"
	for name, c := range map[string]struct {
		bytes []byte
		line  string
		code  wire.CloseCode
	}{
		"another line":      {message("SUB:t:a"), unauthorized, wire.CloseUnauthorized},
		"no token":          {message("AUTH:"), unauthorized, wire.CloseUnauthorized},
		"nothing":           {message(""), unauthorized, wire.CloseUnauthorized},
		"a frame":           {message(publish("a", nil)), unauthorized, wire.CloseUnauthorized},
		"AUTH behind PING":  {append(message("PING"), message("AUTH:good")...), unauthorized, wire.CloseUnauthorized},
		"over the limit":    {message("AUTH:" + strings.Repeat("x", AuthBytes)), unauthorized, wire.CloseUnauthorized},
		"over it, to come":  {binary.BigEndian.AppendUint32(nil, AuthBytes+1), unauthorized, wire.CloseUnauthorized},
		"4 GiB":             {binary.BigEndian.AppendUint32(nil, 1<<32-1), unauthorized, wire.CloseUnauthorized},
		"another token":     {message("AUTH:bad"), "ERR:forbidden:region", wire.CloseForbidden},
		"FIN":               {[]byte{0, 0}, unauthorized, wire.CloseUnauthorized},
		"no line to say so": {message("AUTH:full"), "", wire.CloseTryLater},
	} {
		run(t, name, set, func(t *testing.T, e *edge) {
			start := time.Now()
			p := e.connect("/await")
			p.main.write(c.bytes)
			if len(c.bytes) < 4 {
				p.main.finish()
			}
			if c.line != "" {
				p.expect(c.line)
			}
			p.ends(c.code)
			if c.line != "" { // which the close repeats
				var end *webtransport.SessionError
				if _, err := p.OpenStream(); !errors.As(err, &end) || "ERR:"+end.Message != c.line {
					t.Errorf("the session ended with %v, want %q", err, c.line)
				}
			}
			p.expectDisconnect()
			if took := time.Since(start); took >= AuthTimeout {
				t.Errorf("took %v", took)
			}
			e.noPendingConns()
		})
	}
	run(t, "the client leaves", set, func(t *testing.T, e *edge) {
		p := e.connect("/await")
		p.main.write([]byte{0, 0})
		_ = p.CloseWithError(0, "")
		for _, p := range []*client{e.connect("/await"), e.dial("/await")} {
			_ = p.conn.CloseWithError(noError, "")
		}
		e.noPendingConns()
	})
}

// Whatever a client does, it has 5 s.
func TestLate(t *testing.T) {
	inBubble(t, setup{auth: waitForEnd}, func(t *testing.T, e *edge) {
		start := time.Now()
		mute, silent, slow, checked := e.dial("/await"), e.connect("/await"), e.connect("/await"), e.connect("/await")
		silent.main.write([]byte{0})
		told := make(chan string, 2)
		go func() {
			told <- silent.main.read()
			told <- silent.main.read()
		}()
		checked.send("AUTH:slow")
		slowly := time.NewTicker(time.Second)
		defer slowly.Stop()
		for _, b := range wire.AppendMessage(nil, []byte("AUTH:x")) {
			_, _ = slow.main.writer.Write([]byte{b}) // fails once the edge has lost eventTimeout
			select {
			case <-slowly.C:
			case <-slow.Context().Done():
			}
		}
		if got := [2]string{<-told, <-told}; got != [2]string{"ERR:unauthorized", "FIN"} { // it can read why
			t.Errorf("one that is late got %q", got)
		}
		for _, c := range []*client{mute, silent, slow} {
			c.expectEnd(wire.CloseUnauthorized)
			c.expectDisconnect()
		}
		checked.expectEnd(wire.CloseTryLater)
		checked.expectDisconnect()
		if took := time.Since(start); took < AuthTimeout || took > 2*AuthTimeout {
			t.Errorf("took %v", took)
		}
		e.noPendingConns()
	})
}

// waitForEnd is a check that ends with its context.
func waitForEnd(_ *edge, ctx context.Context, _ string) (Admission, *Refusal) {
	<-ctx.Done()
	return Admission{}, &Refusal{Code: wire.CloseTryLater, Reason: "the store is slow"}
}

// An edge that drains does not wait for those who have not authenticated.
func TestDrainWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan struct{})
		e := newEdge(t, setup{auth: func(e *edge, ctx context.Context, token string) (Admission, *Refusal) {
			close(entered)
			return waitForEnd(e, ctx, token)
		}})
		mute, silent, checked := e.dial("/await"), e.connect("/await"), e.connect("/await")
		silent.main.poke([]byte{0})
		second := silent.stream()
		second.poke([]byte{0})
		mainIs(silent, second)
		checked.send("AUTH:slow")
		<-entered
		start := time.Now()
		e.hub.Drain()
		silent.expect("FIN")
		checked.expect("FIN")
		for _, c := range []*client{mute, silent} {
			c.expectEnd(wire.CloseGoingAway)
			c.expectDisconnect()
		}
		checked.expectEnd(wire.CloseTryLater)
		checked.expectDisconnect()
		if took := time.Since(start); took > AuthTimeout {
			t.Errorf("took %v", took)
		}
	})
}

// mainIs finds out which of two streams the edge took, and makes it the main
// one: those that are opened at the same time have no order.
func mainIs(c *client, other *far) {
	c.Helper()
	type end struct {
		stream *far
		how    string
	}
	ends := make(chan end, 2)
	for _, f := range []*far{c.main, other} {
		go func() { ends <- end{f, f.read()} }()
	}
	first := <-ends
	if first.how != "reset 1008" {
		c.Fatalf("got %q", first.how)
	}
	if first.stream == c.main {
		c.main = other
	}
	_ = c.main.reader.SetReadDeadline(time.Now()) // the other read ends, too
	<-ends
}

func TestStreamsBeforeAuth(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/await")
		auth := wire.AppendMessage(nil, []byte("AUTH:good"))
		c.main.poke(auth[:1])
		second := c.stream()
		second.poke(auth[:1])
		mainIs(c, second)
		c.main.write(auth[1:])
		c.expect("OK:AUTH")
		third := c.stream()
		third.poke([]byte{0})
		third.expect("reset 1008")
		c.subscribe("a")

		start := time.Now()
		c = e.connect("/await") // but no flood of them
		ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
		defer cancel()
		opened := 0
		for ; opened < 10*MaxUniStreams; opened++ {
			s, err := c.OpenStreamSync(ctx)
			if err != nil {
				break
			}
			_, _ = s.Write([]byte{0})
		}
		c.expectEnd(wire.CloseUnauthorized)
		c.expectDisconnect()
		if took := time.Since(start); opened < MaxUniStreams || took >= AuthTimeout {
			t.Errorf("closed after %d streams and %v", opened, took)
		}
		e.noPendingConns()
	})
}

// A fault in the check harms that client alone, and no secret gets into the log.
func TestFaultWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel)
		e := newEdge(t, setup{log: zap.New(core), auth: func(e *edge, ctx context.Context, token string) (Admission, *Refusal) {
			if token == "secret" {
				panic("a fault")
			}
			return e.checkToken(ctx, token)
		}})
		c := e.connect("/await")
		c.send("AUTH:secret")
		c.ends(wire.CloseInternal, "ERR:internal")
		c.expectDisconnect()
		e.noPendingConns()
		if text := log.String(); !strings.Contains(text, "a fault") || strings.Contains(text, "secret") {
			t.Errorf("the log says %s", text)
		}
		c = e.connect("/await")
		c.send("AUTH:good")
		c.expect("OK:AUTH")
	})
}
