// Package app is the app `pubsub`: its options, its life, what outlives a reload, the
// limits and metrics of an edge, and the count of failed authentications. It answers no
// requests: handlers ask it for what they work with, and write the answers.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/pubsub"
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
	tokens    tokenstore.Config
	limits    pubsub.Limits
	failures  *failureLimiter
	faults    *zap.Logger // of the token store: one line a second

	mu      sync.Mutex
	lease   *edge         // what this generation holds of the pools; nil: nothing
	started chan struct{} // closed when running is set, which then stays
	running *Running
}

// Bandwidth caps connections, tokens and tenants, in KB/s (1 KB is 1,024 bytes).
type Bandwidth struct {
	// DefaultIngress caps what a client sends where its token names no cap.
	// Default, and zero: 8.
	DefaultIngress int `json:"default_ingress,omitempty"`
	// DefaultEgress caps what a client receives where its token names no cap.
	// Default, and zero: 8.
	DefaultEgress int `json:"default_egress,omitempty"`
	// Max is the highest cap that a token may name. Default, and zero: 16384.
	Max int `json:"max,omitempty"`

	// TokenIngress caps what all connections of a token on this edge send together.
	// Default, and zero: no such cap.
	TokenIngress int `json:"token_ingress,omitempty"`
	// TokenEgress caps what they receive together. Default, and zero: no such cap.
	TokenEgress int `json:"token_egress,omitempty"`
	// TenantIngress caps what all clients of this edge publish to a tenant.
	// Default, and zero: no such cap.
	TenantIngress int `json:"tenant_ingress,omitempty"`
	// TenantEgress caps what they receive of it. Default, and zero: no such cap.
	TenantEgress int `json:"tenant_egress,omitempty"`
}

// Limits bound what clients may cost.
type Limits struct {
	// MaxPayload of a publish in bytes, 1 to 16 MiB. Default, and zero: 65536.
	MaxPayload int `json:"max_payload,omitempty"`
	// MaxSubscriptions of a connection, 1 to 65535. Default, and zero: 1024.
	MaxSubscriptions int `json:"max_subscriptions,omitempty"`
	// MaxPatternShapes of the patterns of a connection (docs/protocol.md, Patterns
	// of Lines): with so many a message can come, and one more. Default, and zero: 32.
	MaxPatternShapes int `json:"max_pattern_shapes,omitempty"`
	// MaxPatternShapesPerTenant of the patterns of a tenant on this edge. Default,
	// and zero: 256.
	MaxPatternShapesPerTenant int `json:"max_pattern_shapes_per_tenant,omitempty"`
	// MaxPatterns, distinct ones, on this edge; no tenant and no token has more than
	// half of them. Default: 1000000. Zero: no limit.
	MaxPatterns *int `json:"max_patterns,omitempty"`
	// MaxPatternsPerTenant on this edge. Default, and zero: half of max_patterns.
	MaxPatternsPerTenant int `json:"max_patterns_per_tenant,omitempty"`
	// MaxPatternsPerToken on this edge, of those that its connections were the first
	// to subscribe to. Default, and zero: half of max_patterns.
	MaxPatternsPerToken int `json:"max_patterns_per_token,omitempty"`
	// TenantShare is how much of the edge's processors, in percent, the messages of a
	// tenant may use while those of others come, too, 1 to 100. Default, and zero: 50.
	// 100: no limit.
	TenantShare int `json:"tenant_share,omitempty"`
	// MaxConnections of this edge. Default: 100000. Zero: no limit.
	MaxConnections *int `json:"max_connections,omitempty"`
	// MaxConnectionsPerToken on this edge. Default, and zero: half of
	// max_connections.
	MaxConnectionsPerToken int `json:"max_connections_per_token,omitempty"`
	// MaxConnectionsPerTenant on this edge. A connection counts for the first 16
	// tenants of its token. Default, and zero: half of max_connections.
	MaxConnectionsPerTenant int `json:"max_connections_per_tenant,omitempty"`
	// MaxConnectionsPerAddress on this edge: from one IPv4 address or IPv6 /64,
	// loopback and trusted proxies aside. Default, and zero: half of
	// max_connections.
	MaxConnectionsPerAddress int `json:"max_connections_per_address,omitempty"`
	// SendQueue bounds the deliveries that wait for one client, in bytes; at
	// least the largest frame: max_payload, 65 KiB for the patterns that it
	// lists, and 2 for each of max_subscriptions. Default, and zero: 1048576.
	SendQueue int `json:"send_queue,omitempty"`
	// QueueMemory bounds the deliveries that wait for all clients, in bytes, those
	// of queues below 16 KiB aside. Those of one token, tenant or address get half
	// of it. At least twice send_queue. Default, and zero: a quarter of the memory
	// that GOMEMLIMIT allows, which Caddy sets to 90 % of what there is; 1 GiB
	// where there is no such limit.
	QueueMemory int `json:"queue_memory,omitempty"`
	// MaxTokensPerMaster is how many access tokens a master token may have issued
	// that are still in the store, until a day after they expire; for those that
	// have no `max_tokens` of their own. Default, and zero: no limit.
	MaxTokensPerMaster int `json:"max_tokens_per_master,omitempty"`
	// MaxTokenBytesPerMaster is how many bytes they may have in the store. Default,
	// and zero: no limit.
	MaxTokenBytesPerMaster int64 `json:"max_token_bytes_per_master,omitempty"`
	// MaxCallsPerMaster is how many calls a master token may make to this edge in a
	// second. Default, and zero: no limit.
	MaxCallsPerMaster int `json:"max_calls_per_master,omitempty"`
}

