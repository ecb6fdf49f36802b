package pubsub

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// counters are what a hub counts. What happens with each delivery is added up and
// counted once for each publish, or each write.
type counters struct {
	messagesIn, bytesIn, deliveries, linesOut, framesOut, presenceOut, bytesOut, unsent, missed, rejected, hookFaults atomic.Uint64

	dropped                    [dropKinds]atomic.Uint64 // by their place in DropReasons
	stored, repeated           atomic.Uint64            // publishes to kept channels
	replayed, fellBehind, gaps atomic.Uint64

	slowDisconnects [slowKinds]atomic.Uint64 // by their place in SlowReasons
	refused         [32]atomic.Uint64        // by the code's place in wire.Codes
	latency         [len(latencyBounds) + 1]atomic.Uint64
	latencySum      atomic.Int64 // the sum of latencies, in ns

	tenantsMu sync.RWMutex
	tenants   map[string]*tenantCounters // those counted by name
	others    tenantCounters
}

type tenantCounters struct {
	messagesIn, deliveries atomic.Uint64
	paused                 atomic.Int64 // ns
}

const (
	dropQueueFull = iota
	dropQueueMemory
	dropDisconnect
	dropClosed
	dropMaxLag
	dropKinds
)

const (
	slowQueueFull = iota
	slowQueueMemory
	slowWriteTimeout
	slowKinds
)

// latencyBounds range from what is good on an idle machine to what a full queue takes at
// a low cap.
var latencyBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
	500 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second,
}

// codeIndex is the place of each code in wire.Codes.
var codeIndex = func() map[wire.Code]int {
	index := map[wire.Code]int{}
	for i, info := range wire.Codes {
		index[info.Code] = i
	}
	return index
}()

func (c *counters) drop(reason int, n uint64) {
	if n > 0 {
		c.dropped[reason].Add(n)
	}
}

func (c *counters) refuse(code wire.Code) { c.refused[codeIndex[code]].Add(1) }

// written counts a batch that was written.
func (h *Hub) written(b *batch) {
	c := &h.count
	if lines := len(b.msgs) - b.frames; lines > 0 {
		size := -b.size
		for i := range b.msgs {
			size += len(b.msgs[i].Data)
		}
		c.linesOut.Add(uint64(lines))
		c.bytesOut.Add(uint64(size))
	}
	if b.frames > 0 {
		c.bytesOut.Add(uint64(b.size))
		c.presenceOut.Add(uint64(b.presence))
	}
	if b.deliveries() > 0 {
		waited := b.taken.Sub(h.epoch) - b.oldest
		c.framesOut.Add(uint64(b.deliveries()))
		c.latency[latencyBucket(waited)].Add(1)
		c.latencySum.Add(int64(waited))
	}
}

// latencyBucket returns the index of the first bound that d is not over.
func latencyBucket(d time.Duration) int {
	i, _ := slices.BinarySearch(latencyBounds[:], d)
	return i
}

// countTenant counts a publish to a tenant, or its deliveries.
func (h *Hub) countTenant(limits *Limits, name []byte, published, delivered int) {
	if limits.MetricTenants > 0 {
		t := h.count.tenant(limits, name)
		t.messagesIn.Add(uint64(published))
		t.deliveries.Add(uint64(delivered))
	}
}

// countPause counts that a message waited for who pays for it.
func (h *Hub) countPause(by payers, d time.Duration) {
	h.loads.paused.Add(int64(d))
	if limits := h.limits.Load(); limits.MetricTenants > 0 && by.tenant != nil {
		h.count.tenant(limits, []byte(by.tenant.name)).paused.Add(int64(d))
	}
}

// tenant returns the counters of a tenant, where tenants are counted.
func (c *counters) tenant(limits *Limits, name []byte) *tenantCounters {
	c.tenantsMu.RLock()
	t := c.tenants[string(name)]
	many := len(c.tenants) >= limits.MetricTenants
	c.tenantsMu.RUnlock()
	if t == nil {
		t = &c.others
		if !many {
			t = c.addTenant(string(name), limits.MetricTenants)
		}
	}
	return t
}

