package handler

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

func TestAllowPeer(t *testing.T) {
	client, proxy := netip.MustParseAddr("203.0.113.5"), netip.MustParseAddr("10.0.0.1")
	masks := func(ip netip.Addr) bool { return netip.MustParsePrefix("203.0.113.0/24").Contains(ip) }
	if allowPeer(nil, client, client) != nil || allowPeer(nil, client, proxy) != nil {
		t.Error("a token without masks is held to an address")
	}
	for _, c := range []struct {
		name  string
		peer  netip.Addr
		now   string
		allow bool
	}{
		{"direct, inside", client, "203.0.113.77", true},
		{"direct, outside", client, "10.0.0.1", false},
		{"by a proxy, there still", proxy, "10.0.0.1", true},
		{"by a proxy, there still, mapped", proxy, "::ffff:10.0.0.1", true},
		{"by a proxy, at another", proxy, "10.0.0.2", false},
		{"by a proxy, inside the masks", proxy, "203.0.113.5", false},
	} {
		if got := allowPeer(masks, client, c.peer)(netip.MustParseAddr(c.now)); got != c.allow {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRefusalOfAUTH keeps the answers to an AUTH line in step with those to a
// handshake (docs/protocol.md, WebTransport).
func TestRefusalOfAUTH(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      *refusal
		status int
		line   string
		code   wire.CloseCode
	}{
		{"token", candidate{}.refuseToken(tokenstore.ErrUnauthorized), 401, "ERR:unauthorized", wire.CloseUnauthorized},
		{"address", &refusal{status: 403, forbiddenWhat: "ip"}, 403, "ERR:forbidden:ip", wire.CloseForbidden},
		{"draining", refusedByHub(pubsub.ErrDraining), 503, "", wire.CloseTryLater},
		{"full", refusedByHub(pubsub.ErrFull), 503, "", wire.CloseTryLater},
		{"per token", refusedByHub(pubsub.ErrTokenFull), 503, "", wire.CloseTryLater},
		{"failures", refusedForFailures, 429, "", wire.CloseTryLater},
		{"unauthenticated", refusedByHub(pubsub.ErrTooManyPending), 503, "", wire.CloseTryLater},
		{"unauthenticated of one address", refusedByHub(pubsub.ErrTooManyPendingPerIP), 429, "", wire.CloseTryLater},
	} {
		w := httptest.NewRecorder()
		c.f.write(w)
		if w.Code != c.status || (w.Header().Get("Retry-After") != "") != (c.code == wire.CloseTryLater) {
			t.Errorf("%s: answered %d with %v", c.name, w.Code, w.Header())
		}
		closed := c.f.wtRefusal()
		if string(closed.Line) != c.line || closed.Code != c.code {
			t.Errorf("%s: %q, close %d", c.name, closed.Line, closed.Code)
		}
	}
}

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
