package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/wire"
)

const patience = 20 * time.Second

// A fakeEdge hands each connection to the test, which plays the edge.
type fakeEdge struct {
	url   string
	conns chan *fakeConn
	t     *testing.T
}

type fakeConn struct {
	*websocket.Conn
	t *testing.T
}

func newFakeEdge(t *testing.T) *fakeEdge {
	t.Helper()
	f := &fakeEdge{conns: make(chan *fakeConn), t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+testAccess {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		u := websocket.Upgrader{Subprotocols: []string{"llps.v1"}}
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			return // the client is gone
		}
		f.conns <- &fakeConn{conn, t}
	}))
	t.Cleanup(server.Close)
	f.url = "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"
	return f
}

func (f *fakeEdge) accept() *fakeConn {
	f.t.Helper()
	select {
	case c := <-f.conns:
		f.t.Cleanup(func() { c.Close() })
		return c
	case <-time.After(patience):
		f.t.Fatal("the client did not connect")
		return nil
	}
}

func (c *fakeConn) say(line string) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(line)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fakeConn) deliver(payload string) {
	c.t.Helper()
	frame := wire.AppendDeliver(nil, []byte("demo"), []byte("a"), []byte(payload), []string{"#"})
	if err := c.WriteMessage(websocket.BinaryMessage, frame); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fakeConn) expect(line string) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, got, err := c.ReadMessage(); err != nil || string(got) != line {
		c.t.Fatalf("got %q, %v; want %s", got, err, line)
	}
}

// settle returns when the client has handled all that was said.
func (c *fakeConn) settle() {
	c.t.Helper()
	c.say("PING")
	c.expect("PONG")
}

func (c *fakeConn) expectLeave() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, got, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		c.t.Fatalf("got %q, %v; want a normal close", got, err)
	}
}

// subscribe runs the command; what comes out is its result.
func subscribe(t *testing.T, ctx context.Context, f *fakeEdge, patterns ...string) <-chan result {
	t.Helper()
	t.Setenv(tokenVariable, testAccess)
	done := make(chan result, 1)
	go func() {
		done <- run(ctx, "", append([]string{"subscribe", "--url", f.url, "--tenant", "demo"}, patterns...)...)
	}()
	return done
}

func await(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(patience):
		t.Fatal("the command did not end")
		return result{}
	}
}

func TestSubscribeMoves(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#", "a.*")
	first := f.accept()
	for _, p := range []string{"#", "a.*"} {
		first.expect("SUB:demo:" + p)
		first.say("OK:SUB:demo:" + p)
	}
	first.deliver("one")
	first.say("RECONNECT")

	second := f.accept()
	second.expect("SUB:demo:#")
	second.expect("SUB:demo:a.*")
	second.say("OK:SUB:demo:#")
	second.settle()
	first.settle() // it stays until the second has all subscriptions
	first.deliver("two")
	second.say("OK:SUB:demo:a.*")
	first.expectLeave()
	first.Close()

	second.deliver("three")
	second.settle()
	cancel()
	second.expectLeave()
	got := await(t, done)
	if want := "a one\na two\na three\n"; got.out != want || got.code != 0 {
		t.Errorf("got exit code %d and %q, want 0 and %q; stderr %q", got.code, got.out, want, got.err)
	}
}

// When the first connection ends during the move, the second takes over.
func TestSubscribeMovesLate(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#")
	first := f.accept()
	first.expect("SUB:demo:#")
	first.say("OK:SUB:demo:#")
	first.say("RECONNECT")
	second := f.accept()
	second.expect("SUB:demo:#")
	first.Close()
	for range 20 { // the client looks at its connections in random order
		second.settle()
	}
	second.say("OK:SUB:demo:#")
	second.deliver("late")
	second.settle()
	cancel()
	second.expectLeave()
	if got := await(t, done); got.out != "a late\n" || got.code != 0 {
		t.Errorf("got exit code %d and %q; stderr %q", got.code, got.out, got.err)
	}
}

// A new connection that ends before it has all subscriptions is tried again.
func TestSubscribeMovesAgain(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#")
	first := f.accept()
	first.expect("SUB:demo:#")
	first.say("OK:SUB:demo:#")
	first.say("RECONNECT")
	second := f.accept()
	second.expect("SUB:demo:#")
	second.Close()
	third := f.accept()
	third.expect("SUB:demo:#")
	third.say("OK:SUB:demo:#")
	first.expectLeave()
	third.settle()
	cancel()
	third.expectLeave()
	if got := await(t, done); got.code != 0 {
		t.Errorf("got exit code %d; stderr %q", got.code, got.err)
	}
}

func TestSubscribeEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		edge func(*fakeConn)
		want string
	}{
		"close": {func(c *fakeConn) {
			_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4403, "token_revoked"))
		}, "closed the connection: 4403 token_revoked"},
		"cut":     {func(c *fakeConn) { c.Close() }, "the connection broke"},
		"refusal": {func(c *fakeConn) { c.say("ERR:permission_denied:SUB:demo:#") }, "ERR:permission_denied:SUB:demo:#\nError: the edge refused a subscription"},
		"unknown": {func(c *fakeConn) { c.say("HELLO") }, "does not know"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEdge(t)
			done := subscribe(t, t.Context(), f, "#")
			c := f.accept()
			c.expect("SUB:demo:#")
			tt.edge(c)
			if got := await(t, done); got.code != 1 || !strings.Contains(got.err, tt.want) {
				t.Errorf("got exit code %d and %q, want 1 and %q", got.code, got.err, tt.want)
			}
		})
	}
}
