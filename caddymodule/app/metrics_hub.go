package app

import (
	"errors"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

// hubCollector shows what the current hub has counted, in whichever registry it
// is: a hub that outlives its configuration goes on counting in the next one's.
type hubCollector struct{}

// family is a metric of the hub: read adds the value of each of its series.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(s *snapshot, add func(value float64, labels ...string))
}

// snapshot is what one scrape shows.
type snapshot struct {
	pubsub.Metrics
	draining bool
	broker   string                     // the driver's name
	writable bool                       // the token store takes changes
	replicas struct{ current, all int } // of the token store; zero: it has none
	storing  *bool                      // the embedded NATS server's part in it; nil: there is none
	quorum   *guest.Quorum              // of the embedded NATS servers; nil: there is no cluster
	byTenant bool                       // tenants are counted
	kept     map[string]historyUsage    // by history; nil: there is no store of histories

	histories map[string]historyState // by name
}

func newFamily(kind prometheus.ValueType, name, help string, labels []string,
	read func(s *snapshot, add func(float64, ...string))) family {
	return family{prometheus.NewDesc(prefix+name, help, labels, nil), kind, read}
}

func gauge(name, help string, value func(*snapshot) float64) family {
	return newFamily(prometheus.GaugeValue, name, help, nil, func(s *snapshot, add func(float64, ...string)) { add(value(s)) })
}

func counter(name, help string, value func(*snapshot) uint64) family {
	return newFamily(prometheus.CounterValue, name, help, nil, func(s *snapshot, add func(float64, ...string)) { add(float64(value(s))) })
}

