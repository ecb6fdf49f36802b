package handler

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/gorilla/websocket"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/credentials"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/admission"
	wsconn "github.com/millrace/millrace/pubsub/websocket"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

func init() { caddy.RegisterModule(new(WebSocket)) }

// WebSocket accepts publish/subscribe clients over WebSocket.
type WebSocket struct {
	// Path of the handshake. Default: `/ws`.
	Path string `json:"path,omitempty"`

	app *app.App
	log *zap.Logger
}

// CaddyModule implements [caddy.Module].
func (*WebSocket) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_websocket", New: func() caddy.Module { return new(WebSocket) }}
}

// Provision implements [caddy.Provisioner].
func (h *WebSocket) Provision(ctx caddy.Context) (err error) {
	h.log = ctx.Logger()
	h.app, err = provisionApp(ctx, h, &h.Path, "/ws")
	return err
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler]. The order of the checks is
// that of docs/protocol.md, section WebSocket.
func (h *WebSocket) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if served, err := passThrough(w, r, h.Path, next); served {
		return err
	}
	defer guard.Own(r)()
	t := begin(w, r, h.app, tokenstore.ProtocolWebSocket)
	offer, ok := h.checkRequest(&t)
	if !ok {
		return nil
	}
	live := t.await()
	if live == nil {
		return nil
	}
	opened, refused := admission.Candidate{
		Edge:    h.app.Admission(live),
		Client:  t.client,
		Origins: r.Header.Values("Origin"),
		Secure:  secure(r, h.app),
	}.Open(r.Context(), offer.token)
	if refused != nil {
		t.answer(refused)
		return nil
	}
	session := opened.Session
	served := false
	defer func() { // also after a panic, which the server recovers from
		if !served {
			session.Detach()
		}
	}()
	subprotocol := ""
	if offer.subprotocol {
		subprotocol = wire.Subprotocol
	}
	conn, early, err := upgrade(w, r, subprotocol)
	if err != nil {
		if c := h.log.Check(zap.DebugLevel, "upgrade failed"); c != nil {
			c.Write(zap.Error(err))
		}
		return nil
	}
	guard.MarkUpgraded(w, http.StatusSwitchingProtocols)
	// The request, and all that Caddy keeps with it, is let go of now.
	wsconn.Serve(live.Hub, session, conn, early, sessionLog)
	served = true
	return nil
}

// sessionLog is shared by all sessions: one logger each would be 150 bytes.
var sessionLog = guest.LiveLog("pubsub.websocket")

// offer is what a handshake asks for.
type offer struct {
	token       string // as it came; empty: none
	subprotocol bool   // llps.v1 was offered
}

// checkRequest answers what is no proper handshake: 425, 405, 426, 400, 501.
func (h *WebSocket) checkRequest(t *attempt) (o offer, ok bool) {
	w, r := t.w, t.r
	bad := func(detail string) (offer, bool) {
		t.refuse(http.StatusBadRequest, "bad_handshake", detail)
		return o, false
	}
	switch {
	case rest.TooEarly(r):
		t.refuse(http.StatusTooEarly, string(rest.CodeTooEarly), "a session cannot be opened with TLS early data")
		return o, false
	case r.Method == http.MethodConnect:
		t.refuse(http.StatusNotImplemented, "not_implemented", "WebSocket is served over HTTP/1.1 alone")
		return o, false
	case r.Method != http.MethodGet:
		t.refuseMethod(http.MethodGet)
		return o, false
	case !websocket.IsWebSocketUpgrade(r), r.ProtoMajor != 1, !r.ProtoAtLeast(1, 1):
		if r.ProtoMajor == 1 { // RFC 9113, section 8.2.2, forbids them
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
		}
		t.refuse(http.StatusUpgradeRequired, "upgrade_required", "this path takes WebSocket handshakes over HTTP/1.1; "+
			"a proxy in front of the edge must speak that to it, and pass on Upgrade and Connection")
		return o, false
	case r.Header.Get("Sec-Websocket-Version") != "13":
		w.Header().Set("Sec-WebSocket-Version", "13") // RFC 6455, section 4.4
		t.refuse(http.StatusUpgradeRequired, "upgrade_required", "Sec-WebSocket-Version must be 13")
		return o, false
	case !validKey(r.Header["Sec-Websocket-Key"]):
		return bad("Sec-WebSocket-Key must be 16 bytes in base64, once")
	case r.ContentLength != 0:
		// Else net/http waits for the body before it sends the refusal.
		w.Header().Set("Connection", "close")
		return bad("a handshake has no body")
	}

	if credentials.WebSocketTakesRefusals(r) {
		t.inside = t.refuseInside
	}
	o.subprotocol = credentials.WebSocketOffers(r)
	var wrong string
	if o.token, _, wrong = credentials.Offered(r, "Sec-WebSocket-Protocol", o.subprotocol); wrong != "" {
		return bad(wrong)
	}
	return o, true
}

// upgradeTime is how long the answer 101 may take to write.
const upgradeTime = 5 * time.Second

func validKey(values []string) bool {
	if len(values) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(values[0])
	return err == nil && len(key) == 16
}

// refuseInside accepts the WebSocket of a client that could not see why it was refused, and tells it there.
// Meanwhile the connection counts as one without a session, as while it was a request.
func (t attempt) refuseInside(f *admission.Refusal) bool {
	conn, _, err := upgrade(t.w, t.r, wire.SubprotocolRefusal)
	if err != nil {
		return true // it is gone, or was answered
	}
	guard.MarkUpgraded(t.w, f.Status)
	takeover.CountTCP(conn, http.StateNew)
	defer takeover.CountTCP(conn, http.StateClosed)
	line, code := f.WebSocket(t.client.ConnectionID)
	wsconn.Refuse(conn, line, code)
	return true
}

// upgrade answers 101 and takes the connection over. early is what the client sent
// before it had the answer, at most a buffer of net/http: it should have waited
// (RFC 6455, section 4.1), and is answered all the same.
func upgrade(w http.ResponseWriter, r *http.Request, subprotocol string) (conn net.Conn, early []byte, err error) {
	u := websocket.Upgrader{
		// allowed_ws_origin of the token has decided already.
		CheckOrigin:      func(*http.Request) bool { return true },
		HandshakeTimeout: upgradeTime,
		// No buffers: the frames are read and written by package pubsub/websocket.
	}
	if subprotocol != "" {
		u.Subprotocols = []string{subprotocol}
	}
	h := &hijacker{ResponseWriter: w}
	upgraded, err := u.Upgrade(h, r, http.Header{wire.HeaderConnectionID: w.Header()[wire.HeaderConnectionID]})
	if err != nil {
		return nil, nil, err
	}
	return upgraded.NetConn(), h.early, nil
}

// hijacker lets gorilla hijack at the innermost of Caddy's writers: those of
// `encode` do not implement it, and that of the access log would keep the
// request for as long as the connection lives. It keeps what came behind the
// request, for which gorilla would close the connection.
type hijacker struct {
	http.ResponseWriter
	early []byte
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	inner := h.ResponseWriter
	for {
		wrapper, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if ok {
			inner = wrapper.Unwrap()
			continue
		}
		conn, buffers, err := http.NewResponseController(inner).Hijack()
		if err != nil {
			return nil, nil, err
		}
		if n := buffers.Reader.Buffered(); n > 0 {
			h.early = make([]byte, n)
			_, _ = io.ReadFull(buffers, h.early) // it is there
		}
		return conn, buffers, nil
	}
}

var (
	_ caddy.Provisioner           = (*WebSocket)(nil)
	_ caddyhttp.MiddlewareHandler = (*WebSocket)(nil)
)
