package caddymodule

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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
		if got := (&App{AllowPlaintext: c.allow}).secure(r); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestClientIP(t *testing.T) {
	const proxy = "10.0.0.1"
	for _, c := range []struct {
		name            string
		caddy           string // the address that Caddy found
		trusted, strict bool
		header          string // X-Real-Ip
		want            string // empty: unknown
	}{
		{"direct", "203.0.113.5", false, false, "", "203.0.113.5"},
		{"mapped", "::ffff:203.0.113.5", false, false, "", "203.0.113.5"},
		{"direct, with a header", proxy, false, false, "192.0.2.9", proxy},
		{"behind a proxy", "192.0.2.9", true, true, "192.0.2.9", "192.0.2.9"},
		{"not strict", "192.0.2.9", true, false, "192.0.2.9", ""},
		{"not strict, the proxy's own address", proxy, true, false, proxy, ""},
		{"not strict, a header that was taken away", "192.0.2.9", true, false, "", ""},
		{"not strict, without the header", proxy, true, false, "", proxy},
		{"none", "", false, false, "", ""},
	} {
		srv := &caddyhttp.Server{ClientIPHeaders: []string{"X-Real-Ip"}}
		if c.strict {
			srv.TrustedProxiesStrict = 1
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = proxy + ":1"
		if c.header != "" {
			r.Header.Set("X-Real-Ip", c.header)
		}
		ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, srv)
		ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{
			caddyhttp.ClientIPVarKey: c.caddy, caddyhttp.TrustedProxyVarKey: c.trusted,
		})
		ip, known := clientIP(r.WithContext(ctx))
		if known != (c.want != "") || known && ip.String() != c.want || !known && ip.IsValid() {
			t.Errorf("%s: got %v, %v, want %q", c.name, ip, known, c.want)
		}
	}
}

func TestFailureLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		l := newFailureLimiter()
		one, neighbour, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("192.0.2.1")
		for i := range maxFailures {
			if l.blocked(one) {
				t.Fatalf("blocked after %d failures", i)
			}
			l.failed(one)
		}
		if !l.blocked(one) || !l.blocked(neighbour) {
			t.Error("not blocked after 20 failures in a second, with its whole /64")
		}
		if l.blocked(other) {
			t.Error("another address is blocked, too")
		}
		time.Sleep(time.Second)
		if l.blocked(one) {
			t.Error("still blocked a second later")
		}
		for i := range 2 * maxAddresses {
			l.failed(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		}
		if len(l.counts) > maxAddresses {
			t.Errorf("%d addresses are kept count of", len(l.counts))
		}
	})
}
