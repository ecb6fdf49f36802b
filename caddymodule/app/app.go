// Package app is the app `pubsub`: its options, its life, what outlives a reload, the
// limits and metrics of an edge. It answers no requests: handlers ask it for what they work with, and write the answers.
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
)

func init() { caddy.RegisterModule(new(App)) }

// App is the publish/subscribe edge: the hub, the broker, the token store and
// their limits, shared by all handlers of a configuration. It works without any
// configuration: in-process broker, Badger store under Caddy's data directory.
type App struct {
	// Region of this edge, one of Regions. Tokens that name regions are refused
	// on an edge whose region they do not list. Default: none, which refuses
	// all such tokens.
	Region string `json:"region,omitempty"`

	// Regions that tokens may name, beside `US` and `EU`. Default: none.
	Regions []string `json:"regions,omitempty"`

	// TokenStoreRaw is where tokens live. Default: `badger`.
	TokenStoreRaw json.RawMessage `json:"token_store,omitempty" caddy:"namespace=pubsub.token_stores inline_key=driver"`

	// BrokerRaw connects this edge with others. Default: `memory`, no others.
	BrokerRaw json.RawMessage `json:"broker,omitempty" caddy:"namespace=pubsub.brokers inline_key=driver"`

	// Histories keep messages of some channels, so that clients get what they have missed.
	// No two of them share a channel of a tenant. Default: none, nothing is kept.
	Histories []History `json:"histories,omitempty"`

	// HistoryStoreRaw is where histories are kept: `memory` or `badger` with `broker memory`,
	// `nats` with `broker nats`. Default, where there are histories: `memory` or `nats`.
	HistoryStoreRaw json.RawMessage `json:"history_store,omitempty" caddy:"namespace=pubsub.history_stores inline_key=driver"`

	// Presences are where clients say that they are there, and see who is. No two of them
	// share a channel of a tenant. Default: none, nobody is present.
	Presences []Presence `json:"presences,omitempty"`

	// HooksRaw are asked before clients connect, subscribe and publish, and notified of what
	// they do, in this order. Default: none.
	HooksRaw []json.RawMessage `json:"hooks,omitempty" caddy:"namespace=pubsub.hooks inline_key=hook"`

	// MasterTokens of the configuration, beside those in the store. One that is
	// removed stops working with the next reload.
	MasterTokens []MasterToken `json:"master_tokens,omitempty"`

	Bandwidth Bandwidth `json:"bandwidth,omitzero"`
	Limits    Limits    `json:"limits,omitzero"`
	Metrics   Metrics   `json:"metrics,omitzero"`

	// SlowConsumer says what happens to a client whose send queue is full:
	// `drop` its oldest deliveries and tell it how many, or `disconnect` it with
	// close code 4429. Default: `drop`.
	SlowConsumer string `json:"slow_consumer,omitempty"`

	// Drain is how long clients have to move to another edge when this one
	// stops. At least 7s. Default, and zero: 10s.
	Drain caddy.Duration `json:"drain,omitempty"`

	// RemoteOperators is what operators of other edges may do at this one over the
	// broker: `manage` (see it, disconnect its clients, drain it), `view` (see it) or
	// `off`. Default: `manage`.
	RemoteOperators string `json:"remote_operators,omitempty"`

	// AllowPlaintext accepts tokens over plain HTTP from anywhere. Default:
	// false, which accepts them from loopback and trusted proxies alone.
	AllowPlaintext bool `json:"allow_plaintext,omitempty"`

	// WebTransport is `on` or `off`. Where it is on, the edge serves all HTTP/3 of
	// servers with the handler `pubsub_webtransport` in Caddy's place; off, the
	// handler passes every request on. Default: `on`.
	WebTransport string `json:"webtransport,omitempty"`

	ctx       caddy.Context
	log       *zap.Logger
	takeover  *takeover.Takeover
	unclaimed []*caddyhttp.Server // that were warned of
	store     guest.StoreModule
	broker    guest.BrokerModule
	hooks     []pubsub.NamedHook
	histories histories
	presences *presence.Set
	tokens    tokenstore.Config
	limits    pubsub.Limits
	files     fileShares
	kept      bool // the hub is that of the configuration before
	failures  *admission.FailureLimiter
	faults    *zap.Logger // of the token store: one line a second

	mu      sync.Mutex
	lease   *edge         // what this generation holds of the pools; nil: nothing
	started chan struct{} // closed when running is set, which then stays
	running *Running
}

