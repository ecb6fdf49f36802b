package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

func position(n uint64) wire.Position {
	return wire.Position{Epoch: 0xabc, N: n, T: 1700000000000 + n}
}

func (c *fakeConn) deliverStored(n uint64, payload string) {
	c.t.Helper()
	frame := wire.AppendDeliverFields(nil, &wire.Deliver{
		Stored: true, Position: position(n), Tenant: []byte("demo"), Channel: []byte("a"), Payload: []byte(payload), Patterns: []string{"a"},
	})
	if err := c.WriteMessage(websocket.BinaryMessage, frame); err != nil {
		c.t.Fatal(err)
	}
}

func TestSubscribeFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"text": {nil, "a one\na two\na three\n"},
		"JSON": {[]string{"--json"}, `{"tenant":"demo","channel":"a","payload":"one","patterns":["a"],"position":"0000000000000abc.1.1700000000001","time":"2023-11-14T22:13:20.001Z"}
{"tenant":"demo","channel":"a","payload":"two","patterns":["a"],"position":"0000000000000abc.2.1700000000002","time":"2023-11-14T22:13:20.002Z"}
{"tenant":"demo","channel":"a","payload":"three","patterns":["a"],"position":"0000000000000abc.3.1700000000003","time":"2023-11-14T22:13:20.003Z"}
`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEdge(t)
			done := subscribe(t, t.Context(), f, append(tt.args, "--from", "last.10", "a")...)
			first := f.accept()
			first.sendLine(wire.LineFeaturesHistory)
			first.expect("RSUB:demo:a:last.10")
			first.deliverStored(1, "one")
			first.sendLine("OK:RSUB:demo:a:" + position(1).String() + ":complete")
			first.Close()
			second := f.accept()
			second.sendLine(wire.LineFeaturesHistory)
			second.expect("RSUB:demo:a:" + position(1).String())
			second.deliverStored(2, "two")
			second.sendLine("OK:RSUB:demo:a:" + position(2).String() + ":complete")
			second.sendLine("GAP:demo:a:" + position(2).String())
			second.deliverStored(3, "three")
			second.revoke()
			r := await(t, done)
			r.want(t, 1, tt.want, "disconnected: ", "reconnected after ", "away, nothing is missing\n", "GAP:demo:a: messages may be missing\n")
			// The command prints it when its own goroutine wakes, which may be after an
			// event that came later: events have a goroutine of their own.
			if !strings.Contains(r.err, "OK:RSUB:demo:a\n") {
				t.Errorf("stderr lacks OK:RSUB:demo:a:\n%s", r.err)
			}
		})
	}
}

// Without the right to read the past, the gap names the missing right.
func TestSubscribeFromWithoutRight(t *testing.T) {
	f := newFakeEdge(t)
	done := subscribe(t, t.Context(), f, "--from", "last.3", "a")
	c := f.accept()
	c.sendLine(wire.LineFeaturesHistory)
	c.expect("RSUB:demo:a:last.3")
	c.sendLine("ERR:permission_denied:RSUB:demo:a")
	c.expect("RSUB:demo:a:now")
	c.sendLine("OK:RSUB:demo:a:" + position(5).String() + ":complete")
	c.deliverStored(6, "six")
	c.revoke()
	await(t, done).want(t, 1, "a six\n", "GAP:demo:a: messages may be missing: the token does not allow reading the past of this pattern; its grant needs allow_channels_history\n")
}

func TestSubscribeFromRefused(t *testing.T) {
	f := newFakeEdge(t)
	done := subscribe(t, t.Context(), f, "--from", "last", "a")
	c := f.accept()
	c.sendLine(wire.LineFeaturesHistory)
	c.expect("RSUB:demo:a:last")
	c.sendLine("ERR:no_history:RSUB:demo:a")
	c.expectLeave()
	await(t, done).want(t, 1, "", "ERR:no_history:RSUB:demo:a: no history of the edge", "Error: the edge refused a subscription")
}

func TestPublishConfirm(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		key    string
		answer func(id uint32) []byte
		code   int
		out    string
		told   string
	}{
		"stored":   {[]string{"--confirm", "--key", "k"}, "k", func(id uint32) []byte { return wire.AppendOKPubAt(nil, id, position(7)) }, 0, position(7).String() + "\n", ""},
		"not kept": {[]string{"--confirm"}, "", func(id uint32) []byte { return wire.AppendOKPub(nil, id) }, 0, "", ""},
		"refused":  {[]string{"--confirm", "--key", "k"}, "k", func(id uint32) []byte { return wire.AppendErrPub(nil, wire.CodeNoHistory, id) }, 1, "", "no_history"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEdge(t)
			t.Setenv(tokenVariable, testAccess)
			done := make(chan result, 1)
			go func() {
				done <- run(context.Background(), "", append([]string{"publish", "--url", f.url, "--tenant", "demo", "a", "hello"}, tt.args...)...)
			}()
			c := f.accept()
			c.sendLine(wire.LineFeaturesHistory)
			_ = c.SetReadDeadline(time.Now().Add(testTimeout))
			_, frame, err := c.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			p, err := wire.DecodePublish(frame)
			if err != nil || !p.Confirm || string(p.Key) != tt.key || string(p.Payload) != "hello" {
				t.Fatalf("got %+v, %v", p, err)
			}
			c.sendLine(string(tt.answer(p.ID)))
			c.expectLeave()
			r := await(t, done)
			if r.code != tt.code || r.out != tt.out || !strings.Contains(r.err, tt.told) {
				t.Errorf("got %+v", r)
			}
		})
	}
}
