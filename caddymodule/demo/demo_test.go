package demo

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

const (
	testToken = "AT_00000000000000000000000000000001_00000000000000000000000000000002"
	testID    = "00000000000000000000000000000001"
)

var leaf = &x509.Certificate{Raw: []byte("a certificate")}

// edge is one whose parts work.
func edge() Edge {
	return Edge{
		HTTPPort: 8080, HTTPSPort: 8443,
		Issue: func(_ context.Context, subject string) (Token, error) {
			return Token{testToken, testID + subject, 900}, nil
		},
		Revoke: func(_ context.Context, id string) error {
			if id != testID {
				return ErrNotGiven
			}
			return nil
		},
		Certificate: func(context.Context) (*x509.Certificate, error) { return leaf, nil },
	}
}

// request is one of the page, as it comes in over loopback. Its body is good for each call.
func request(method, path string) *http.Request {
	return requestWith(method, path, `{"subject":"ada","token_id":"`+testID+`"}`)
}

func requestWith(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:8080"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.RemoteAddr = "127.0.0.1:50000"
	return from(r, "127.0.0.1:8080")
}

// from makes local the address of the listener that the request came in on.
func from(r *http.Request, local string) *http.Request {
	address, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		panic(err)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(address)))
}

// serve answers, 418 where the handler passes the request on.
func serve(t *testing.T, e Edge, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	err := newHandler(e).ServeHTTP(rec, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusTeapot)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func code(rec *httptest.ResponseRecorder) string {
	var problem struct{ Code string }
	if rec.Header().Get("Content-Type") != "application/problem+json" || json.Unmarshal(rec.Body.Bytes(), &problem) != nil {
		return ""
	}
	return problem.Code
}

// integration/browsers has the refusals that a listener on loopback can see.
func TestOnLoopbackAlone(t *testing.T) {
	for name, test := range map[string]struct {
		local, remote string
		want          int
	}{
		"IPv4":                     {"127.0.0.1:8080", "127.0.0.1:50000", 200},
		"IPv6":                     {"[::1]:8080", "[::1]:50000", 200},
		"IPv4 in IPv6":             {"[::ffff:127.0.0.1]:8080", "[::ffff:127.0.0.1]:50000", 200},
		"another listener":         {"192.0.2.1:8080", "127.0.0.1:50000", 403},
		"another client":           {"127.0.0.1:8080", "192.0.2.1:50000", 403},
		"both":                     {"[2001:db8::1]:8080", "[2001:db8::2]:50000", 403},
		"a client without address": {"127.0.0.1:8080", "@", 403},
	} {
		t.Run(name, func(t *testing.T) {
			for method, path := range map[string]string{http.MethodPost: TokenPath, http.MethodGet: PagePath} {
				r := from(request(method, path), test.local)
				r.RemoteAddr = test.remote
				rec := serve(t, edge(), r)
				if rec.Code != test.want || test.want == 403 && code(rec) != "local_only" {
					t.Errorf("%s: got %d %s, want %d", path, rec.Code, rec.Body, test.want)
				}
			}
		})
	}
	r := httptest.NewRequest(http.MethodPost, TokenPath, nil) // nobody knows which listener
	if rec := serve(t, edge(), r); rec.Code != 403 {
		t.Errorf("without local address: got %d, want 403", rec.Code)
	}
}

func TestToken(t *testing.T) {
	rec := serve(t, edge(), request(http.MethodPost, TokenPath))
	var got map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"token": testToken, "token_id": testID + "ada", "expires_in": 900.0, "tenant": "demo", "http_port": 8080.0, "https_port": 8443.0,
		"certificate_hashes": []any{map[string]any{
			"algorithm": "sha-256", "value": "gazXYhQPppKhQoItL75NxvVLyqUB9oqzflru0Lr+TZk=", // of "a certificate"
		}},
	}
	if rec.Code != 200 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d %v, want %v", rec.Code, got, want)
	}
	if cache := rec.Header().Get("Cache-Control"); cache != "no-store" {
		t.Errorf("got Cache-Control %q, want no-store", cache)
	}

	// Two values are no answer that a browser gives.
	r := request(http.MethodPost, TokenPath)
	r.Header.Add("Sec-Fetch-Site", "same-origin")
	if rec := serve(t, edge(), r); rec.Code != 403 || code(rec) != "cross_site" {
		t.Errorf("Sec-Fetch-Site twice: got %d %s, want 403 cross_site", rec.Code, rec.Body)
	}
}