// Metrics switches on counts that cost more the more there is to count.
type Metrics struct {
	// Tenants that are counted by name, those that come first, at most 1000; all
	// others are counted together. Their names show wherever metrics do. Default,
	// and zero: none.
	Tenants int `json:"tenants,omitempty"`
}

// Running is what handlers work with between Start and Stop. It may be used
// concurrently, and by whoever has it even after Stop, as long as the hub lives.
type Running struct {
	Hub     *pubsub.Hub
	Service *tokenstore.Service

	edge *edge
}

// Arrived counts a session that has begun, by its transport, a Protocol of package
// tokenstore.
func (r *Running) Arrived(transport string) { r.edge.memory.arrived(transport) }

// Edges are those that announce themselves over the broker; none where it is no
// [pubsub.Directory].
func (r *Running) Edges() []pubsub.Edge {
	if d, ok := r.edge.broker.(pubsub.Directory); ok {
		return d.Edges()
	}
	return []pubsub.Edge{}
}

// Writable reports whether the token store takes changes, as far as it knows.
func (r *Running) Writable() bool { return r.edge.store.writable() }

// Usable returns nil if tokens can be checked, as far as the store knows, or why not.
func (r *Running) Usable() error {
	if s, ok := r.edge.store.Store.(tokenstore.HealthReporter); ok {
		return s.Usable()
	}
	return nil
}

// inForce are the apps between Start and Stop, for the admin API. The last one
// is in force: when a reload fails half way, that is the one before again.
var inForce appList

type appList struct {
	mu   sync.Mutex
	apps []*App
	last *App // that was added
}

func (l *appList) add(a *App) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps, l.last = append(l.apps, a), a
}

func (l *appList) remove(a *App) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps = slices.DeleteFunc(l.apps, func(other *App) bool { return other == a })
}

// InForce returns the app of the configuration in force; nil: none has started.
func InForce() *App { return inForce.current() }

// current returns the app in force, or nil.
func (l *appList) current() *App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.apps) == 0 {
		return nil
	}
	return l.apps[len(l.apps)-1]
}

