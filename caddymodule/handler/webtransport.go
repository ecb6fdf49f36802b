package handler

import (
	"context"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/credentials"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { caddy.RegisterModule(new(WebTransport)) }

// WebTransport accepts publish/subscribe clients over WebTransport. The edge
// serves all HTTP/3 of the handler's server in Caddy's place then, if it has TLS
// and HTTP/3 at all; else a warning says why not, and the rest of the server works.
type WebTransport struct {
	// Path of the handshake. Default: `/wt`.
	Path string `json:"path,omitempty"`

	// FastpubsubSDK also serves sessions at `/`, in the framing of the crate
	// fastpubsub-sdk (docs/protocol.md, fastpubsub-sdk). Other requests for `/` are
	// passed on. Default: false.
	FastpubsubSDK bool `json:"fastpubsub_sdk,omitempty"`

	app *app.App
	log *zap.Logger
}

// CaddyModule implements [caddy.Module].
func (*WebTransport) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_webtransport", New: func() caddy.Module { return new(WebTransport) }}
}

// Provision implements [caddy.Provisioner].
func (h *WebTransport) Provision(ctx caddy.Context) (err error) {
	h.log = ctx.Logger()
	if h.app, err = provisionApp(ctx, h, &h.Path, "/wt"); err != nil {
		return err
	}
	h.app.ClaimHTTP3(ctx)
	return nil
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler]. The order of the checks is
// that of docs/protocol.md, section WebTransport.
func (h *WebTransport) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if h.app.WebTransport == "off" {
		return guard.PassOn(w, r, next)
	}
	kinds := h.isForSDK(r)
	if !kinds {
		if served, err := passThrough(w, r, h.Path, next); served {
			return err
		}
	}
	defer guard.Own(r)()
	t := begin(w, r, h.app, tokenstore.ProtocolWebTransport)
	entry, ok := checkEntry(t)
	if !ok {
		return nil
	}
	token, given, wrong := credentials.Offered(r, "WT-Available-Protocols", credentials.WebTransportOffers(r))
	if wrong != "" {
		t.refuse(http.StatusBadRequest, "bad_handshake", wrong)
		return nil
	}
	live := t.await()
	if live == nil {
		return nil
	}
	// In both cases the request, and all that Caddy keeps with it, is let go of
	// when the session has begun.
	upgrade := func() (wtconn.Conn, bool) {
		conn, ok := h.upgrade(t, entry)
		conn.Kinds = kinds
		return conn, ok
	}
	if c := h.candidate(t, live, entry); given {
		h.serve(t, c, upgrade, token)
	} else {
		h.await(t, c, upgrade)
	}
	return nil
}

// isForSDK reports whether a request is one of fastpubsub-sdk for a session.
func (h *WebTransport) isForSDK(r *http.Request) bool {
	return h.FastpubsubSDK && r.URL.EscapedPath() == "/" && r.Method == http.MethodConnect && isSession(r)
}

// isSession reports whether a CONNECT asks for a session.
func isSession(r *http.Request) bool {
	return r.ProtoMajor == 3 && (r.Proto == "webtransport" || r.Proto == "webtransport-h3")
}

// checkEntry answers what is no request for a session: 425, 405, 501.
func checkEntry(t attempt) (*takeover.Entry, bool) {
	r := t.r
	if rest.TooEarly(r) {
		// Early data may be a replay, and its address is not verified.
		t.refuse(http.StatusTooEarly, string(rest.CodeTooEarly), "a session cannot be opened with TLS early data")
		return nil, false
	}
	if r.Method != http.MethodConnect {
		t.refuseMethod(http.MethodConnect)
		return nil, false
	}
	if !isSession(r) {
		t.refuse(http.StatusNotImplemented, "not_implemented", "this path takes WebTransport over HTTP/3 alone")
		return nil, false
	}
	entry, ok := takeover.EntryOf(r)
	if !ok {
		t.refuse(http.StatusNotImplemented, "not_implemented", "this server has no WebTransport: use WebSocket")
		return nil, false
	}
	return entry, true
}

func (h *WebTransport) candidate(t attempt, live *app.Running, entry *takeover.Entry) admission.Candidate {
	client := t.client
	client.Listener = entry.Listener()
	var origins []string
	for _, o := range t.r.Header.Values("Origin") {
		origins = append(origins, strings.Clone(o))
	}
	return admission.Candidate{
		Edge:   h.app.Admission(live),
		Client: client, Origins: origins, Secure: true, Peer: entry.Peer(), Closing: entry.Closing,
	}
}

// serve opens the session of a client that sent its token in the handshake.
func (h *WebTransport) serve(t attempt, c admission.Candidate, upgrade func() (wtconn.Conn, bool), token string) {
	a, refused := c.Open(t.r.Context(), token)
	if refused != nil {
		t.answer(refused)
		return
	}
	served := false
	defer func() { // also after a panic, which the server recovers from
		if !served {
			a.Session.Detach()
		}
	}()
	if conn, ok := upgrade(); ok {
		wtconn.Serve(c.Hub, a, conn, guest.LiveLog("pubsub.webtransport"))
		served = true
	}
}

// await opens the session of a client that is going to send its token.
func (h *WebTransport) await(t attempt, c admission.Candidate, upgrade func() (wtconn.Conn, bool)) {
	pending, refused := c.Await()
	if refused != nil {
		t.answer(refused)
		return
	}
	served := false
	defer func() {
		if !served {
			pending.Release()
		}
	}()
	if conn, ok := upgrade(); ok {
		wtconn.ServePending(c.Hub, pending, conn, func(ctx context.Context, token string) (wtconn.Admission, *wtconn.Refusal) {
			a, refused := c.Auth(ctx, pending, token)
			if refused == nil {
				return a, nil
			}
			countRefusal(refused)
			return wtconn.Admission{}, refused.WebTransport()
		}, c.NotAuthenticated, guest.LiveLog("pubsub.webtransport"))
		served = true
	}
}

func (h *WebTransport) upgrade(t attempt, entry *takeover.Entry) (wtconn.Conn, bool) {
	conn, err := entry.Upgrade(t.w, t.r)
	if err == nil {
		return conn, true
	}
	if c := h.log.Check(zap.DebugLevel, "upgrade failed"); c != nil {
		c.Write(zap.Error(err))
	}
	if entry.Closing() {
		t.answer(admission.RefusedByHub(pubsub.ErrDraining))
	} else {
		t.refuse(http.StatusBadRequest, "bad_handshake", "the client's HTTP/3 settings allow no (further) WebTransport session")
	}
	return conn, false
}

var (
	_ caddy.Provisioner           = (*WebTransport)(nil)
	_ caddyhttp.MiddlewareHandler = (*WebTransport)(nil)
)