// The page names whose token it wants, of three; and revokes what it was given, alone.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		path, body string
		status     int
		code       string
	}{
		{TokenPath, `{"subject":"ben"}`, 200, ""},
		{TokenPath, `{"subject":"you"}`, 200, ""},
		{TokenPath, `{"subject":"root"}`, 400, "invalid_body"},
		{TokenPath, `{}`, 400, "invalid_body"},
		{TokenPath, ``, 400, "invalid_body"},
		{TokenPath, `{"subject":` + strings.Repeat(" ", maxBody) + `"ada"}`, 400, "invalid_body"},
		{RevokePath, `{"token_id":"` + testID + `"}`, 204, ""},
		{RevokePath, `{"token_id":"another"}`, 403, "not_given"},
		{RevokePath, `{}`, 403, "not_given"},
		{RevokePath, `[]`, 400, "invalid_body"},
	} {
		rec := serve(t, edge(), requestWith(http.MethodPost, tt.path, tt.body))
		if rec.Code != tt.status || code(rec) != tt.code || rec.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("POST %s %.50s: got %d %s, want %d %s", tt.path, tt.body, rec.Code, rec.Body, tt.status, tt.code)
		}
	}
}

// Only the page may call: by its own name, from its own site.
func TestWhoMayCall(t *testing.T) {
	for _, path := range []string{TokenPath, RevokePath} {
		mayCall(t, path)
	}
}

func mayCall(t *testing.T, path string) {
	t.Helper()
	good := map[string]int{TokenPath: 200, RevokePath: 204}[path]
	for _, tt := range []struct {
		method, host, site string
		status             int
		code               string
	}{
		{"POST", "localhost", "same-origin", good, ""},
		{"POST", "localhost:1", "same-origin", good, ""},
		{"POST", "127.0.0.1", "same-origin", good, ""},
		{"POST", "[::1]:8080", "same-origin", good, ""},
		{"POST", "[::1]", "same-origin", good, ""},
		{"POST", "evil.example", "same-origin", 403, "local_only"},
		{"POST", "localhost.evil.example:8080", "same-origin", 403, "local_only"},
		{"POST", "127.0.0.2", "same-origin", 403, "local_only"},
		{"POST", "localhost", "cross-site", 403, "cross_site"},
		{"POST", "localhost", "same-site", 403, "cross_site"},
		{"POST", "localhost", "none", 403, "cross_site"},
		{"POST", "localhost", "", 403, "cross_site"},
		{"GET", "localhost", "same-origin", 405, "method_not_allowed"},
		{"OPTIONS", "localhost", "same-origin", 405, "method_not_allowed"},
	} {
		r := request(tt.method, path)
		r.Host = tt.host
		if r.Header.Set("Sec-Fetch-Site", tt.site); tt.site == "" {
			r.Header.Del("Sec-Fetch-Site")
		}
		rec := serve(t, edge(), r)
		if rec.Code != tt.status || code(rec) != tt.code || rec.Code >= 400 && strings.Contains(rec.Body.String(), testToken) ||
			rec.Code == 405 && rec.Header().Get("Allow") != "POST" || rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s of %s, %q: got %d %v %s", tt.method, path, tt.host, tt.site, rec.Code, rec.Header(), rec.Body)
		}
	}
}

// What cannot be had is said, without the reason, which is for the log.
func TestUnavailable(t *testing.T) {
	failed := errors.New("private")
	noCertificate, noToken := edge(), edge()
	noCertificate.Certificate = func(context.Context) (*x509.Certificate, error) { return nil, failed }
	noToken.Issue = func(context.Context, string) (Token, error) { return Token{}, failed }
	noToken.Revoke = func(context.Context, string) error { return failed }
	for name, c := range map[string]struct {
		edge Edge
		path string
	}{"no certificate": {noCertificate, TokenPath}, "no token": {noToken, TokenPath}, "no revocation": {noToken, RevokePath}} {
		rec := serve(t, c.edge, request(http.MethodPost, c.path))
		if rec.Code != 503 || code(rec) != "unavailable" || strings.Contains(rec.Body.String(), "private") {
			t.Errorf("%s: got %d %s, want 503 unavailable", name, rec.Code, rec.Body)
		}
	}
}

