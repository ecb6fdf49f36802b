package handler

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
)

// TestWebTransportRefusals are the answers that need neither an edge nor QUIC.
func TestWebTransportRefusals(t *testing.T) {
	request := func(method, proto string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "https://localhost/wt", nil)
		r.Method = method // that of an extended CONNECT has a path
		r.Proto, r.ProtoMajor = proto, 3
		return r
	}
	early := request(http.MethodConnect, "webtransport-h3")
	early.TLS.HandshakeComplete = false
	behind := request(http.MethodConnect, "webtransport-h3")
	behind.Header.Set("Early-Data", "1")
	over2 := request(http.MethodConnect, "webtransport-h3")
	over2.ProtoMajor = 2
	for _, c := range []struct {
		name   string
		r      *http.Request
		status int
		allow  string
	}{
		{"early data", early, http.StatusTooEarly, ""},
		{"early data of a proxy", behind, http.StatusTooEarly, ""},
		{"GET", request(http.MethodGet, "HTTP/3.0"), http.StatusMethodNotAllowed, http.MethodConnect},
		{"CONNECT of a proxy", request(http.MethodConnect, "HTTP/3.0"), http.StatusNotImplemented, ""},
		{"WebSocket over HTTP/3", request(http.MethodConnect, "websocket"), http.StatusNotImplemented, ""},
		{"over HTTP/2", over2, http.StatusNotImplemented, ""},
		{"to a server that was not taken over", request(http.MethodConnect, "webtransport-h3"), http.StatusNotImplemented, ""},
	} {
		w := httptest.NewRecorder()
		h := WebTransport{Path: "/wt", app: new(app.App)}
		if err := h.ServeHTTP(w, c.r, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if w.Code != c.status || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s: %d, Allow %q", c.name, w.Code, w.Header().Get("Allow"))
		}
		if !json.Valid(w.Body.Bytes()) { // the answer is one
			t.Errorf("%s: answered %s", c.name, w.Body)
		}
	}
}

func TestWebTransportOff(t *testing.T) {
	next := errors.New("the next handler")
	h := WebTransport{Path: "/wt", app: &app.App{WebTransport: "off"}}
	for _, path := range []string{"/wt", "/WT", "/else"} {
		err := h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil),
			caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return next }))
		if err != next {
			t.Errorf("%s was not passed on: %v", path, err)
		}
	}
}

// With the option for fastpubsub-sdk, sessions at / are the handler's, and nothing else there.
func TestSessionsAtTheRoot(t *testing.T) {
	passed := errors.New("the next handler")
	for _, c := range []struct {
		method, proto, path string
		on, ours            bool
	}{
		{http.MethodConnect, "webtransport", "/", true, true},
		{http.MethodConnect, "webtransport-h3", "/", true, true},
		{http.MethodConnect, "webtransport", "/wt", true, true},
		{http.MethodConnect, "webtransport", "/", false, false},
		{http.MethodConnect, "websocket", "/", true, false},
		{http.MethodGet, "HTTP/3.0", "/", true, false},
		{http.MethodConnect, "webtransport", "/other", true, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "https://localhost"+c.path, nil)
		r.Method, r.Proto, r.ProtoMajor = c.method, c.proto, 3
		w := httptest.NewRecorder()
		h := WebTransport{Path: "/wt", FastpubsubSDK: c.on, app: new(app.App)}
		err := h.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return passed }))
		// There is no QUIC beneath it, which is the handler's answer.
		if ours := err == nil && w.Code == http.StatusNotImplemented; ours != c.ours {
			t.Errorf("%s %s with %s: %d, %v", c.method, c.path, c.proto, w.Code, err)
		}
	}
}
