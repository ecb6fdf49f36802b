package app

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/internal/version"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

var processStart = time.Now().UTC().Truncate(time.Second)

// inForce is the current configuration; nil: none is, at the start and at the end.
func (e *edge) inForce() *App {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.generations); n > 0 {
		return e.generations[n-1].app
	}
	return nil
}

// status tells operators how this edge is.
func (e *edge) status() overlay.Status {
	m := e.hub.Metrics()
	s := overlay.Status{
		Version: version.Number(), Caddy: caddyVersion(), Go: runtime.Version(),
		StartedAt: processStart, Processors: runtime.GOMAXPROCS(0),
		Draining:    caddy.Exiting() || errors.Is(e.hub.Available(), pubsub.ErrDraining),
		Connections: m.Connections, Limited: m.Limited, Subscriptions: m.Subscriptions, Patterns: m.Patterns, QueuedBytes: m.QueuedBytes,
		MemoryBytes: processMemory(),
		Broker:      overlay.BrokerStatus{Linked: m.Linked},
		Store:       overlay.StoreStatus{Usable: true, Writable: e.store.writable()},
	}
	for _, link := range e.links() {
		shown := overlay.LinkStatus{Of: link.Of, Connected: link.Connected}
		if t := link.Trouble; t != nil {
			since := t.Since.UTC()
			shown.Code, shown.Reason, shown.Error, shown.Since = t.Code, t.Reason, t.Error, &since
		}
		s.Links = append(s.Links, shown)
	}
	if h, ok := e.store.Store.(tokenstore.HealthReporter); ok {
		if err := h.Usable(); err != nil {
			s.Store.Usable, s.Store.Error = false, err.Error()
		}
	}
	if current, all := e.store.replicas(); all > 0 {
		s.Store.Replicas = &overlay.Replicas{Current: current, All: all}
	}
	if a := e.inForce(); a != nil {
		s.Region, s.MaxConnections = a.Region, a.limits.MaxConnections
		s.Host, _ = a.AnnouncedHost()
		s.Broker.Driver, s.Store.Driver = driver(a.broker), driver(a.store)
		if q, known := a.Quorum(); known {
			s.Quorum = &overlay.Quorum{Leader: q.Leader, Needed: q.Needed, Running: q.Running}
			for _, m := range q.Members {
				s.Quorum.Members = append(s.Quorum.Members, overlay.QuorumMember(m))
			}
		}
	}
	return s
}

// links are the connections of broker and stores to their servers.
func (e *edge) links() (list []guest.LinkState) {
	used := []any{e.broker, e.store.Store}
	if a := e.inForce(); a != nil && a.histories.leased != nil {
		used = append(used, a.histories.leased.Store)
	}
	for _, each := range used {
		if r, ok := each.(guest.LinkReporter); ok {
			list = append(list, r.LinkState())
		}
	}
	return list
}

// counts are what operators see the last minutes of.
func (e *edge) counts() overlay.Counts {
	m := e.hub.Metrics()
	c := overlay.Counts{
		MemoryBytes: processMemory(), MessagesIn: m.MessagesIn, Deliveries: m.Deliveries,
		Reasons: overlay.Reasons{
			Dropped: m.Dropped, SlowDisconnects: m.SlowDisconnects, Refused: map[string]uint64{}, HandshakesRefused: problem.RefusalCounts(),
		},
	}
	for _, n := range m.Connections {
		c.Connections += n
	}
	for code, n := range m.Refused {
		c.Reasons.Refused[string(code)] = n
	}
	return c
}

// processMemory is what the process has from the system, as far as Go knows, in bytes.
func processMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// driver is the name of a guest in a configuration.
func driver(guest any) string { return guest.(caddy.Module).CaddyModule().ID.Name() }
