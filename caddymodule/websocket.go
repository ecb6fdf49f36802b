package caddymodule

import (
	"bufio"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/pubsub"
	wsconn "github.com/millrace/millrace/pubsub/websocket"
	"github.com/millrace/millrace/tokenstore"
	"go.uber.org/zap"
)

func init() { caddy.RegisterModule(new(WebSocket)) }

// subprotocol is what the edge speaks (docs/protocol.md, WebSocket).
const subprotocol = "llps.v1"

// WebSocket accepts publish/subscribe clients over WebSocket.
type WebSocket struct {
	// Path of the handshake. Default: `/ws`.
	Path string `json:"path,omitempty"`

	app *App
	log *zap.Logger
}

// CaddyModule implements [caddy.Module].
func (*WebSocket) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_websocket", New: func() caddy.Module { return new(WebSocket) }}
}

// Provision implements [caddy.Provisioner].
func (h *WebSocket) Provision(ctx caddy.Context) (err error) {
	h.log = ctx.Logger()
	h.app, err = provisionApp(ctx, &h.Path, "/ws")
	return err
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler]. The order of the checks is
// that of docs/protocol.md, section WebSocket.
func (h *WebSocket) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if served, err := elsewhere(w, r, h.Path, next); served {
		return err
	}
	offer, ok := h.checkRequest(w, r)
	if !ok {
		return nil
	}
	live := h.app.live(w, r)
	if live == nil {
		return nil
	}
	if caddy.Exiting() {
		h.refuseAdmission(w, pubsub.ErrDraining)
		return nil
	}
	if err := live.hub.Available(); err != nil {
		h.refuseAdmission(w, err)
		return nil
	}
	session, ok := h.admit(w, r, live, offer.token)
	if !ok {
		return nil
	}
	conn, err := upgrade(w, r, offer.subprotocol)
	if err != nil {
		session.End()
		if c := h.log.Check(zap.DebugLevel, "upgrade failed"); c != nil {
			c.Write(zap.Error(err))
		}
		return nil
	}
	// The request, and all that Caddy keeps with it, is let go of now.
	wsconn.Serve(live.hub, session, conn, liveLog("pubsub.websocket"))
	return nil
}

// offer is what a handshake asks for.
type offer struct {
	token       string // as it came; empty: none
	subprotocol bool   // llps.v1 was offered
}

// checkRequest answers what is no proper handshake: 405, 426, 400, 501.
func (h *WebSocket) checkRequest(w http.ResponseWriter, r *http.Request) (o offer, ok bool) {
	bad := func(detail string) (offer, bool) {
		refuse(w, http.StatusBadRequest, "bad_handshake", detail)
		return o, false
	}
	switch {
	case r.Method == http.MethodConnect:
		refuse(w, http.StatusNotImplemented, "not_implemented", "WebSocket is served over HTTP/1.1 alone")
		return o, false
	case r.Method != http.MethodGet:
		methodNotAllowed(w, http.MethodGet)
		return o, false
	case !websocket.IsWebSocketUpgrade(r), r.ProtoMajor != 1, !r.ProtoAtLeast(1, 1):
		if r.ProtoMajor == 1 { // RFC 9113, section 8.2.2, forbids them
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
		}
		refuse(w, http.StatusUpgradeRequired, "upgrade_required", "this path takes WebSocket handshakes over HTTP/1.1")
		return o, false
	case r.Header.Get("Sec-Websocket-Version") != "13":
		w.Header().Set("Sec-WebSocket-Version", "13") // RFC 6455, section 4.4
		refuse(w, http.StatusUpgradeRequired, "upgrade_required", "Sec-WebSocket-Version must be 13")
		return o, false
	case !validKey(r.Header["Sec-Websocket-Key"]):
		return bad("Sec-WebSocket-Key must be 16 bytes in base64, once")
	case r.ContentLength != 0:
		// Else net/http waits for the body before it sends the refusal.
		w.Header().Set("Connection", "close")
		return bad("a handshake has no body")
	}

	for _, p := range websocket.Subprotocols(r) {
		o.subprotocol = o.subprotocol || p == subprotocol
	}
	offered := offeredTokens(r, "Sec-Websocket-Protocol")
	headers := r.Header.Values("Authorization")
	switch {
	case len(offered) > 1:
		return bad("more than one at. entry in Sec-WebSocket-Protocol")
	case len(offered) == 1 && !o.subprotocol:
		return bad("an at. entry in Sec-WebSocket-Protocol needs " + subprotocol + " beside it")
	case len(headers) > 1:
		return bad("more than one Authorization header")
	case len(offered) == 1:
		o.token = offered[0]
	}
	if len(headers) == 1 {
		if scheme, token, _ := strings.Cut(headers[0], " "); strings.EqualFold(scheme, "Bearer") {
			o.token = strings.Trim(token, " ")
		}
	}
	return o, true
}