// shown returns the app in force, or, while the process ends, the one that drains.
func (l *appList) shown() *App {
	if a := l.current(); a != nil || !caddy.Exiting() {
		return a
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// CaddyModule implements [caddy.Module].
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub", New: func() caddy.Module { return new(App) }}
}

// Provision implements [caddy.Provisioner]. It opens nothing: `caddy validate`
// works beside a running edge.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.log = ctx, ctx.Logger()
	a.failures, a.faults = newFailureLimiter(), guest.OncePerSecond(guest.LiveLog("pubsub"))
	a.started = make(chan struct{})
	a.takeover = takeover.New(func(srv *caddyhttp.Server) http.Handler {
		return guard.Outermost(srv, srv, a.log.Named("guard"))
	}, ctx.Storage(), guest.LiveLog("pubsub.http3"))
	if err := a.provisionLimits(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "on", "off"}, a.WebTransport) {
		return errors.New("webtransport: must be on or off")
	}
	if a.Region != "" && !slices.Contains(a.regions(), a.Region) {
		return fmt.Errorf("region: must be one of %v; the option regions adds others", a.regions())
	}
	a.tokens = tokenstore.Config{Regions: a.regions(), MaxKBPerSec: a.Bandwidth.Max, Quota: tokenstore.Quota{
		MaxTokens: a.Limits.MaxTokensPerMaster, MaxBytes: a.Limits.MaxTokenBytesPerMaster,
		CallsPerSecond: a.Limits.MaxCallsPerMaster,
	}}
	repl := caddy.NewReplacer()
	for i, m := range a.MasterTokens {
		static, err := m.resolve(repl)
		if err != nil {
			return fmt.Errorf("master_token %d: %w", i+1, err)
		}
		a.tokens.StaticMasters = append(a.tokens.StaticMasters, static)
	}
	// The rules of master tokens are the service's; it needs no store to check them.
	_, err := tokenstore.NewService(nil, a.tokens)
	if err != nil {
		return fmt.Errorf("master_token: %w", err)
	}
	if a.store, err = loadGuest[guest.StoreModule](ctx, a, a.TokenStoreRaw, "TokenStoreRaw", "pubsub.token_stores.badger"); err != nil {
		return fmt.Errorf("token_store: %w", err)
	}
	if a.broker, err = loadGuest[guest.BrokerModule](ctx, a, a.BrokerRaw, "BrokerRaw", "pubsub.brokers.memory"); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	if s, ok := a.store.(guest.LinkBorrower); ok {
		if err := s.BorrowLink(a.broker); err != nil {
			return fmt.Errorf("token_store: %w", err)
		}
	}
	return RegisterMetrics(ctx)
}

// loadGuest loads a guest module, or the default one if none is configured.
func loadGuest[T any](ctx caddy.Context, a *App, raw json.RawMessage, field, byDefault string) (guest T, err error) {
	var loaded any
	if len(raw) > 0 {
		loaded, err = ctx.LoadModule(a, field)
	} else {
		loaded, err = ctx.LoadModuleByID(byDefault, nil)
	}
	if err != nil {
		return guest, err
	}
	return loaded.(T), nil
}

func (a *App) regions() []string { return append([]string{"US", "EU"}, a.Regions...) }

