package console

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
)

func TestOriginOf(t *testing.T) {
	const home, outside = "127.0.0.1:8080", "192.0.2.1:8080"
	for _, c := range []struct {
		name          string
		local, remote string
		host          string
		tls, trusted  bool
		headers       []string // name, value, …
		want          string   // the origin, or a code
	}{
		{"TLS", outside, "198.51.100.1:1", "edge.example.com", true, false, nil, "https://edge.example.com"},
		{"TLS, letters and port", outside, "198.51.100.1:1", "Edge.Example.com:8443", true, false, nil, "https://edge.example.com:8443"},
		{"TLS, IPv6", outside, "198.51.100.1:1", "[2001:db8::1]", true, false, nil, "https://[2001:db8::1]"},
		{"this machine", home, "127.0.0.1:1", "localhost:8080", false, false, nil, "http://localhost:8080"},
		{"this machine, IPv6", "[::1]:8080", "[::1]:1", "[::1]:8080", false, false, nil, "http://[::1]:8080"},
		{"plain from outside", outside, "198.51.100.1:1", "edge.example.com", false, false, nil, "tls_required"},
		{"plain from outside, as localhost", outside, "198.51.100.1:1", "localhost:8080", false, false, nil, "tls_required"},
		{"another end outside", home, "198.51.100.1:1", "localhost:8080", false, false, nil, "tls_required"},
		{"a name that leads to loopback", home, "127.0.0.1:1", "evil.example:8080", false, false, nil, "tls_required"},
		{"a proxy on this machine", home, "127.0.0.1:1", "127.0.0.1:8080", false, false, []string{"X-Forwarded-For", "198.51.100.1"}, "tls_required"},
		{"one that claims TLS", home, "127.0.0.1:1", "127.0.0.1:8080", false, false, []string{"X-Forwarded-Proto", "https"}, "tls_required"},
		{"a trusted proxy", outside, "10.0.0.1:1", "edge.example.com", false, true, []string{"X-Forwarded-Proto", "https"}, "https://edge.example.com"},
		{"a trusted proxy that names the host", outside, "10.0.0.1:1", "10.0.0.2:80", false, true,
			[]string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "edge.example.com"}, "https://edge.example.com"},
		{"a trusted proxy, plain", outside, "10.0.0.1:1", "edge.example.com", true, true, []string{"X-Forwarded-Proto", "http"}, "tls_required"},
		{"a trusted proxy that says nothing", outside, "10.0.0.1:1", "edge.example.com", false, true, nil, "tls_required"},
		{"an invalid host", outside, "198.51.100.1:1", "edge.example.com; script-src *", true, false, nil, "bad_host"},
		{"no host", outside, "198.51.100.1:1", "", true, false, nil, "bad_host"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/console", nil)
		local, err := net.ResolveTCPAddr("tcp", c.local)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local))
		r = r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: c.trusted}))
		r.RemoteAddr, r.Host = c.remote, c.host
		if c.tls {
			r.TLS = &tls.ConnectionState{HandshakeComplete: true}
		}
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		o, code, _ := originOf(r)
		got := code
		if code == "" {
			got = o.String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if code == "" {
			continue
		}
		for _, r.URL.Path = range []string{"/console", "/console/api/session"} { // neither the page nor the API
			w := httptest.NewRecorder()
			err := (&Console{Path: "/console"}).ServeHTTP(w, r, nil)
			if err != nil || w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %s: %d %s, %v", c.name, r.URL.Path, w.Code, w.Body, err)
			}
		}
	}
}

func TestFromPage(t *testing.T) {
	o := origin{"https", "edge.example.com:8443"}
	const own = "https://edge.example.com:8443"
	for _, c := range []struct {
		name, method string
		origin, site []string
		want         bool
	}{
		{"a change", "POST", []string{own}, []string{"same-origin"}, true},
		{"a change by a browser without Sec-Fetch-Site", "DELETE", []string{own}, nil, true},
		{"a change without Origin", "POST", nil, []string{"same-origin"}, false},
		{"of another site", "POST", []string{"https://evil.example"}, []string{"cross-site"}, false},
		{"of another port", "POST", []string{"https://edge.example.com"}, []string{"same-site"}, false},
		{"of another scheme", "POST", []string{"http://edge.example.com:8443"}, nil, false},
		{"of a sandbox", "POST", []string{"null"}, []string{"cross-site"}, false},
		{"two origins", "POST", []string{own, own}, nil, false},
		{"typed by a user", "POST", []string{own}, []string{"none"}, false},
		{"two sites", "POST", []string{own}, []string{"same-origin", "same-origin"}, false},
		{"reading", "GET", nil, []string{"same-origin"}, true},
		{"reading by a browser without it", "GET", nil, nil, true},
		{"reading by another site", "GET", nil, []string{"cross-site"}, false},
		{"reading by another origin", "GET", []string{"https://evil.example"}, nil, false},
	} {
		r := httptest.NewRequest(c.method, o.String()+"/console/api/session", nil)
		r.Header["Origin"], r.Header["Sec-Fetch-Site"] = c.origin, c.site
		if got := fromPage(r, o); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if w := serve(t, r); !c.want && (w.Code != http.StatusForbidden || codeOf(w) != "cross_site") {
			t.Errorf("%s is answered %d %s", c.name, w.Code, w.Body)
		}
	}
}

// serve answers a request that comes over TLS. Nothing runs at this edge.
func serve(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{}))
	cancel()
	w := httptest.NewRecorder()
	if err := (&Console{Path: "/console", app: new(app.App)}).ServeHTTP(w, r.WithContext(ctx), nil); err != nil {
		t.Error(err)
	}
	return w
}

// No page of another site shows the console, and no cache keeps what it says.
func TestHeaders(t *testing.T) {
	for path, cached := range map[string]string{"": "no-cache", "/console.js": "no-cache", "/api/session": "no-store"} {
		header := serve(t, httptest.NewRequest(http.MethodGet, "https://edge.example.com/console"+path, nil)).Header()
		policy := header.Get("Content-Security-Policy")
		if header.Get("X-Frame-Options") != "DENY" || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != cached ||
			!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the headers %v", path, header)
		}
	}
}

func TestPolicy(t *testing.T) {
	got := policy(origin{"http", "localhost:8080"}, "https://edge.example.com")
	for _, want := range []string{"default-src 'none';", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'",
		"connect-src 'self' ws://localhost:8080 https://edge.example.com wss://edge.example.com;"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if strings.Contains(got, "unsafe") {
		t.Error(got)
	}
}

// Consoles on different ports of one host have cookies of their own.
func TestCookieName(t *testing.T) {
	for host, want := range map[string]string{
		"edge.example.com": "__Host-millrace-console", "localhost:8080": "__Host-millrace-console-8080", "[::1]:8080": "__Host-millrace-console-8080",
	} {
		if got := (origin{"https", host}).cookieName(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