// admit checks the token and registers a session for it: 429, 401, 403, 503.
func (h *WebSocket) admit(w http.ResponseWriter, r *http.Request, live *running, token string) (*pubsub.Session, bool) {
	ip, _ := clientIP(r)
	if h.app.failures.blocked(ip) {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "too_many_failures", "too many failed authentications from this address")
		return nil, false
	}
	access, err := live.service.Authenticate(r.Context(), token)
	if err != nil {
		h.refuseToken(w, ip, err)
		return nil, false
	}
	if !h.app.secure(r) {
		refuse(w, http.StatusForbidden, "tls_required", "tokens are accepted over HTTPS only")
		return nil, false
	}
	err = access.CheckConnection(tokenstore.Connection{
		IP:       ip,
		Origins:  r.Header.Values("Origin"),
		Protocol: tokenstore.ProtocolWebSocket,
		Region:   h.app.Region,
	})
	if err != nil {
		var forbidden *tokenstore.ForbiddenError
		if !errors.As(err, &forbidden) {
			h.fault(w, err)
			return nil, false
		}
		refuse(w, http.StatusForbidden, forbidden.What+"_not_allowed", "the token does not allow this "+forbidden.What)
		return nil, false
	}
	session, err := live.hub.Admit(pubsub.Identity{
		TokenID:   strings.Clone(access.ID),
		Version:   access.Version,
		ExpiresAt: access.ExpiresAt,
		Rights:    access,
		IngressKB: min(access.IngressKBPerSec, h.app.Bandwidth.Max), // the maximum may have been lowered
		EgressKB:  min(access.EgressKBPerSec, h.app.Bandwidth.Max),
	}, pubsub.Client{IP: ip, Transport: tokenstore.ProtocolWebSocket})
	if err != nil {
		h.refuseAdmission(w, err)
		return nil, false
	}
	// From here on a revocation reaches the session. One that came since the
	// token was checked shows in its record now.
	if access, err = live.service.Lookup(r.Context(), access.ID); err != nil {
		session.End()
		h.refuseToken(w, ip, err)
		return nil, false
	}
	session.Renew(access.ExpiresAt, access.Version)
	return session, true
}

func (h *WebSocket) refuseToken(w http.ResponseWriter, ip netip.Addr, err error) {
	if !errors.Is(err, tokenstore.ErrUnauthorized) {
		h.fault(w, err)
		return
	}
	h.app.failures.failed(ip)
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized, "unauthorized", "a valid access token is needed: "+
		"in Authorization: Bearer, or as the entry at.<token> beside "+subprotocol+" in Sec-WebSocket-Protocol")
}

func (h *WebSocket) refuseAdmission(w http.ResponseWriter, err error) {
	code := map[error]string{
		pubsub.ErrDraining:  "draining",
		pubsub.ErrFull:      "too_many_connections",
		pubsub.ErrTokenFull: "too_many_connections_of_token",
	}[err]
	unavailable(w, err.Error(), code)
}

func (h *WebSocket) fault(w http.ResponseWriter, err error) {
	h.log.Error("handshake failed", zap.Error(err))
	unavailable(w, "the token store is out of reach; try again", "unavailable")
}

func validKey(values []string) bool {
	if len(values) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(values[0])
	return err == nil && len(key) == 16
}

// upgrade answers 101 and takes the connection over.
func upgrade(w http.ResponseWriter, r *http.Request, echo bool) (net.Conn, error) {
	u := websocket.Upgrader{
		// allowed_ws_origin of the token has decided already.
		CheckOrigin: func(*http.Request) bool { return true },
		// The frames are read and written by package pubsub/websocket.
		ReadBufferSize:  512,
		WriteBufferSize: 512,
	}
	if echo {
		u.Subprotocols = []string{subprotocol}
	}
	conn, err := u.Upgrade(hijacker{w}, r, nil)
	if err != nil {
		return nil, err
	}
	return conn.NetConn(), nil
}

// hijacker lets gorilla hijack at the innermost of Caddy's writers: those of
// `encode` do not implement it, and that of the access log would keep the
// request for as long as the connection lives.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	inner := h.ResponseWriter
	for {
		wrapper, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return http.NewResponseController(inner).Hijack()
		}
		inner = wrapper.Unwrap()
	}
}

var (
	_ caddy.Provisioner           = (*WebSocket)(nil)
	_ caddyhttp.MiddlewareHandler = (*WebSocket)(nil)
)
