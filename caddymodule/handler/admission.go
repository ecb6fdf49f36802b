package handler

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

// await returns what serves a handshake. It answers 503 where the app gives nothing.
func await(w http.ResponseWriter, r *http.Request, a *app.App) *app.Running {
	live := a.Await(r.Context())
	if live == nil {
		problem.CountRefusal(http.StatusServiceUnavailable, problem.CodeStarting)
		problem.Starting(w)
	}
	return live
}

// refusal is why a client gets no session (docs/protocol.md, WebSocket).
type refusal struct {
	status        int
	code          string
	detail        string
	retryAfter    string // in seconds; empty: trying again does not help
	forbiddenWhat string // of 403: what is not allowed: of a token, or "client"
	reason        string // of a hook
}

// write answers a handshake.
func (f *refusal) write(w http.ResponseWriter) {
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	f.count()
	problem.Write(w, f.status, f.code, f.detail)
}

// count counts a client that is refused, but for one that is gone.
func (f *refusal) count() {
	if f != refusedGone {
		problem.CountRefusal(f.status, f.code)
	}
}

// wtRefusal is the answer to an AUTH line (docs/protocol.md, WebTransport). It counts as a
// handshake that is refused for the same reason.
func (f *refusal) wtRefusal() *wtconn.Refusal {
	f.count()
	switch {
	case f.status == http.StatusUnauthorized:
		return &wtconn.Refusal{Line: wire.AppendErr(nil, wire.CodeUnauthorized), Code: wire.CloseUnauthorized}
	case f.forbiddenWhat != "":
		parts := []string{f.forbiddenWhat}
		if f.reason != "" {
			parts = append(parts, f.reason)
		}
		return &wtconn.Refusal{Line: wire.AppendErr(nil, wire.CodeForbidden, parts...), Code: wire.CloseForbidden}
	}
	return &wtconn.Refusal{Code: wire.CloseTryLater, Reason: f.detail}
}

// tryLater is a refusal that may be over soon.
func tryLater(code, detail string) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: code, detail: detail, retryAfter: "5"}
}

var refusedForFailures = &refusal{
	status: http.StatusTooManyRequests, code: "too_many_failures",
	detail: "too many failed authentications from this address", retryAfter: "1",
}

// refusedByHub translates the errors with which a hub takes no connection.
func refusedByHub(err error) *refusal {
	switch {
	case errors.Is(err, pubsub.ErrDraining):
		return tryLater("draining", err.Error())
	case errors.Is(err, pubsub.ErrTokenFull):
		return tryLater("too_many_connections_of_token", err.Error())
	case errors.Is(err, pubsub.ErrSubjectFull):
		return tryLater("too_many_connections_of_subject", err.Error())
	case errors.Is(err, pubsub.ErrTenantFull):
		return tryLater("too_many_connections_of_tenant", err.Error())
	case errors.Is(err, pubsub.ErrAddressFull):
		return tryLater("too_many_connections_of_address", err.Error())
	case errors.Is(err, context.Canceled):
		return refusedGone
	case errors.Is(err, pubsub.ErrTooManyPending):
		return tryLater("too_many_unauthenticated", err.Error())
	case errors.Is(err, pubsub.ErrTooManyPendingPerIP):
		return &refusal{status: http.StatusTooManyRequests, code: "too_many_unauthenticated", detail: err.Error(), retryAfter: "5"}
	}
	return tryLater("too_many_connections", err.Error())
}

// refusedGone is for a client that is gone before it is decided about. It reads no
// answer, and counts nowhere.
var refusedGone = tryLater("unavailable", "the client is gone")

// refusedByHook translates the refusal of a hook.
func refusedByHook(r *hook.Refusal) *refusal {
	if r.Code == wire.CodeTryLater {
		return tryLater(string(r.Code), r.Reason)
	}
	return &refusal{
		status: http.StatusForbidden, code: "client_not_allowed", detail: cmp.Or(r.Reason, "the edge does not allow this client"),
		forbiddenWhat: "client", reason: r.Reason,
	}
}

// candidate is a client that asks for a session. It keeps nothing of the request
// that it came with.
type candidate struct {
	app     *app.App
	live    *app.Running
	faults  *zap.Logger // those of the app
	client  pubsub.Client
	origins []string // as the request had them
	secure  bool     // a token may be looked at on this connection
}

// addHandshake counts the client, which came with its token, among the handshakes that
// are under way, until done, which may be called repeatedly.
func (c candidate) addHandshake(ctx context.Context) (done func(), refused *refusal) {
	pending, err := c.live.Hub.AddHandshake(ctx, c.client)
	if err != nil {
		return nil, c.reportRefused(refusedByHub(err), nil)
	}
	return pending.Release, nil
}

