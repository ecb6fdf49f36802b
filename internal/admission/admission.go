// Package admission decides which clients get a session, in the order of docs/protocol.md,
// section WebSocket: is there room, is the token valid, does it allow this client, do the
// limits and the hooks. It knows no server: what serves HTTP asks it.
package admission

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

// Edge is what admits clients. Its fields do not change; it may be used concurrently.
type Edge struct {
	Hub          *pubsub.Hub
	Tokens       *tokenstore.Service
	Failures     *FailureLimiter
	Region       string                 // empty: none is set
	MaxKBPerSec  int                    // highest cap of a connection, in KB/s
	Exiting      func() bool            // reports whether the process ends; nil: never
	MemoryShort  func() bool            // reports whether the process has no memory for more connections; nil: never
	CountSession func(transport string) // is called for each session; may be nil
	Log          *zap.Logger            // of faults of the token store
}

// Refusal is why a client gets no session (docs/protocol.md, WebSocket).
type Refusal struct {
	Status     int
	Code       string
	Detail     string
	RetryAfter string // in seconds; empty: trying again does not help

	forbiddenWhat string // of 403: what is not allowed: of a token, or "client"
	reason        string // of a hook
	ended         string // of 401: how the token has ended, for a client that has its secret; empty: it has not

	// For operators alone.
	truth    string             // why; empty: Detail says it
	rule     string             // that decided; empty: none
	tokenID  string             // that the client named
	access   *tokenstore.Access // of that token; nil: there is none
	verified bool               // the client has its secret
}

// of is a refusal of a client that has the secret of a token.
func (f *Refusal) of(a *tokenstore.Access) *Refusal {
	if f == refusedGone {
		return f
	}
	known := *f // it may be shared
	known.tokenID, known.access, known.verified = a.ID, a, true
	return &known
}

// Gone reports whether the client is gone before it is decided about. It reads no answer,
// and counts nowhere.
func (f *Refusal) Gone() bool { return f == refusedGone }

// Write answers a handshake.
func (f *Refusal) Write(w http.ResponseWriter) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	rest.WriteProblem(w, rest.Problem{
		Status: f.Status, Code: f.Code, Detail: f.Detail, ConnectionID: w.Header().Get(wire.HeaderConnectionID),
	})
}

// maxDetail is how many bytes of a detail the ERR line of [Refusal.WebSocket] has: with the rest it is
// within [wire.MaxLine].
const maxDetail = 512

// WebSocket is the answer inside a WebSocket that was accepted in order to refuse it
// (docs/protocol.md, WebSocket): the ERR line, and the code of the close.
func (f *Refusal) WebSocket(id wire.ConnectionID) (line []byte, code wire.CloseCode) {
	switch f.Status {
	case http.StatusUnauthorized:
		code = wire.CloseUnauthorized
	case http.StatusForbidden:
		code = wire.CloseForbidden
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		code = wire.CloseTryLater
	default:
		code = wire.ClosePolicy
	}
	detail := strings.ToValidUTF8(f.Detail[:min(len(f.Detail), maxDetail)], "")
	return wire.AppendConnection(wire.AppendErr(nil, wire.Code(f.Code), detail), id), code
}

// WebTransport is the answer to an AUTH line (docs/protocol.md, WebTransport).
func (f *Refusal) WebTransport() *wtconn.Refusal {
	switch {
	case f.Status == http.StatusUnauthorized:
		var parts []string
		if f.ended != "" {
			parts = append(parts, f.ended)
		}
		return &wtconn.Refusal{Line: wire.AppendErr(nil, wire.CodeUnauthorized, parts...), Code: wire.CloseUnauthorized}
	case f.forbiddenWhat != "":
		parts := []string{f.forbiddenWhat}
		if f.reason != "" {
			parts = append(parts, f.reason)
		}
		return &wtconn.Refusal{Line: wire.AppendErr(nil, wire.CodeForbidden, parts...), Code: wire.CloseForbidden}
	}
	return &wtconn.Refusal{Code: wire.CloseTryLater, Reason: f.Detail}
}

// tryLater is a refusal that may be over soon.
func tryLater(code, detail string) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Code: code, Detail: detail, RetryAfter: "5"}
}

