// Package hook is the contract of hooks: code that an edge asks before it lets a
// client connect, subscribe or publish, and tells when a client has connected,
// subscribed, unsubscribed or left.
//
// A hook is any value that implements at least one of the interfaces of this package;
// it implements those that it needs. An edge has any number of hooks, in an order.
//
// # Order
//
// To ask is to call the hooks in their order until one refuses; those behind it are
// not asked. To tell is to call all of them in their order. What concerns one
// connection is told in the order in which it happened, one call at a time: Connected
// first, Disconnected last, and Subscribed before the Unsubscribed of the same
// subscription. The end of a connection ends its subscriptions; there is no
// Unsubscribed for these. Joined and Left concern no connection: those of an edge are
// told one after the other, in the order in which they happened.
//
// # Concurrency and time
//
// Calls for different connections are concurrent. So are AuthorizeSubscribe calls for
// different patterns of one connection, at most [MaxAsked] at a time.
//
// AuthorizeConnect and AuthorizeSubscribe may wait, for a network too. Their context
// ends after [AskTimeout], and when the client is gone; what comes later than that
// counts as a fault. A hook must return soon after its context has ended: until then
// it holds the handshake or the subscription, and the edge waits for it when it stops.
//
// A hook that asks a service, and allows what the service does not answer, must not
// allow what it could not ask, for example because its queue was full: that is
// [TryLater]. Otherwise clients that fill the queue are let in.
//
// AuthorizePublish and everything that is told run on the goroutine that handles the
// client's messages. They must not wait: while they run, nothing else is read from that
// client, and only that client waits. While Joined or Left runs, so do all clients that
// join or leave; Left runs on a goroutine of the edge where a member has lingered.
//
// # Faults
//
// An error that is no [*Refusal], a panic, and an answer that comes after the context
// has ended are faults. Where a hook was asked, the client is told [wire.CodeTryLater];
// the fault is logged and counted. A panic where a hook was told changes nothing else.
//
// # Reloads
//
// A reload puts the hooks of the new configuration in place of the old ones, for open
// connections too. So a hook may be notified of the end of a connection whose begin it
// was not, and a call that is under way may end after the hook was replaced.
package hook

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/millrace/millrace/wire"
)

// AskTimeout is how long AuthorizeConnect and AuthorizeSubscribe may take, all hooks
// together.
const AskTimeout = 5 * time.Second

// MaxAsked is how many patterns of one connection hooks are asked about at the same time.
// Commands about further patterns wait; the connection goes on.
const MaxAsked = 16

// Client is a connection, or one that is asked for.
type Client struct {
	ID uint64 // of the connection, unique while this edge's process lives

	// ConnectionID is what its client can tell support: random, and unique over all edges.
	ConnectionID wire.ConnectionID

	TokenID   string     // of its access token; not the secret
	Tenants   []string   // that the token names, the first 16; shared, not to be changed
	IP        netip.Addr // not valid: it is not known
	Transport string     // "websocket" or "webtransport"
	Since     time.Time  // when its handshake was accepted

	Subject string          // whose token it is; empty: nobody's
	Info    json.RawMessage // of the token: a JSON object; nil: none; shared, not to be changed

	// Issuer is whose share of what all have counts, beside that of the token: who issued it, where there
	// are several. Empty: there is one, or it is the operator's own.
	Issuer string
}

// Subscription is a pattern within a tenant, both legal names.
type Subscription struct {
	Tenant, Pattern string
	OwnStream       bool // SUB:U: its messages come on a stream of their own
	Positions       bool // RSUB: its messages come with positions, and perhaps from a history

	// Presence: it is no subscription but a JOIN, where Pattern is the channel, or a WHO. Hooks
	// are asked about these, and told by [JoinObserver] and [LeaveObserver].
	Presence bool
}

// Publication is a message that a client publishes. Its names are legal.
type Publication struct {
	Tenant, Channel string
	Delivery        wire.Delivery
	Size            int // bytes of the payload

	// Payload is nil unless the hook is a [PayloadReader]. It is valid during the
	// call, and must not be changed.
	Payload []byte
}

// Disconnection is how a connection ended.
type Disconnection struct {
	Code   wire.CloseCode
	Reason string        // a code of the protocol, perhaps with its argument; empty: none
	After  time.Duration // that the connection lived
}

// ConnectAuthorizer is a hook that is asked before a client gets its session: the token
// is valid and allows the connection. Whoever is refused with [Deny] is told so with
// 403 client_not_allowed and the reason.
type ConnectAuthorizer interface {
	AuthorizeConnect(ctx context.Context, c Client) error
}

// SubscribeAuthorizer is a hook that is asked before a subscription, a JOIN and a WHO: the token's
// rights allow it, and the connection has none like it yet.
type SubscribeAuthorizer interface {
	AuthorizeSubscribe(ctx context.Context, c Client, s Subscription) error
}

// PublishAuthorizer is a hook that is asked before a message of a client of this edge is
// accepted: the token's rights allow it. It is not asked for messages of other edges.
// It must not wait.
type PublishAuthorizer interface {
	AuthorizePublish(c Client, p Publication) error
}

// PayloadReader is a [PublishAuthorizer] that asks for the payload.
type PayloadReader interface {
	// ReadsPayload is called once, when the hook is put into effect.
	ReadsPayload() bool
}

