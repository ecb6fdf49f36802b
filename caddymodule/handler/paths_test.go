package handler

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/pubsub"
)

// TestPaths compares paths as the handlers do.
func TestPaths(t *testing.T) {
	next := errors.New("the next handler")
	for _, c := range []struct {
		path, request string
		status        int // 0: the next handler is called
	}{
		{"/ping", "/ping", 200},
		{"/ping", "/ping/", 404},
		{"/ping", "/PING", 404},
		{"/ping", "/%70ing", 0},
		{"/ping", "/", 0},
		{"/", "/", 200},
		{"/", "/?x", 200},
		{"/", "/ping", 0},
		{"/", "//", 0},
		{"/a/b", "/a/b/", 404},
	} {
		w := httptest.NewRecorder()
		err := (&Ping{Path: c.path}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+c.request, nil),
			caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return next }))
		if passed := errors.Is(err, next); passed != (c.status == 0) || !passed && w.Code != c.status {
			t.Errorf("%s at %s: %d, %v, want %d", c.request, c.path, w.Code, err, c.status)
		}
	}
}

// Pages of any origin may measure how far an edge is.
func TestPing(t *testing.T) {
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405} {
		w := httptest.NewRecorder()
		if err := (&Ping{Path: "/ping"}).ServeHTTP(w, httptest.NewRequest(method, "/ping?x=1", nil), nil); err != nil {
			t.Error(err)
		}
		h := w.Header()
		if w.Code != want || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Timing-Allow-Origin") != "*" {
			t.Errorf("%s: got %d %v, want %d for all origins", method, w.Code, h, want)
		}
		if method == "GET" && (w.Body.String() != "pong" || h.Get("Cache-Control") != "no-store") {
			t.Errorf("got %q %v, want pong, which nobody stores", w.Body, h)
		}
		w = httptest.NewRecorder()
		if err := (&Edges{Path: "/edges", List: []pubsub.Edge{{Host: "a"}}}).ServeHTTP(w, httptest.NewRequest(method, "/edges", nil), nil); err != nil {
			t.Error(err)
		}
		if h := w.Header(); w.Code != want || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Timing-Allow-Origin") != "*" {
			t.Errorf("%s /edges: got %d %v, want %d for all origins", method, w.Code, h, want)
		}
	}
}