// RefusedByHub translates the errors with which a hub takes no connection.
func RefusedByHub(err error) *Refusal {
	refused := refusalOf(err)
	if refused != refusedGone {
		refused.rule = limitOf[refused.Code]
	}
	return refused
}

// limitOf is the setting of the edge that decided, by code.
var limitOf = map[string]string{
	"too_many_connections": "limits max_connections, or the files and the memory of the process", "too_many_connections_of_token": "limits max_connections_per_token",
	"too_many_connections_of_subject": "limits max_connections_per_subject", "too_many_connections_of_tenant": "limits max_connections_per_tenant",
	"too_many_connections_of_address": "limits max_connections_per_address", "too_many_connections_of_issuer": "limits issuer_share",
	"too_many_rights": "the memory for rights, half of it for a tenant", "too_many_unauthenticated": "handshakes under way on the edge, and from an address",
}

func refusalOf(err error) *Refusal {
	switch {
	case errors.Is(err, pubsub.ErrDraining):
		return tryLater("draining", err.Error())
	case errors.Is(err, pubsub.ErrTokenFull):
		return tryLater("too_many_connections_of_token", err.Error())
	case errors.Is(err, pubsub.ErrSubjectFull):
		return tryLater("too_many_connections_of_subject", err.Error())
	case errors.Is(err, pubsub.ErrIssuerFull):
		return tryLater("too_many_connections_of_issuer", err.Error())
	case errors.Is(err, pubsub.ErrTenantFull):
		return tryLater("too_many_connections_of_tenant", err.Error())
	case errors.Is(err, pubsub.ErrRightsFull):
		return tryLater("too_many_rights", err.Error())
	case errors.Is(err, pubsub.ErrAddressFull):
		return tryLater("too_many_connections_of_address", err.Error())
	case errors.Is(err, context.Canceled):
		return refusedGone
	case errors.Is(err, pubsub.ErrTooManyPending):
		return tryLater("too_many_unauthenticated", err.Error())
	case errors.Is(err, pubsub.ErrTooManyPendingPerIP):
		return &Refusal{Status: http.StatusTooManyRequests, Code: "too_many_unauthenticated", Detail: err.Error(), RetryAfter: "5"}
	}
	return tryLater("too_many_connections", err.Error())
}

var refusedGone = tryLater("unavailable", "the client is gone")

// refusedByHook translates the refusal of a hook.
func refusedByHook(r *pubsub.HookRefusal) *Refusal {
	rule := ""
	if r.Hook != "" {
		rule = "hook " + r.Hook
	}
	if r.Code == wire.CodeTryLater {
		refused := tryLater(string(r.Code), r.Reason)
		refused.rule = rule
		return refused
	}
	return &Refusal{
		rule:   rule,
		Status: http.StatusForbidden, Code: "client_not_allowed", Detail: cmp.Or(r.Reason, "the edge does not allow this client"),
		forbiddenWhat: "client", reason: r.Reason,
	}
}

// Candidate is a client that asks for a session. It should keep nothing of the request
// that it came with.
type Candidate struct {
	*Edge
	Client  pubsub.Client
	Origins []string    // as the request had them
	Secure  bool        // a token may be looked at on this connection
	Peer    netip.Addr  // who is at the other end of the connection: the client, or a proxy
	Closing func() bool // reports whether its listener closes; nil: never
}

// Open admits a client that came with its token, which may be any text. The caller attaches
// a transport to the session, or ends it.
func (c Candidate) Open(ctx context.Context, token string) (wtconn.Admission, *Refusal) {
	if refused := c.checkAvailable(); refused != nil {
		return wtconn.Admission{}, refused
	}
	pending, err := c.Hub.AddHandshake(ctx, c.Client)
	if err != nil {
		return wtconn.Admission{}, c.Report(ctx, RefusedByHub(err))
	}
	defer pending.Release()
	return c.admit(ctx, pending, token)
}

// Await registers a client that is going to send its token. The caller calls Auth with it,
// and releases it in any case.
func (c Candidate) Await() (*pubsub.PendingConn, *Refusal) {
	if refused := c.checkAvailable(); refused != nil {
		return nil, refused
	}
	pending, err := c.Hub.AddPending(c.Client)
	if err != nil {
		return nil, c.Report(context.Background(), RefusedByHub(err))
	}
	return pending, nil
}

