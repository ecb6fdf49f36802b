package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/wire"
)

const testTimeout = 20 * time.Second

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
		c.expect("FEATURES:link")
		return c
	case <-time.After(testTimeout):
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

func (c *fakeConn) deliver(payload string, patterns ...string) {
	c.t.Helper()
	frame := wire.AppendDeliver(nil, []byte("demo"), []byte("a"), []byte(payload), append([]string{"#"}, patterns...))
	if err := c.WriteMessage(websocket.BinaryMessage, frame); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next line.
func (c *fakeConn) next() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(testTimeout))
	_, got, err := c.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(got)
}

func (c *fakeConn) expect(line string) {
	c.t.Helper()
	if got := c.next(); got != line {
		c.t.Fatalf("got %q, want %s", got, line)
	}
}

// end closes the connection as an edge does whose token was revoked.
func (c *fakeConn) end() {
	c.t.Helper()
	c.say("ERR:token_revoked")
	if err := c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4403, "token_revoked")); err != nil {
		c.t.Fatal(err)
	}
}

// expectLeave plays the edge until the client has left.
func (c *fakeConn) expectLeave() {
	c.t.Helper()
	for {
		_ = c.SetReadDeadline(time.Now().Add(testTimeout))
		_, got, err := c.ReadMessage()
		line := string(got)
		switch {
		case websocket.IsCloseError(err, websocket.CloseNormalClosure):
			return
		case err != nil:
			c.t.Fatalf("got %v, want a normal close", err)
		case line == wire.LinePing:
			c.say(wire.LinePong)
		case strings.HasPrefix(line, "UNSUB:"):
			c.say("OK:" + line)
		default:
			c.t.Fatalf("got %q from a client that leaves", line)
		}
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
	case <-time.After(testTimeout):
		t.Fatal("the command did not end")
		return result{}
	}
}

// said requires what the command wrote: messages, and in this order what it
// told meanwhile.
func (r result) want(t *testing.T, code int, messages string, told ...string) {
	t.Helper()
	if r.code != code || r.out != messages {
		t.Errorf("got exit code %d and %q, want %d and %q; stderr %q", r.code, r.out, code, messages, r.err)
	}
	rest := r.err
	for _, text := range told {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("stderr lacks %q at its place:\n%s", text, r.err)
		}
		rest = after
	}
}

func TestSubscribeMoves(t *testing.T) {
	f := newFakeEdge(t)
	done := subscribe(t, t.Context(), f, "#")
	first := f.accept()
	first.expect("SUB:demo:#")
	first.say("OK:SUB:demo:#")
	first.deliver("one")
	first.say("RECONNECT")

	second := f.accept()
	second.expect("SUB:demo:#")
	second.say("OK:SUB:demo:#")
	first.deliver("two")
	second.deliver("two")
	first.expectLeave()
	second.deliver("three")
	second.end()
	await(t, done).want(t, 1, "a one\na two\na three\n", "RECONNECT: ", "moved\n",
		"ERR:token_revoked\nError: the edge closed the connection: 4403 token_revoked\n")
}

func TestSubscribeReconnects(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#", "a")
	first := f.accept()
	for _, p := range []string{"#", "a"} {
		first.expect("SUB:demo:" + p)
		first.say("OK:SUB:demo:" + p)
	}
	first.deliver("before", "a") // shown once
	first.Close()
	second := f.accept()
	lines := []string{second.next(), second.next()}
	slices.Sort(lines)
	if !slices.Equal(lines, []string{"SUB:demo:#", "SUB:demo:a"}) {
		t.Fatalf("the client restores %q", lines)
	}
	second.say("OK:SUB:demo:#")
	second.say("OK:SUB:demo:a")
	second.deliver("after", "a")
	second.end()
	await(t, done).want(t, 1, "a before\na after\n",
		"disconnected: ", "; reconnecting\n", "reconnected after ", "s away\n", "4403")
}

func TestSubscribeEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		edge func(*fakeConn)
		want string
	}{
		"close":   {(*fakeConn).end, "ERR:token_revoked\nError: the edge closed the connection: 4403 token_revoked"},
		"refusal": {func(c *fakeConn) { c.say("ERR:permission_denied:SUB:demo:#") }, "ERR:permission_denied:SUB:demo:#\nError: the edge refused a subscription"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEdge(t)
			done := subscribe(t, t.Context(), f, "#")
			c := f.accept()
			c.expect("SUB:demo:#")
			tt.edge(c)
			await(t, done).want(t, 1, "", tt.want)
		})
	}
}

func TestSubscribeLeaves(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#")
	c := f.accept()
	c.expect("SUB:demo:#")
	cancel()
	c.expectLeave()
	await(t, done).want(t, 0, "")
}

func TestTarget(t *testing.T) {
	both, one := []client.Transport(nil), []client.Transport{client.WebSocket}
	for _, tt := range []struct {
		url, transport  string
		address, socket string
		transports      []client.Transport
		refused         string
	}{
		{"wss://edge.example.com/ws", "", "https://edge.example.com", "/ws", one, ""},
		{"wss://edge.example.com", "", "https://edge.example.com", "", one, ""},
		{"wss://edge.example.com/", "websocket", "https://edge.example.com", "", one, ""},
		{"ws://192.0.2.1:8080/path", "", "http://192.0.2.1:8080", "/path", one, ""},
		{"https://edge.example.com", "", "https://edge.example.com", "", both, ""},
		{"https://edge.example.com/edges", "websocket", "https://edge.example.com/edges", "", one, ""},
		{"https://edge.example.com", "webtransport", "https://edge.example.com", "", []client.Transport{client.WebTransport}, ""},
		{"http://localhost:8080", "", "http://localhost:8080", "", one, ""},
		{"wss://edge.example.com/ws", "webtransport", "", "", nil, "--transport: webtransport needs a URL with https://"},
		{"https://edge.example.com", "tcp", "", "", nil, "--transport: must be"},
		{"https://edge.example.com/wt", "", "https://edge.example.com", "", both, ""},
		{"ftp://edge.example.com", "", "", "", nil, "--url: must begin with"},
		{"https://user@edge.example.com", "", "", "", nil, "--url: must be like"},
		{"wss://edge.example.com/ws?a=b", "", "", "", nil, "--url: must be like"},
	} {
		got, err := (&socketFlags{url: text(tt.url), transport: text(tt.transport)}).target()
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s %s: got %v, want %s", tt.url, tt.transport, err, tt.refused)
			}
			continue
		}
		if err != nil || got.address != tt.address || got.options.Paths.WebSocket != tt.socket || !slices.Equal(got.options.Transports, tt.transports) {
			t.Errorf("%s %s: got %+v, %v", tt.url, tt.transport, got, err)
		}
	}
}