var hubFamilies = []family{
	newFamily(prometheus.GaugeValue, "connections", "Open sessions, by transport.", []string{"transport"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, transport := range []string{tokenstore.ProtocolWebSocket, tokenstore.ProtocolWebTransport} {
				add(float64(s.Connections[transport]), transport)
			}
		}),
	newFamily(prometheus.GaugeValue, "connections_used_ratio",
		"How much of each limit of connections is used, from 0 to 1: max_connections, open files, and connection_memory.", []string{"limit"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, limit := range []string{"connections", "files", "memory"} {
				add(s.Used[limit], limit)
			}
		}),
	newFamily(prometheus.GaugeValue, "connections_limited",
		"Open sessions with messages that have waited for 2 s or longer for a cap in the last minute, by the direction of these: ingress or egress.", []string{"direction"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, direction := range []string{"ingress", "egress"} {
				add(float64(s.Limited[direction]), direction)
			}
		}),
	gauge("subscriptions", "Open subscriptions of all sessions.", func(s *snapshot) float64 { return float64(s.Subscriptions) }),
	gauge("patterns", "Distinct patterns of all subscriptions, counted for each tenant.", func(s *snapshot) float64 { return float64(s.Patterns) }),
	gauge("queue_bytes", "Bytes that wait to be written in the queues of all sessions, bookkeeping included.",
		func(s *snapshot) float64 { return float64(s.QueuedBytes) }),

	gauge("queue_memory_bytes", "Bytes that count against queue_memory: of the send queues from 16 KiB on, where a message that several wait for counts in parts.",
		func(s *snapshot) float64 { return float64(s.QueueMemory) }),

	counter("messages_in_total", "Messages that clients published and the edge accepted.",
		func(s *snapshot) uint64 { return s.MessagesIn }),
	counter("bytes_in_total", "Bytes of all messages from clients, without the transport's framing.",
		func(s *snapshot) uint64 { return s.BytesIn }),
	newFamily(prometheus.CounterValue, "messages_out_total",
		"Messages that were written to clients: deliveries, frames about presence, and lines, pings and pongs.", []string{"kind"},
		func(s *snapshot, add func(float64, ...string)) {
			add(float64(s.FramesOut), "delivery")
			add(float64(s.PresenceOut), "presence")
			add(float64(s.LinesOut), "control")
		}),
	counter("bytes_out_total", "Bytes of all messages to clients, without the transport's framing.",
		func(s *snapshot) uint64 { return s.BytesOut }),

	newFamily(prometheus.CounterValue, "share_wait_seconds_total",
		"Time that messages, PINGs, connections and pages of histories waited of tenants over their tenant_share, or of issuers over their issuer_share, of all together.", nil,
		func(s *snapshot, add func(float64, ...string)) { add(s.Paused.Seconds()) }),

	counter("deliveries_total", "Deliveries that were queued for subscribers, those dropped later included.",
		func(s *snapshot) uint64 { return s.Deliveries }),
	newFamily(prometheus.CounterValue, "deliveries_dropped_total",
		"Deliveries that were dropped: the send queue was full, or its session ended, for being slow or otherwise.", []string{"reason"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, reason := range pubsub.DropReasons {
				add(float64(s.Dropped[reason]), reason)
			}
		}),
	newFamily(prometheus.CounterValue, "slow_disconnects_total",
		"Sessions that the edge ended because their client read too slowly: the send queue was full, or a write took too long.", []string{"reason"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, reason := range pubsub.SlowReasons {
				add(float64(s.SlowDisconnects[reason]), reason)
			}
		}),
	newFamily(prometheus.CounterValue, "refusals_total", "ERR lines to clients, by code.", []string{"code"},
		func(s *snapshot, add func(float64, ...string)) {
			for _, row := range wire.Codes {
				add(float64(s.Refused[row.Code]), string(row.Code))
			}
		}),

	historyFamily("history_messages", "Messages that are kept, by history.", func(u historyUsage) float64 { return float64(u.messages) }),
	historyFamily("history_bytes", "Bytes that are kept, bookkeeping included, by history.", func(u historyUsage) float64 { return float64(u.bytes) }),
	historyUp, historyDrift, historyVersion, historyMaxMessages, historyMaxAge, historyMaxBytes,
	historyCounter("history_stored_total", "Publishes that were stored in a history.", func(s *snapshot) uint64 { return s.Stored }),
	historyCounter("history_repeated_total", "Publishes that were not stored, since one with the same key is.", func(s *snapshot) uint64 { return s.Repeated }),
	historyCounter("history_replayed_total", "Deliveries that were read from a history, for subscriptions that resumed or were behind.",
		func(s *snapshot) uint64 { return s.Replayed }),
	historyCounter("history_fell_behind_total", "Times that a subscription with positions had no room in its queue, and went on from the history.",
		func(s *snapshot) uint64 { return s.FellBehind }),
	historyCounter("history_gaps_total", "Times that a client was told that messages may be missing.", func(s *snapshot) uint64 { return s.Gaps }),
	newFamily(prometheus.GaugeValue, "history_behind", "Subscriptions with positions that wait for a page of their history.", nil,
		func(s *snapshot, add func(float64, ...string)) {
			if s.kept != nil {
				add(float64(s.Behind))
			}
		}),

	presenceFamily(prometheus.GaugeValue, "presence_members", "Members that are present, at all edges that this one knows.",
		func(p *presence.Stats) float64 { return float64(p.Members) }),
	presenceFamily(prometheus.GaugeValue, "presence_own_members", "Of these, members by sessions of this edge.",
		func(p *presence.Stats) float64 { return float64(p.OwnMembers) }),
	presenceFamily(prometheus.GaugeValue, "presence_watchers", "WHOs of all sessions.",
		func(p *presence.Stats) float64 { return float64(p.Watchers) }),
	presenceFamily(prometheus.GaugeValue, "presence_edges", "Other edges whose members this one knows.",
		func(p *presence.Stats) float64 { return float64(p.Edges) }),
	presenceFamily(prometheus.CounterValue, "presence_requests_total", "Times that this edge asked another one for changes of presence that it lacked.",
		func(p *presence.Stats) float64 { return float64(p.Asked) }),

	counter("hook_faults_total", "Calls of hooks that failed, panicked or did not answer in time.",
		func(s *snapshot) uint64 { return s.HookFaults }),

	newFamily(prometheus.GaugeValue, "broker_up", "1: the broker's link to the other edges is up.", []string{"broker"},
		func(s *snapshot, add func(float64, ...string)) { add(number01(s.Linked), s.broker) }),
	counter("broker_unsent_total", "Publishes that the broker could not pass on to other edges.",
		func(s *snapshot) uint64 { return s.Unsent }),
	counter("broker_missed_total", "Publishes of other edges that came faster than this edge could deliver them, or too late.",
		func(s *snapshot) uint64 { return s.Missed }),
	counter("broker_rejected_total", "Messages of other edges that were refused: another edge's name, no legal names, or too large.",
		func(s *snapshot) uint64 { return s.Rejected }),
	gauge("token_store_writable", "1: the token store takes changes; 0: its disk has less room than the reserve.",
		func(s *snapshot) float64 { return number01(s.writable) }),
	newFamily(prometheus.GaugeValue, "embedded_storage_up",
		"1: the embedded NATS server stores tokens; 0: it has stopped, most likely since its disk is full.", nil,
		func(s *snapshot, add func(float64, ...string)) {
			if s.storing != nil {
				add(number01(*s.storing))
			}
		}),
	newFamily(prometheus.GaugeValue, "embedded_members",
		"Members of the cluster of the embedded NATS servers, by their state, as this edge knows them.", []string{"state"},
		func(s *snapshot, add func(float64, ...string)) {
			if s.quorum == nil {
				return
			}
			count := map[string]int{}
			for _, m := range s.quorum.Members {
				count[m.State]++
			}
			for _, state := range guest.MemberStates {
				add(float64(count[state]), state)
			}
		}),
	quorumFamily("embedded_quorum_up", "1: a majority of the embedded NATS servers runs, and one of them leads; 0: nothing can be stored.",
		func(q *guest.Quorum) float64 { return number01(q.Up()) }),
	quorumFamily("embedded_quorum_spare", "How many of the running embedded NATS servers may be lost; below 0: fewer run than must.",
		func(q *guest.Quorum) float64 { return float64(q.Spare()) }),
	newFamily(prometheus.GaugeValue, "token_store_replicas",
		"Servers that are to have the tokens of token_store nats, by whether they have all of them, as their leader said in the last 10 s.", []string{"state"},
		func(s *snapshot, add func(float64, ...string)) {
			if s.replicas.all > 0 {
				add(float64(s.replicas.current), "current")
				add(float64(s.replicas.all-s.replicas.current), "behind")
			}
		}),
	gauge("draining", "1: the edge takes no new sessions, and asks the open ones to leave.",
		func(s *snapshot) float64 { return number01(s.draining) }),

	tenantFamily("tenant_messages_in_total", "Messages that clients published and the edge accepted, by tenant.",
		func(m pubsub.TenantMetrics) float64 { return float64(m.MessagesIn) }),
	tenantFamily("tenant_deliveries_total", "Deliveries that were queued for subscribers, by tenant.",
		func(m pubsub.TenantMetrics) float64 { return float64(m.Deliveries) }),
	tenantFamily("tenant_share_wait_seconds_total", "Time that messages, PINGs, connections and pages of histories waited for the share of their tenant, or issuer, by tenant.",
		func(m pubsub.TenantMetrics) float64 { return m.Paused.Seconds() }),
}