// CaddyModule implements [caddy.Module].
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub", New: func() caddy.Module { return new(App) }}
}

// Log is the logger of the app's configuration.
func (a *App) Log() *zap.Logger { return a.log }

// Faults is the logger of faults that every request may meet, as those of the token
// store: it writes one line of a kind a second. It outlives the configuration.
func (a *App) Faults() *zap.Logger { return a.faults }

// AuthenticateMaster is [tokenstore.Service.AuthenticateMaster] for a client at an address,
// or [tokenstore.ErrTooManyFailures]. All handlers of a configuration share the count of
// failures.
func (a *App) AuthenticateMaster(ctx context.Context, s *tokenstore.Service, token string, ip netip.Addr) (*tokenstore.Master, error) {
	return a.failures.AuthenticateMaster(ctx, s, token, ip)
}

// Admission is what decides about clients of this configuration.
func (a *App) Admission(live *Running) *admission.Edge {
	return &admission.Edge{
		Hub: live.Hub, Tokens: live.Service, Failures: a.failures, Region: a.Region, MaxKBPerSec: a.Bandwidth.Max,
		Exiting: caddy.Exiting, MemoryShort: live.IsMemoryShort, CountSession: live.CountSession, Log: a.faults,
	}
}

// MaxKBPerSec is the highest cap that a token may name, in KB/s.
func (a *App) MaxKBPerSec() int { return cmp.Or(a.Bandwidth.Max, tokenstore.DefaultMaxKBPerSec) }

// remotePolicy is RemoteOperators with its default.
func (a *App) remotePolicy() overlay.Policy {
	return cmp.Or(overlay.Policy(a.RemoteOperators), overlay.Manage)
}

// AnnouncedHost returns the host under which this edge is announced to others, empty:
// none. ok is false where the broker knows no other edges.
func (a *App) AnnouncedHost() (host string, ok bool) {
	announcer, ok := a.broker.(guest.Announcer)
	if !ok {
		return "", false
	}
	return announcer.AnnouncedHost(), true
}

// Storing reports whether a server inside the edge has its part in storing tokens;
// known is false where there is none.
func (a *App) Storing() (storing, known bool) {
	for _, module := range []any{a.broker, a.store} {
		if reporter, ok := module.(guest.StorageReporter); ok {
			if storing, known = reporter.Storing(); known {
				return storing, true
			}
		}
	}
	return false, false
}

// Quorum returns the members of the cluster that a server inside the edge belongs to; known is
// false where there is none.
func (a *App) Quorum() (q guest.Quorum, known bool) {
	for _, module := range []any{a.broker, a.store} {
		if keeper, ok := module.(guest.MemberKeeper); ok && !known {
			q, known = keeper.Members()
		}
	}
	return q, known
}

// RemoveMember takes a member out of that cluster, see [guest.MemberKeeper].
func (a *App) RemoveMember(ctx context.Context, name string, how guest.RemoveOptions) (removal guest.Removal, err error) {
	err = guest.ErrNoMembers
	for _, module := range []any{a.broker, a.store} {
		if keeper, ok := module.(guest.MemberKeeper); ok && errors.Is(err, guest.ErrNoMembers) {
			removal, err = keeper.RemoveMember(ctx, name, how)
		}
	}
	return removal, err
}

var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
