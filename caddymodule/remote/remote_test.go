package remote

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

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
		ip, known := ClientIP(r.WithContext(ctx))
		if known != (c.want != "") || known && ip.String() != c.want || !known && ip.IsValid() {
			t.Errorf("%s: got %v, %v, want %q", c.name, ip, known, c.want)
		}
	}
}

// The names that pages of this machine have, and all hosts that stand for loopback.
func TestLocalHosts(t *testing.T) {
	const neither, loopback, name = 0, 1, 2
	for host, want := range map[string]int{
		"localhost": name, "LOCALHOST:8080": name, "127.0.0.1": name, "127.0.0.1:80": name, "[::1]": name, "[::1]:80": name,
		"::1": name, "127.0.0.2": loopback, "127.0.0.2:80": loopback, "[::ffff:127.0.0.1]:80": loopback,
		"": neither, "localhost.": neither, "evil.example": neither, "127.0.0.1.evil.example": neither, "192.0.2.1:80": neither,
		"localhost.evil.example:8080": neither, "[2001:db8::1]": neither,
	} {
		if got := IsLocalName(host); got != (want == name) {
			t.Errorf("%q is a local name: %v", host, got)
		}
		if got := IsLoopbackHost(host); got != (want != neither) {
			t.Errorf("%q is a host of loopback: %v", host, got)
		}
	}
}