// quorumFamily is there only where an embedded NATS server is in a cluster.
func quorumFamily(name, help string, value func(*guest.Quorum) float64) family {
	return newFamily(prometheus.GaugeValue, name, help, nil, func(s *snapshot, add func(float64, ...string)) {
		if s.quorum != nil {
			add(value(s.quorum))
		}
	})
}

// presenceFamily is there only where the edge has presence.
func presenceFamily(kind prometheus.ValueType, name, help string, value func(*presence.Stats) float64) family {
	return newFamily(kind, name, help, nil, func(s *snapshot, add func(float64, ...string)) {
		if s.Presence != nil {
			add(value(s.Presence))
		}
	})
}

// tenantFamily has series only where the option metrics.tenants is set: those
// tenants, and the sum of all others.
func tenantFamily(name, help string, value func(pubsub.TenantMetrics) float64) family {
	return newFamily(prometheus.CounterValue, name, help, []string{"tenant"}, func(s *snapshot, add func(float64, ...string)) {
		if !s.byTenant {
			return
		}
		add(value(s.Tenants[pubsub.OtherTenants]), pubsub.OtherTenants)
		for _, tenant := range slices.Sorted(maps.Keys(s.Tenants)) {
			if tenant != pubsub.OtherTenants {
				add(value(s.Tenants[tenant]), tenant)
			}
		}
	})
}

var writeLatency = prometheus.NewDesc(prefix+"publish_write_seconds",
	"Time from accepting a publish to the write that takes it to a subscriber, of the oldest message in each write.", nil, nil)

// Describe implements [prometheus.Collector].
func (hubCollector) Describe(to chan<- *prometheus.Desc) {
	for _, f := range hubFamilies {
		to <- f.desc
	}
	to <- writeLatency
}

// Collect implements [prometheus.Collector].
func (hubCollector) Collect(to chan<- prometheus.Metric) {
	if s := newSnapshot(); s != nil {
		s.collect(to)
	}
}

func (s *snapshot) collect(to chan<- prometheus.Metric) {
	for _, f := range hubFamilies {
		f.read(s, func(value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
		})
	}
	to <- constHistogram(writeLatency, s.WriteLatency)
}

// newSnapshot is nil where no configuration has an edge.
func newSnapshot() *snapshot {
	a := startedApps.currentOrDraining()
	if a == nil {
		return nil
	}
	live := a.running
	s := &snapshot{
		Metrics:  live.Hub.Metrics(),
		draining: caddy.Exiting() || errors.Is(live.Hub.Available(), pubsub.ErrDraining),
		broker:   driver(a.broker),
		byTenant: a.limits.MetricTenants > 0,
		writable: live.Writable(),
	}
	s.kept, s.histories = a.historyUsage(), a.historyStates()
	s.replicas.current, s.replicas.all = live.edge.store.replicas()
	if storing, known := a.Storing(); known {
		s.storing = &storing
	}
	if q, known := a.Quorum(); known {
		s.quorum = &q
	}
	return s
}

// constHistogram adds the counts up, as Prometheus wants them.
func constHistogram(desc *prometheus.Desc, h pubsub.Histogram) prometheus.Metric {
	buckets := make(map[float64]uint64, len(h.Bounds))
	var sum uint64
	for i, n := range h.Counts {
		sum += n
		if i < len(h.Bounds) {
			buckets[h.Bounds[i].Seconds()] = sum
		}
	}
	return prometheus.MustNewConstHistogram(desc, sum, h.Sum.Seconds(), buckets)
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var _ prometheus.Collector = hubCollector{}