// Auth admits a client that was waited for.
func (c Candidate) Auth(ctx context.Context, pending *pubsub.PendingConn, token string) (wtconn.Admission, *Refusal) {
	if refused := c.checkAvailable(); refused != nil {
		return wtconn.Admission{}, refused
	}
	a, refused := c.admit(ctx, pending, token)
	if refused == nil && c.closing() {
		a.Session.Detach() // it may have missed the others' farewell
		return wtconn.Admission{}, RefusedByHub(pubsub.ErrDraining)
	}
	return a, refused
}

// NotAuthenticated tells operators of a client that was waited for and sent no token.
func (c Candidate) NotAuthenticated(reason string) {
	refused := c.refuseToken(&tokenstore.UnauthorizedError{Reason: reason})
	c.Report(context.Background(), refused)
}

func (c Candidate) closing() bool { return c.Closing != nil && c.Closing() }

// checkAvailable refuses clients whoever they are: the edge or their listener drains, or
// the edge is full.
func (c Candidate) checkAvailable() *Refusal {
	if c.closing() || c.Exiting != nil && c.Exiting() {
		return c.Report(context.Background(), RefusedByHub(pubsub.ErrDraining))
	}
	err := c.Hub.AvailableFor(c.Client.Cost)
	if err == nil && c.MemoryShort != nil && c.MemoryShort() {
		err = pubsub.ErrMemoryFull
	}
	if err != nil {
		return c.Report(context.Background(), RefusedByHub(err))
	}
	return nil
}

// Report tells operators and hooks that the client gets no session, and why.
func (c Candidate) Report(ctx context.Context, refused *Refusal) *Refusal {
	if refused == refusedGone {
		return refused
	}
	told := hook.RefusedClient{
		ConnectionID: c.Client.ConnectionID, IP: c.Client.IP, Transport: c.Client.Transport, Status: refused.Status, Code: refused.Code,
		Reason: cmp.Or(refused.truth, refused.Detail), Rule: refused.rule, TokenID: refused.tokenID, Verified: refused.verified,
	}
	if a := refused.access; a != nil {
		told.Subject, told.Tenants, told.Issuer = a.Subject, a.Tenants, c.Tokens.IssuerOf(ctx, a)
	}
	c.Hub.Refused(told)
	return refused
}

// admit checks the token and registers a session for it, in the order of
// docs/protocol.md, WebSocket, from too_many_failures on.
func (c Candidate) admit(ctx context.Context, pending *pubsub.PendingConn, token string) (wtconn.Admission, *Refusal) {
	session, access, refused := c.register(ctx, pending, token)
	if refused != nil {
		if access != nil {
			refused = refused.of(access)
		}
		return wtconn.Admission{}, c.Report(ctx, refused)
	}
	session.Connected()
	return wtconn.Admission{Session: session, AllowPeer: allowPeer(access.AllowedIPs(), c.Client.IP, c.Peer)}, nil
}