// checkAvailable refuses clients whoever they are: the edge drains, or is full.
func (c candidate) checkAvailable() *refusal {
	if caddy.Exiting() {
		return c.reportRefused(refusedByHub(pubsub.ErrDraining), nil)
	}
	if err := c.live.Hub.Available(); err != nil {
		return c.reportRefused(refusedByHub(err), nil)
	}
	return nil
}

// reportRefused tells the hooks that the client gets no session, and why; access is what its
// token grants, nil if that is not known.
func (c candidate) reportRefused(refused *refusal, access *tokenstore.Access) *refusal {
	if refused == refusedGone {
		return refused
	}
	told := hook.RefusedClient{IP: c.client.IP, Transport: c.client.Transport, Status: refused.status, Code: refused.code}
	if access != nil {
		told.TokenID, told.Subject = access.ID, access.Subject
	}
	c.live.Hub.Refused(told)
	return refused
}

// admit checks the token and registers a session for it, in the order of
// docs/protocol.md, WebSocket, from too_many_failures on. The caller attaches a transport to
// the session, or ends it.
func (c candidate) admit(ctx context.Context, token string) (*pubsub.Session, *tokenstore.Access, *refusal) {
	session, access, refused := c.register(ctx, token)
	if refused != nil {
		return nil, nil, c.reportRefused(refused, access)
	}
	session.Connected()
	return session, access, nil
}

// register is admit without telling the hooks. It returns the access also of a client that
// it refuses, where its token is good.
func (c candidate) register(ctx context.Context, token string) (session *pubsub.Session, access *tokenstore.Access, refused *refusal) {
	access, err := c.app.Authenticate(ctx, c.live.Service, token, c.client.IP)
	if err != nil {
		return nil, nil, c.refuseToken(err)
	}
	if !c.secure {
		return nil, access, &refusal{status: http.StatusForbidden, code: "tls_required", detail: "tokens are accepted over HTTPS only"}
	}
	err = access.CheckConnection(tokenstore.Connection{
		IP:       c.client.IP,
		Origins:  c.origins,
		Protocol: c.client.Transport,
		Region:   c.app.Region,
	})
	if err != nil {
		var forbidden *tokenstore.ForbiddenError
		if !errors.As(err, &forbidden) {
			return nil, access, c.fault(err)
		}
		return nil, access, &refusal{
			status: http.StatusForbidden, code: forbidden.What + "_not_allowed",
			detail: "the token does not allow this " + forbidden.What, forbiddenWhat: forbidden.What,
		}
	}
	admitted, err := c.live.Hub.Admit(pubsub.Identity{
		TokenID:   strings.Clone(access.ID),
		Version:   access.Version,
		ExpiresAt: access.ExpiresAt,
		Rights:    access,
		Subject:   access.Subject,
		Info:      access.Info,
		Tenants:   access.Tenants,
		IngressKB: min(access.IngressKBPerSec, c.app.Bandwidth.Max), // the maximum may have been lowered
		EgressKB:  min(access.EgressKBPerSec, c.app.Bandwidth.Max),
	}, c.client)
	if err != nil {
		return nil, access, refusedByHub(err)
	}
	c.live.CountSession(c.client.Transport)
	defer func() { // also after a panic, which the server recovers from
		if session == nil {
			admitted.Detach()
		}
	}()
	if refusal := admitted.Authorize(ctx); refusal != nil {
		return nil, access, refusedByHook(refusal)
	}
	// A revocation reaches the session since it was admitted. One that came between
	// the check of the token and that shows in its record now.
	now, err := c.live.Service.Lookup(ctx, access.ID)
	if err != nil {
		return nil, access, c.refuseToken(err)
	}
	admitted.Renew(now.ExpiresAt, now.Version)
	return admitted, access, nil
}

func (c candidate) refuseToken(err error) *refusal {
	switch {
	case errors.Is(err, tokenstore.ErrTooManyFailures):
		return refusedForFailures
	case !errors.Is(err, tokenstore.ErrUnauthorized):
		return c.fault(err)
	}
	return &refusal{
		status: http.StatusUnauthorized, code: "unauthorized",
		detail: "a valid access token is needed: in Authorization: Bearer, or as the entry at.<token> beside " +
			wire.Subprotocol + " in " + map[string]string{
			tokenstore.ProtocolWebSocket:    "Sec-WebSocket-Protocol",
			tokenstore.ProtocolWebTransport: "WT-Available-Protocols",
		}[c.client.Transport],
	}
}

func (c candidate) fault(err error) *refusal {
	if errors.Is(err, context.Canceled) {
		return refusedGone
	}
	c.faults.Error("handshake failed", zap.String("transport", c.client.Transport), zap.Error(err))
	return tryLater("unavailable", "the token store is out of reach; try again")
}