func TestFiles(t *testing.T) {
	for path, contentType := range map[string]string{
		"/":                 "text/html; charset=utf-8",
		"/?a=b":             "text/html; charset=utf-8",
		"/demo/explore":     "text/html; charset=utf-8",
		"/demo/live.js":     "text/javascript; charset=utf-8",
		"/demo/browser.js":  "text/javascript; charset=utf-8",
		"/demo/base.css":    "text/css; charset=utf-8",
		"/demo/icon.svg":    "image/svg+xml",
		"/demo/code/go.txt": "text/plain; charset=utf-8",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			rec := serve(t, edge(), request(method, path))
			if got := rec.Header().Get("Content-Type"); rec.Code != 200 || got != contentType {
				t.Errorf("%s %s: got %d %s, want 200 %s", method, path, rec.Code, got, contentType)
			}
		}
		rec := serve(t, edge(), request(http.MethodPost, path))
		if allow := rec.Header().Get("Allow"); rec.Code != 405 || code(rec) != "method_not_allowed" || allow != "GET, HEAD" {
			t.Errorf("POST %s: got %d, Allow %q", path, rec.Code, allow)
		}
		r := request(http.MethodGet, path)
		r.Host = "evil.example"
		if rec := serve(t, edge(), r); rec.Code != 403 || code(rec) != "local_only" {
			t.Errorf("%s of another host: got %d %s, want 403", path, rec.Code, rec.Body)
		}
	}
	for path, want := range map[string]int{
		"/demo/": 404, "/demo/index.html": 404, "/demo/page/live.js": 404, "/demo/../demo": 404, "/demo/%6cive.js": 404, "/demo/code": 404,
		"/index.html": 418, "/demonstration": 418, "/ws": 418, "/Demo": 418, "/%64emo": 418, "/demo": 302,
	} {
		rec := serve(t, edge(), request(http.MethodGet, path))
		if to := rec.Header().Get("Location"); rec.Code != want || (to == "/") != (want == 302) {
			t.Errorf("%s: got %d to %q, want %d", path, rec.Code, to, want)
		}
	}
	first := serve(t, edge(), request(http.MethodGet, PagePath))
	r := request(http.MethodGet, PagePath)
	r.Header.Set("If-None-Match", first.Header().Get("ETag"))
	if rec := serve(t, edge(), r); rec.Code != 304 {
		t.Errorf("with the entity tag: got %d, want 304", rec.Code)
	}
}

// Every answer has the policies, and none lets another origin read it.
func TestHeaders(t *testing.T) {
	for _, r := range []*http.Request{
		request(http.MethodGet, PagePath), request(http.MethodGet, "/demo/live.js"), request(http.MethodGet, ExplorePath), request(http.MethodGet, "/demo/none"),
		request(http.MethodPost, TokenPath), request(http.MethodOptions, TokenPath),
	} {
		header := serve(t, edge(), r).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self' http://localhost:8080 ws://localhost:8080 https://localhost:8443 wss://localhost:8443; " +
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Referrer-Policy":              "no-referrer",
			"X-Content-Type-Options":       "nosniff",
			"Access-Control-Allow-Origin":  "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", r.Method, r.URL, name, got, want)
			}
		}
	}
}

// The pages and their files load each other and the SDK alone, link to the edge and to our
// documentation, and hold nothing that the policy would stop.
func TestPageIsSelfContained(t *testing.T) {
	references := regexp.MustCompile(`(?:src|href)="([^"]*)"|from "\./([^"]*)"`)
	others := regexp.MustCompile(`<a href="(/console|/swagger-ui|https://github\.com/millrace/millrace[^"]*)"|href="/sdk/millrace.mjs"`)
	forbidden := regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|\sstyle=|\son\w+=|innerHTML|\beval\(|@import|(?-i:url)\(`)
	elsewhere := regexp.MustCompile(`https?://[a-z0-9]+(\.[a-z0-9]+)*`)
	for path, f := range files() {
		text := others.ReplaceAllString(string(f.data), "")
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			target := found[1]
			if target == "" {
				target = OldPath + "/" + found[2]
			}
			if rec := serve(t, edge(), request(http.MethodGet, target)); rec.Code != 200 {
				t.Errorf("%s refers to %s, which is answered %d", path, target, rec.Code)
			}
		}
		if found := forbidden.FindString(text); found != "" && !strings.HasPrefix(path, "/demo/code/") {
			t.Errorf("%s holds %q", path, found)
		}
		for _, found := range elsewhere.FindAllString(text, -1) {
			switch found {
			case "http://localhost", "https://localhost", "http://www.w3.org", "https://github.com":
			default:
				t.Errorf("%s names %s", path, found)
			}
		}
	}
}
