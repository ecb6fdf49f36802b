package handler

import (
	"context"
	"crypto/tls"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
)

func TestSecure(t *testing.T) {
	for _, c := range []struct {
		name, remote string
		tls, allow   bool
		want         bool
	}{
		{"TLS", "203.0.113.5:1", true, false, true},
		{"plain from elsewhere", "203.0.113.5:1", false, false, false},
		{"plain from elsewhere, allowed", "203.0.113.5:1", false, true, true},
		{"loopback", "127.0.0.1:1", false, false, true},
		{"other loopback", "127.9.9.9:1", false, false, true},
		{"IPv6 loopback", "[::1]:1", false, false, true},
		{"IPv4-mapped loopback", "[::ffff:127.0.0.1]:1", false, false, true},
		{"private", "10.0.0.1:1", false, false, false},
		{"Unix socket", "@", false, false, true},
		{"nonsense", "somewhere", false, false, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.tls {
			r.TLS = &tls.ConnectionState{HandshakeComplete: true}
		}
		if got := secure(r, &app.App{AllowPlaintext: c.allow}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// An address takes a share of the edge unless it is that of a trusted proxy, which
// speaks for many.
func TestClientOf(t *testing.T) {
	for _, c := range []struct {
		name, remote, client string
		trusted              bool
		ip                   string
		shared               bool
	}{
		{"a client", "203.0.113.5:1", "203.0.113.5", false, "203.0.113.5", false},
		{"by a proxy that says whom it speaks for", "10.0.0.1:1", "203.0.113.5", true, "203.0.113.5", false},
		{"by a proxy that does not", "10.0.0.1:1", "10.0.0.1", true, "10.0.0.1", true},
		{"by a mapped proxy that does not", "[::ffff:10.0.0.1]:1", "::ffff:10.0.0.1", true, "10.0.0.1", true},
		{"by a proxy that is not trusted", "10.0.0.1:1", "10.0.0.1", false, "10.0.0.1", false},
		{"a zone", "[fe80::1%eth0]:1", "fe80::1%eth0", false, "fe80::1", false},
		{"a Unix socket", "@", "", false, "invalid IP", false},
		{"nonsense", "@", "somewhere", true, "invalid IP", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{
			caddyhttp.ClientIPVarKey: c.client, caddyhttp.TrustedProxyVarKey: c.trusted,
		}))
		got := clientOf(r, "websocket")
		if got.IP.String() != c.ip || got.SharedIP != c.shared || got.Transport != "websocket" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
