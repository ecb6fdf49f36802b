package edgetest

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/internal/memnet"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	historymemory "github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// Edge is an edge in the test's process. Its methods are safe for concurrent use; those
// that can fail end the test, so they belong to its goroutine.
type Edge struct {
	t       testing.TB
	overlay *overlay
	host    string
	addr    netip.Addr
	config  config
	hub     *pubsub.Hub
	tokens  *tokenstore.Service
	admit   *admission.Edge
	stop    func()
}

// overlay is what edges that joined each other share.
type overlay struct {
	network *memnet.Network
	bus     memory.Bus
	store   tokenstore.Store
	master  tokenstore.StaticMaster

	mu    sync.Mutex
	edges []*Edge
}

// config is what the options of an edge set.
type config struct {
	overlay   *overlay
	limits    pubsub.Limits
	tokens    tokenstore.Config
	region    string
	histories []history.Definition
	presences []presence.Definition
	hooks     []pubsub.NamedHook
}

// Option changes an edge from what it is by default.
type Option func(*config)

// Join has the edge share the tokens and the messages of another edge, and of all that this
// one has joined. Histories and presence stay each edge's own: in production, NATS carries
// them.
func Join(other *Edge) Option { return func(c *config) { c.overlay = other.overlay } }

// Limits changes the limits of clients, which are those of [pubsub.DefaultLimits].
func Limits(change func(*pubsub.Limits)) Option { return func(c *config) { change(&c.limits) } }

// Drain sets how long clients have to leave an edge that drains, at least
// [pubsub.MinDrain]. Default: 10 s.
func Drain(period time.Duration) Option {
	return Limits(func(l *pubsub.Limits) { l.Drain = max(period, pubsub.MinDrain) })
}

// History keeps the messages of channels that match the patterns, of all tenants, in
// memory; limits of zero are those of [history.DefaultLimits].
func History(name string, limits history.Limits, patterns ...string) Option {
	byDefault := history.DefaultLimits()
	if limits.Messages == 0 {
		limits.Messages = byDefault.Messages
	}
	if limits.Age == 0 {
		limits.Age = byDefault.Age
	}
	if limits.Size == 0 {
		limits.Size = byDefault.Size
	}
	return func(c *config) {
		c.histories = append(c.histories, history.Definition{Name: name, Channels: patterns, Limits: limits})
	}
}

// Presence lets clients join the channels that match the patterns, of all tenants. A member
// whose last connection was lost stays for linger; 0: [presence.DefaultLinger].
func Presence(name string, linger time.Duration, patterns ...string) Option {
	if linger == 0 {
		linger = presence.DefaultLinger
	}
	return func(c *config) {
		c.presences = append(c.presences, presence.Definition{
			Name: name, Channels: patterns, Members: presence.DefaultMembers, Linger: linger,
		})
	}
}

// Hook adds a hook, which implements interfaces of package hook.
func Hook(name string, h any) Option {
	return func(c *config) { c.hooks = append(c.hooks, pubsub.NamedHook{Name: name, Hook: h}) }
}

// Region says where the edge is: US or EU. Default: nowhere, so tokens that allow some
// regions alone are refused.
func Region(name string) Option { return func(c *config) { c.region = name } }

// Quota sets what each master token may do, that of [Edge.Admin] too. Default: no limit.
func Quota(q tokenstore.Quota) Option { return func(c *config) { c.tokens.Quota = q } }

// New starts an edge, which stops when the test ends, after its clients. Clients have a
// drain period to leave then, so those that are not [Edge.Client]'s should be closed before.
func New(t testing.TB, opts ...Option) *Edge {
	t.Helper()
	e := &Edge{t: t, config: config{limits: pubsub.DefaultLimits()}}
	for _, opt := range opts {
		opt(&e.config)
	}
	if e.overlay = e.config.overlay; e.overlay == nil {
		e.overlay = newOverlay(t)
	}
	if err := e.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.stop)
	return e
}

func newOverlay(t testing.TB) *overlay {
	o := &overlay{network: memnet.New(), store: storetest.NewMemory()}
	id, hash, err := tokenstore.ParseStaticMaster(masterToken)
	if err != nil {
		t.Fatal(err)
	}
	o.master = tokenstore.StaticMaster{ID: id, SecretHash: hash, MasterSpec: tokenstore.MasterSpec{Name: "edgetest"}}
	t.Cleanup(func() { _ = o.store.Close() }) // always nil
	return o
}

// start puts the parts together, as caddymodule/app does.
func (e *Edge) start() (err error) {
	e.config.tokens.StaticMasters = []tokenstore.StaticMaster{e.overlay.master}
	index := tokenstore.NewIndex(e.overlay.store)
	e.config.tokens.Index = index
	if e.tokens, err = tokenstore.NewService(e.overlay.store, e.config.tokens); err != nil {
		return err
	}
	log := zap.NewNop()
	e.hub = pubsub.NewHub(e.overlay.bus.New(), e.config.limits, log)
	e.hub.SetIssuers(e.tokens)
	histories, err := history.NewSet(e.config.histories)
	if err != nil {
		return err
	}
	presences, err := presence.NewSet(e.config.presences)
	if err != nil {
		return err
	}
	if err := pubsub.CheckHooks(e.config.hooks); err != nil {
		return err
	}
	store := historymemory.New()
	if err := e.hub.SetHistories(histories, store); err != nil {
		return err
	}
	if presences.Len() > 0 {
		e.hub.SetPresences(presences)
	}
	e.hub.SetHooks(e.config.hooks)
	unwatch := e.tokens.Watch(func(ev tokenstore.Event) {
		if ev.Revoked {
			e.hub.TokenRevoked(ev.TokenID)
		} else {
			e.hub.TokenRenewed(ev.TokenID, ev.ExpiresAt, ev.Version)
		}
	})
	e.admit = &admission.Edge{
		Hub: e.hub, Tokens: e.tokens, Failures: admission.NewFailureLimiter(), Region: e.config.region,
		MaxKBPerSec: tokenstore.DefaultMaxKBPerSec, Log: log,
	}
	e.overlay.add(e)
	closeServers, err := e.serve()
	if err != nil {
		return err
	}
	e.stop = sync.OnceFunc(func() {
		if err := e.hub.Close(); err != nil {
			e.t.Error(err)
		}
		closeServers()
		unwatch()
		index.Close()
		if err := store.Close(); err != nil {
			e.t.Error(err)
		}
	})
	return nil
}

// Stop drains the edge and stops it, as the end of the test does. Connections that are
// still there after the drain period are closed.
func (e *Edge) Stop() { e.stop() }

// Drain asks all clients to go elsewhere, and closes those that are still there after the
// drain period. It returns at once; the channel is closed when the last one has gone. The
// edge takes no more clients.
func (e *Edge) Drain() <-chan struct{} { return e.hub.Drain() }

// Hub is the edge's hub, for what a test wants to know of it, or set.
func (e *Edge) Hub() *pubsub.Hub { return e.hub }

// Tokens is the edge's administration of tokens, for what the methods of [Edge] do not give.
func (e *Edge) Tokens() *tokenstore.Service { return e.tokens }

// URL is the edge's origin, like https://edge1.test, which only [Edge.Client],
// [Edge.HTTP] and clients with [Edge.Network] reach.
func (e *Edge) URL() string { return "https://" + e.host }