// register is admit without telling the hooks. It returns the access also of a client that
// it refuses, where its token is good.
func (c Candidate) register(ctx context.Context, pending *pubsub.PendingConn, token string) (session *pubsub.Session, access *tokenstore.Access, refused *Refusal) {
	access, err := c.Failures.Authenticate(ctx, c.Tokens, token, c.Client.IP)
	if err != nil {
		return nil, nil, c.refuseToken(err)
	}
	if cost := access.TakeCost(); cost > 0 {
		c.Hub.ChargeRight(access.Tenants, c.Tokens.IssuerOf(ctx, access), cost)
	}
	if !c.Secure {
		return nil, access, &Refusal{Status: http.StatusForbidden, Code: "tls_required", Detail: "tokens are accepted over HTTPS only", rule: "allow_plaintext off"}
	}
	err = access.CheckConnection(tokenstore.Connection{
		IP:       c.Client.IP,
		Origins:  c.Origins,
		Protocol: c.Client.Transport,
		Region:   c.Region,
	})
	if err != nil {
		var forbidden *tokenstore.ForbiddenError
		if !errors.As(err, &forbidden) {
			return nil, access, c.fault(err)
		}
		return nil, access, &Refusal{
			Status: http.StatusForbidden, Code: forbidden.What + "_not_allowed",
			Detail: "the token does not allow this " + forbidden.What, forbiddenWhat: forbidden.What,
			truth: forbidden.Reason, rule: forbidden.Rule,
		}
	}
	admitted, err := c.Hub.Admit(pubsub.Identity{
		TokenID:   strings.Clone(access.ID),
		Version:   access.Version,
		ExpiresAt: access.ExpiresAt,
		Rights:    access, RightBytes: access.Size(),
		Subject:   access.Subject,
		Issuer:    c.Tokens.IssuerOf(ctx, access),
		Info:      access.Info,
		Tenants:   access.Tenants,
		IngressKB: min(access.IngressKBPerSec, c.MaxKBPerSec), // the maximum may have been lowered
		EgressKB:  min(access.EgressKBPerSec, c.MaxKBPerSec),
	}, c.Client)
	if err != nil {
		return nil, access, RefusedByHub(err)
	}
	if c.CountSession != nil {
		c.CountSession(c.Client.Transport)
	}
	defer func() { // also after a panic, which the server recovers from
		if session == nil {
			admitted.Detach()
		}
	}()
	pending.Admitted(admitted)
	admitted.PayForConnection(ctx.Done())
	if refusal := admitted.Authorize(ctx); refusal != nil {
		return nil, access, refusedByHook(refusal)
	}
	// A revocation reaches the session since it was admitted. One that came between
	// the check of the token and that shows in its record now.
	now, err := c.Tokens.Lookup(ctx, access.ID)
	if err != nil {
		return nil, access, c.refuseToken(err)
	}
	admitted.Renew(now.ExpiresAt, now.Version)
	return admitted, access, nil
}

func (c Candidate) refuseToken(err error) *Refusal {
	var known tokenstore.UnauthorizedError // whose zero value knows nothing
	var cause *tokenstore.UnauthorizedError
	if errors.As(err, &cause) {
		known = *cause
	}
	switch {
	case errors.Is(err, tokenstore.ErrTooManyFailures):
		return &Refusal{
			Status: http.StatusTooManyRequests, Code: "too_many_failures",
			Detail: "too many failed authentications from this address", RetryAfter: "1",
			truth: "too many failed authentications from this address, and here " + known.Reason,
			rule:  strconv.Itoa(maxFailures) + " failures a second of an address", tokenID: known.TokenID, access: known.Access,
		}
	case !errors.Is(err, tokenstore.ErrUnauthorized):
		return c.fault(err)
	}
	refused := &Refusal{
		truth: known.Reason, rule: known.Rule, tokenID: known.TokenID, access: known.Access, verified: known.Ended != "", ended: known.Ended,
		Status: http.StatusUnauthorized, Code: "unauthorized",
		Detail: "a valid access token is needed: in Authorization: Bearer, or as the entry at.<token> beside " +
			wire.Subprotocol + " in " + map[string]string{
			tokenstore.ProtocolWebSocket:    "Sec-WebSocket-Protocol",
			tokenstore.ProtocolWebTransport: "WT-Available-Protocols",
		}[c.Client.Transport],
	}
	switch known.Ended {
	case tokenstore.EndedExpired:
		refused.Detail = "the access token has expired; connect with a new one"
	case tokenstore.EndedRevoked:
		refused.Detail = "the access token was revoked; connect with a new one"
	}
	return refused
}

func (c Candidate) fault(err error) *Refusal {
	if errors.Is(err, context.Canceled) {
		return refusedGone
	}
	c.Log.Error("handshake failed", zap.String("transport", c.Client.Transport), zap.Error(err))
	return tryLater("unavailable", "the token store is out of reach; try again")
}

// allowPeer says from where a client may go on to send when its connection moves
// to another address: from where its token allows it (nil: anywhere). Of a client
// behind a trusted proxy the edge knows no address but by the proxy's word, so
// the connection has to stay with that proxy.
func allowPeer(masks func(netip.Addr) bool, client, peer netip.Addr) func(netip.Addr) bool {
	if masks == nil || client == peer {
		return masks
	}
	return func(now netip.Addr) bool { return now.Unmap().WithZone("") == peer }
}
