package takeover

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

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
	expect("in force", g.server, here, true)
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
	want := "udp/" + address.JoinHostPort(0)
	if entries := logs.All(); len(entries) != 1 || fmt.Sprint(entries[0].ContextMap()["addresses"]) != "["+want+"]" {
		t.Errorf("the log has %v, want a line with %s", entries, want)
	}
}
