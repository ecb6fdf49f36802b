package handler

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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