func (a *App) provisionLimits() error {
	l := pubsub.DefaultLimits()
	maxCap := tokenstore.DefaultMaxKBPerSec
	l.QueueMemory = 0
	for _, o := range []struct {
		name     string
		value    int // zero: keep the default
		min, max int
		to       *int
	}{
		{"limits.max_payload (bytes)", a.Limits.MaxPayload, 1, 16 << 20, &l.MaxPayload},
		{"limits.max_subscriptions", a.Limits.MaxSubscriptions, 1, 65535, &l.MaxSubscriptions},
		{"limits.max_pattern_shapes", a.Limits.MaxPatternShapes, 1, 65535, &l.MaxPatternShapes},
		{"limits.max_pattern_shapes_per_tenant", a.Limits.MaxPatternShapesPerTenant, 1, 1 << 30, &l.MaxPatternShapesPerTenant},
		{"limits.max_patterns_per_tenant", a.Limits.MaxPatternsPerTenant, 1, 1 << 30, &l.MaxPatternsPerTenant},
		{"limits.max_patterns_per_token", a.Limits.MaxPatternsPerToken, 1, 1 << 30, &l.MaxPatternsPerToken},
		{"limits.tenant_share (percent)", a.Limits.TenantShare, 1, 100, &l.TenantShare},
		{"limits.max_connections_per_token", a.Limits.MaxConnectionsPerToken, 0, 1 << 30, &l.MaxConnectionsPerToken},
		{"limits.max_connections_per_tenant", a.Limits.MaxConnectionsPerTenant, 0, 1 << 30, &l.MaxConnectionsPerTenant},
		{"limits.max_connections_per_address", a.Limits.MaxConnectionsPerAddress, 0, 1 << 30, &l.MaxConnectionsPerAddress},
		{"limits.send_queue (bytes)", a.Limits.SendQueue, 1, 1 << 30, &l.SendQueue},
		{"limits.queue_memory (bytes)", a.Limits.QueueMemory, 1, 1 << 40, &l.QueueMemory},
		{"metrics.tenants", a.Metrics.Tenants, 1, 1000, &l.MetricTenants},
		{"bandwidth.max (KB/s)", a.Bandwidth.Max, 1, 1 << 30, &maxCap},
		{"bandwidth.default_ingress (KB/s)", a.Bandwidth.DefaultIngress, 1, 1 << 30, &l.DefaultIngressKB},
		{"bandwidth.default_egress (KB/s)", a.Bandwidth.DefaultEgress, 1, 1 << 30, &l.DefaultEgressKB},
		{"bandwidth.token_ingress (KB/s)", a.Bandwidth.TokenIngress, 1, 1 << 30, &l.TokenIngressKB},
		{"bandwidth.token_egress (KB/s)", a.Bandwidth.TokenEgress, 1, 1 << 30, &l.TokenEgressKB},
		{"bandwidth.tenant_ingress (KB/s)", a.Bandwidth.TenantIngress, 1, 1 << 30, &l.TenantIngressKB},
		{"bandwidth.tenant_egress (KB/s)", a.Bandwidth.TenantEgress, 1, 1 << 30, &l.TenantEgressKB},
	} {
		if o.value == 0 {
			continue
		}
		if o.value < o.min || o.value > o.max {
			return fmt.Errorf("%s: must be from %d to %d", o.name, o.min, o.max)
		}
		*o.to = o.value
	}
	if n := a.Limits.MaxConnections; n != nil {
		if *n < 0 {
			return fmt.Errorf("limits.max_connections: must be 0 (no limit) or more")
		}
		l.MaxConnections = *n
	}
	if n := a.Limits.MaxPatterns; n != nil {
		if *n < 0 {
			return fmt.Errorf("limits.max_patterns: must be 0 (no limit) or more")
		}
		l.MaxPatterns = *n
	}
	if floor := l.LargestFrame(); l.SendQueue < floor {
		return fmt.Errorf("limits.send_queue: must hold the largest frame, which has %d bytes with this max_payload and max_subscriptions", floor)
	}
	if l.QueueMemory == 0 {
		l.QueueMemory = defaultQueueMemory(debug.SetMemoryLimit(-1), l.SendQueue)
	}
	if l.QueueMemory < 2*l.SendQueue {
		return fmt.Errorf("limits.queue_memory: must be at least twice send_queue, which is %d bytes", l.SendQueue)
	}
	a.Bandwidth.Max = maxCap
	if l.DefaultIngressKB > maxCap || l.DefaultEgressKB > maxCap {
		return fmt.Errorf("bandwidth: the defaults must not be above max, which is %d KB/s", maxCap)
	}
	if drain := time.Duration(a.Drain); drain != 0 {
		if drain < pubsub.MinDrain || drain > time.Hour {
			return fmt.Errorf("drain: must be from %v to %v", pubsub.MinDrain, time.Hour)
		}
		l.Drain = drain
	}
	switch a.SlowConsumer {
	case "", "drop":
	case "disconnect":
		l.Slow = pubsub.SlowDisconnect
	default:
		return fmt.Errorf("slow_consumer: must be drop or disconnect")
	}
	a.limits = l
	return nil
}