// addTenant returns the counters of a tenant by name, and makes them if there is room for
// one more; otherwise those of all others.
func (c *counters) addTenant(tenant string, limit int) *tenantCounters {
	c.tenantsMu.Lock()
	defer c.tenantsMu.Unlock()
	if t := c.tenants[tenant]; t != nil {
		return t
	}
	if len(c.tenants) >= limit {
		return &c.others
	}
	if c.tenants == nil {
		c.tenants = map[string]*tenantCounters{}
	}
	t := new(tenantCounters)
	c.tenants[tenant] = t
	return t
}

// Deliveries returns [Metrics].Deliveries alone, which costs next to nothing.
func (h *Hub) Deliveries() uint64 { return h.count.deliveries.Load() }

// Metrics returns the counts. Its cost grows with the number of sessions: it is made for
// a scrape, not for a loop.
func (h *Hub) Metrics() Metrics {
	c := &h.count
	m := Metrics{
		Connections: map[string]int{}, Limited: map[string]int{},
		MessagesIn: c.messagesIn.Load(), BytesIn: c.bytesIn.Load(), Deliveries: c.deliveries.Load(),
		LinesOut: c.linesOut.Load(), FramesOut: c.framesOut.Load(), PresenceOut: c.presenceOut.Load(), BytesOut: c.bytesOut.Load(),
		Unsent: c.unsent.Load(), Missed: c.missed.Load(), Rejected: c.rejected.Load(), Linked: h.IsLinked(),
		HookFaults: c.hookFaults.Load(),
		Stored:     c.stored.Load(), Repeated: c.repeated.Load(),
		Replayed: c.replayed.Load(), FellBehind: c.fellBehind.Load(), Gaps: c.gaps.Load(),
		Patterns: h.patterns.all.Load(), Paused: time.Duration(h.loads.paused.Load()),
		Dropped: map[string]uint64{}, SlowDisconnects: map[string]uint64{}, Refused: map[wire.Code]uint64{},
		WriteLatency: Histogram{
			Bounds: latencyBounds[:], Counts: make([]uint64, len(c.latency)), Sum: time.Duration(c.latencySum.Load()),
		},
	}
	for i, reason := range DropReasons {
		m.Dropped[reason] = c.dropped[i].Load()
	}
	for i, reason := range SlowReasons {
		m.SlowDisconnects[reason] = c.slowDisconnects[i].Load()
	}
	for code, i := range codeIndex {
		m.Refused[code] = c.refused[i].Load()
	}
	m.QueueMemory = h.queuedBytes.Load()
	m.Used = h.used()
	if ps := h.currentPresences(); ps != nil {
		stats := ps.registry.Stats()
		m.Presence = &stats
	}
	for i := range c.latency {
		m.WriteLatency.Counts[i] = c.latency[i].Load()
	}
	for _, s := range h.listSessions() {
		s.mu.Lock()
		for d := range directions {
			if s.limitedSince(d) > 0 {
				m.Limited[d.String()]++
			}
		}
		m.Subscriptions += int64(len(s.subscriptions))
		if s.resumables != nil {
			m.Behind += int64(len(s.resumables.behind))
			if s.resumables.reading != nil {
				m.Behind++
			}
		}
		m.QueuedBytes += int64(s.queue.deliveries + s.queue.controlBytes)
		s.mu.Unlock()
		m.Connections[s.client.Transport]++
	}
	if h.limits.Load().MetricTenants > 0 {
		m.Tenants = c.byTenant()
	}
	return m
}

func (c *counters) byTenant() map[string]TenantMetrics {
	c.tenantsMu.RLock()
	defer c.tenantsMu.RUnlock()
	all := map[string]TenantMetrics{OtherTenants: c.others.metrics()}
	for name, t := range c.tenants {
		all[name] = t.metrics()
	}
	return all
}

func (t *tenantCounters) metrics() TenantMetrics {
	return TenantMetrics{t.messagesIn.Load(), t.deliveries.Load(), time.Duration(t.paused.Load())}
}
