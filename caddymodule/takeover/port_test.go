package takeover

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestRequest(t *testing.T) {
	address := unused(t)
	entries := make(chan *Entry, 1)
	newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		e, _ := EntryOf(r)
		entries <- e
		answer("one")(w, r)
	}).start(t)
	c := connect(t, address)
	c.expect(t, "one")
	e := take(t, entries)
	if e.Listener() != "udp/"+address.JoinHostPort(0) || e.Closing() {
		t.Errorf("came in by %s, closing: %v", e.Listener(), e.Closing())
	}
	if want := c.quic.LocalAddr().(*net.UDPAddr).Port; e.Peer().String() != "127.0.0.1" || e.conn.RemoteAddr().(*net.UDPAddr).Port != want {
		t.Errorf("peer %s, connection from %s", e.Peer(), e.conn.RemoteAddr())
	}
	if _, batched := e.port.transport.Conn.(*net.UDPConn); !batched {
		t.Errorf("quic-go sees a %T, not the UDP socket", e.port.transport.Conn)
	}
}

func TestInflight(t *testing.T) {
	var c inflight
	idle := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	if !idle(c.idle()) {
		t.Error("busy from the start")
	}
	c.begin()
	c.begin()
	one, two := c.idle(), c.idle()
	c.end()
	if idle(one) || idle(two) || c.count() != 1 {
		t.Error("idle with one in flight")
	}
	c.end()
	c.begin() // it was idle in between, and that counts
	if !idle(one) || !idle(two) {
		t.Error("not everybody who waited was told")
	}
	if idle(c.idle()) {
		t.Error("idle again, with one in flight")
	}
	c.end()
}

func TestAltSvc(t *testing.T) {
	address := unused(t)
	g := newGeneration(t, address, "one", answer("one"))
	expect := func(what string, srv *caddyhttp.Server, local net.Addr, want bool) {
		t.Helper()
		text := ""
		if want {
			_, port, err := net.SplitHostPort(address.JoinHostPort(0))
			must(t, err)
			text = `h3=":` + port + `"; ma=2592000`
		}
		ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, local)
		if got := AltSvc(ctx, srv); got != text {
			t.Errorf("%s: %q, want %q", what, got, text)
		}
	}
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(address.StartPort)}
	expect("before the start", g.server, here, false)
	g.start(t)
	expect("in effect", g.server, here, true)
	expect("another port of the server", g.server, &net.TCPAddr{Port: 80}, false)
	expect("a Unix socket", g.server, &net.UnixAddr{Name: "/run/edge.sock"}, false)
	expect("another server", new(caddyhttp.Server), here, false)
	g.Quiesce()
	expect("after the stop", g.server, here, false)
}

// Caddy's log of a server that was taken over lacks HTTP/3.
func TestStartIsLogged(t *testing.T) {
	address := unused(t)
	g := newGeneration(t, address, "one", answer("one"))
	core, logs := observer.New(zap.InfoLevel)
	g.log = zap.New(core)
	g.start(t)
	g.Report()
	want := "udp/" + address.JoinHostPort(0)
	if entries := logs.All(); len(entries) != 1 || fmt.Sprint(entries[0].ContextMap()["addresses"]) != "["+want+"]" {
		t.Errorf("the log has %v, want a line with %s", entries, want)
	}
}

// Under load, new clients have to prove their address before they cost anything.
func TestAddressesAreValidatedUnderLoad(t *testing.T) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer socket.Close()
	verify := newTransport(socket).VerifySourceAddress
	asked := 0
	for range 2 * freeHandshakes {
		if verify(socket.LocalAddr()) {
			asked++
		}
	}
	// The limit refills while the loop runs.
	if asked == 0 || asked > freeHandshakes {
		t.Errorf("%d of %d clients at once have to prove their address, want some, and the first %d not", asked, 2*freeHandshakes, freeHandshakes)
	}
}

// A client that has vanished is forgotten after 30 s; package edgetest tests what
// follows; one that only has nothing to say is asked before, more than once.
func TestIdleTimeout(t *testing.T) {
	c := new(port).quicConfig()
	if c.MaxIdleTimeout != 30*time.Second || 3*c.KeepAlivePeriod > c.MaxIdleTimeout {
		t.Errorf("forgotten after %v, asked every %v", c.MaxIdleTimeout, c.KeepAlivePeriod)
	}
}

// Traces of connections, which an operator may ask for, hold no header.
func TestTracesHoldNoTokens(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("QLOGDIR", dir)
	address := unused(t)
	g := newGeneration(t, address, "one", answer("hello"))
	g.start(t)
	c := connect(t, address)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer AT_token")
	res, err := c.RoundTrip(req)
	must(t, err)
	res.Body.Close()
	g.Quiesce()
	must(t, g.Close(0))
	traces, err := filepath.Glob(filepath.Join(dir, "*_server.sqlog"))
	if err != nil || len(traces) != 1 {
		t.Fatalf("the traces are %v, %v, want one", traces, err)
	}
	trace, err := os.ReadFile(traces[0])
	must(t, err)
	if !strings.Contains(string(trace), "packet_received") || strings.Contains(string(trace), "AT_token") {
		t.Errorf("the trace holds the token, or nothing:\n%s", trace)
	}
}