// Selector is a hook that is asked only about a part of what it implements, as its
// configuration says. A subscription that no hook is asked about is decided at once.
type Selector interface {
	// Asked is called once, when the hook is put into effect.
	Asked() (connect, subscribe, publish bool)
}

// ConnectObserver is told that a client has its session.
type ConnectObserver interface{ Connected(c Client) }

// DisconnectObserver is told about the end of a session that Connected was told about.
type DisconnectObserver interface {
	Disconnected(c Client, d Disconnection)
}

// SubscribeObserver is told that a subscription has begun.
type SubscribeObserver interface {
	Subscribed(c Client, s Subscription)
}

// UnsubscribeObserver is told that the client has ended a subscription.
type UnsubscribeObserver interface {
	Unsubscribed(c Client, s Subscription)
}

// JoinObserver is notified of a subject that has become present in a channel by clients of this
// edge. It may be present by another edge as well.
type JoinObserver interface{ Joined(m Member) }

// LeaveObserver is told that no client of this edge makes the subject present any more. The
// lingering of those whose connection was lost has ended, the presence has gone with a reload,
// or the edge stops.
type LeaveObserver interface{ Left(m Member) }

// Member is a subject in a channel.
type Member struct {
	Tenant, Channel, Subject string
	Info                     []byte // of the token, a JSON object; empty: it has none, or the member has left
	Issuer                   string // of the token of its newest session, as in [Client]
}

// RefusalObserver is notified of a client that got no session. Strangers cause these calls
// at will.
type RefusalObserver interface{ Refused(r RefusedClient) }

// RefusedClient is a client that got no session.
type RefusedClient struct {
	ConnectionID wire.ConnectionID // of the attempt, which the answer has
	IP           netip.Addr        // not valid: it is not known
	Transport    string            // "websocket" or "webtransport"
	TokenID      string            // that the client named; empty: none that has the form of one
	Subject      string            // of that token; empty: it has none, or is not known
	Tenants      []string          // that the token names, the first 16; shared, not to be changed
	Issuer       string            // of that token, as in [Client]
	Verified     bool              // the client has the secret of the token
	Status       int               // of the HTTP answer; over AUTH the one that stands for the same reason
	Code         string            // as in the answer (docs/protocol.md, WebSocket, Refusals)
	Reason       string            // the whole truth, for operators: the answer may say less
	Rule         string            // that decided: of the token, a limit of the edge, or a hook; empty: none
}

// DenialObserver is notified of publishes and subscriptions that an open connection was refused, for
// want of a right or by a hook. Of one token there is at most one a second, after some at first.
type DenialObserver interface{ Denied(c Client, d Denial) }

// Denial is a publish or a subscription that was refused.
type Denial struct {
	Action          string // a verb of the protocol in lower case: pub, sub, rsub, join or who
	Tenant, Channel string // Channel may be a pattern
	Code            wire.Code
	Reason, Rule    string // as in [RefusedClient]
}

// OperationObserver is notified of operations on tokens, connections, edges and histories, and of
// operators that log in, also of those that were refused.
type OperationObserver interface{ Operated(o Operation) }

// Operation is a call of the REST API, of the admin API or of the console.
type Operation struct {
	Name   string     // as in metrics: "issue", "refresh", "revoke", "revoke_subject", "master_create", …; of operators also "login", "logout", "confirm", "live_tail", "disconnect", "drain", "member_remove", "history_read", "history_purge"
	Actor  string     // the id of the master token that called; "admin": the admin API; "operator:" and a name: the console; "edge:" and a name: an operator of another edge; empty: it did not authenticate
	IP     netip.Addr // of the caller; not valid: it is not known
	Status int        // of the HTTP answer; 200: it succeeded
	Code   string     // of a refusal (docs/protocol.md, REST); empty: it succeeded

	// What it concerned, where that is known.
	TokenID   string // of the access token, or of the master token in operations on these
	Tenants   []string
	ExpiresAt time.Time
	Subject   string // of a token that was issued, or the one whose tokens were to be revoked
	Revoked   int    // valid tokens of Subject that were revoked, also where the call failed

	Operator   string // whom a refused login named, if there is such an operator
	Pattern    string // of a live tail, or of messages that were read or deleted from a history; empty: of all of the tenant
	History    string // whose messages were read or deleted; no Tenants: of all of them
	Edge       string // that was to disconnect clients, or to drain, or the member of the cluster of NATS servers that was to be removed; empty: this one, or all
	Connection uint64 // that was to be disconnected; 0: all of TokenID
}

// Refusal is the error with which a hook refuses.
type Refusal struct {
	Code   wire.Code // [wire.CodePermissionDenied] or [wire.CodeTryLater]
	Reason string    // for the client and the log; see [Deny]
}

// Error implements error.
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Reason }

// Deny refuses for good. The reason is told to a client that asked to connect: one line
// of text without control characters, cut to [MaxReason] bytes.
func Deny(reason string) error { return &Refusal{wire.CodePermissionDenied, reason} }

// TryLater refuses for now.
func TryLater(reason string) error { return &Refusal{wire.CodeTryLater, reason} }

// MaxReason is how many bytes of a reason a client is told.
const MaxReason = 256
