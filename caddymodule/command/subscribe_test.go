package command

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
)

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
	first.sendLine("OK:SUB:demo:#")
	first.deliver("one")
	first.sendLine("RECONNECT")

	second := f.accept()
	second.expect("SUB:demo:#")
	second.sendLine("OK:SUB:demo:#")
	first.deliver("two")
	second.deliver("two")
	first.expectLeave()
	second.deliver("three")
	second.revoke()
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
		first.sendLine("OK:SUB:demo:" + p)
	}
	first.deliver("before", "a") // shown once
	first.Close()
	second := f.accept()
	lines := []string{second.next(), second.next()}
	slices.Sort(lines)
	if !slices.Equal(lines, []string{"SUB:demo:#", "SUB:demo:a"}) {
		t.Fatalf("the client restores %q", lines)
	}
	second.sendLine("OK:SUB:demo:#")
	second.sendLine("OK:SUB:demo:a")
	second.deliver("after", "a")
	second.revoke()
	await(t, done).want(t, 1, "a before\na after\n",
		"disconnected: ", "; reconnecting\n", "reconnected after ", "s away\n", "4403")
}

func TestSubscribeEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		edge func(*fakeConn)
		want string
	}{
		"close": {(*fakeConn).revoke, "ERR:token_revoked\nError: the edge closed the connection: 4403 token_revoked"},
		"refusal": {func(c *fakeConn) {
			c.sendLine("ERR:permission_denied:SUB:demo:#")
			c.expectLeave()
		}, "ERR:permission_denied:SUB:demo:#: the token may not subscribe in # of demo: issue it with a grant whose Subscribe has that\nError: the edge refused a subscription"},
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

func TestSubscribeJSON(t *testing.T) {
	f := newFakeEdge(t)
	done := subscribe(t, t.Context(), f, "--json", "#")
	c := f.accept()
	c.expect("SUB:demo:#")
	c.sendLine("OK:SUB:demo:#")
	c.deliver("one")
	c.revoke()
	await(t, done).want(t, 1, `{"tenant":"demo","channel":"a","payload":"one","patterns":["#"]}`+"\n")
}

func TestSubscribeLeaves(t *testing.T) {
	f := newFakeEdge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := subscribe(t, ctx, f, "#", "b")
	c := f.accept()
	c.expect("SUB:demo:#")
	c.sendLine("OK:SUB:demo:#")
	c.expect("SUB:demo:b") // so it has the first
	cancel()
	left := []string{c.next(), c.next()}
	slices.Sort(left)
	if !slices.Equal(left, []string{"UNSUB:demo:#", "UNSUB:demo:b"}) {
		t.Fatalf("got %q", left)
	}
	c.deliver("on its way") // is printed
	c.sendLine("OK:UNSUB:demo:#")
	c.sendLine("OK:UNSUB:demo:b")
	c.expectLeave()
	await(t, done).want(t, 0, "a on its way\n")
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