// defaultQueueMemory is what queues may hold where the Go runtime has a limit of
// its memory; math.MaxInt64: it has none.
func defaultQueueMemory(limit int64, sendQueue int) int {
	memory := pubsub.DefaultLimits().QueueMemory
	if limit < math.MaxInt64 {
		memory = int(limit / 4)
	}
	return max(memory, 2*sendQueue)
}

// Start implements [caddy.App]: it takes the hub over from the configuration
// before, if that used the same store and broker, with all its connections.
func (a *App) Start() error {
	e, kept, err := leaseEdge(a.store, a.broker, a.limits)
	if err != nil {
		return err
	}
	config := a.tokens
	config.Index = e.store.index
	service, err := tokenstore.NewService(e.store.Store, config)
	if err != nil {
		return errors.Join(fmt.Errorf("tokens: %w", err), e.release(a))
	}
	e.use(a, a.limits)
	if err := a.takeover.Start(a.ctx); err != nil {
		return errors.Join(fmt.Errorf("webtransport: %w", err), e.release(a))
	}
	a.mu.Lock()
	a.lease = e
	a.mu.Unlock()
	a.running = &Running{Hub: e.hub, Service: service, edge: e}
	close(a.started)
	inForce.add(a)
	countLoad(kept)
	return nil
}

// DrainIfExiting starts the drain of an edge that stops. It does nothing when a
// configuration alone does.
func (a *App) DrainIfExiting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease != nil && caddy.Exiting() {
		a.lease.hub.Drain()
	}
}

// Stop implements [caddy.App]. When no other configuration uses the hub, it
// drains first: the clients have the drain period to leave. So do those of a
// UDP port that no other configuration uses; it is closed after that.
func (a *App) Stop() error {
	a.mu.Lock()
	e := a.lease
	a.lease = nil
	a.mu.Unlock()
	if e == nil {
		return nil
	}
	inForce.remove(a)
	var leaving []<-chan struct{}
	for _, listener := range a.takeover.Quiesce() {
		if !caddy.Exiting() { // else the whole hub drains
			leaving = append(leaving, e.hub.DrainListener(listener))
		}
	}
	err := e.release(a)
	for _, left := range leaving {
		<-left
	}
	return errors.Join(err, a.takeover.Close(a.limits.Drain))
}

// Cleanup implements [caddy.CleanerUpper]: Caddy does not call Stop when the
// start of an app fails.
func (a *App) Cleanup() error { return a.Stop() }

// Running returns what handlers work with, nil before the app has started. It waits for
// nothing.
func (a *App) Running() *Running {
	select {
	case <-a.started:
		return a.running
	default:
		return nil
	}
}

// Await is Running for a request: Caddy starts its apps in random order, and one that
// comes before the start of this one waits for it, until ctx ends or 10 s; nil: in vain.
func (a *App) Await(ctx context.Context) *Running {
	if running := a.Running(); running != nil {
		return running
	}
	select {
	case <-a.started:
		return a.running
	case <-ctx.Done():
	case <-time.After(startPatience):
	}
	return nil
}

const startPatience = 10 * time.Second

// Log is the logger of the app's configuration.
func (a *App) Log() *zap.Logger { return a.log }

// Faults is the logger of faults that every request may meet, as those of the token
// store: it writes one line of a kind a second. It outlives the configuration.
func (a *App) Faults() *zap.Logger { return a.faults }

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
// known is false where there is none that is to.
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

// ClaimHTTP3 takes HTTP/3 from the server that ctx provisions a handler of, or
// warns, once for each server, that it cannot. With the option `webtransport off` it
// does nothing.
func (a *App) ClaimHTTP3(ctx caddy.Context) {
	srv, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || a.WebTransport == "off" {
		return
	}
	why := a.takeover.Claim(ctx)
	if why == nil || slices.Contains(a.unclaimed, srv) {
		return
	}
	a.unclaimed = append(a.unclaimed, srv)
	a.log.Warn("no WebTransport on this server, the rest of it works; the option `webtransport off` silences this",
		zap.String("server", srv.Name()), zap.Strings("listen", srv.Listen), zap.String("reason", why.Error()))
}

var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
