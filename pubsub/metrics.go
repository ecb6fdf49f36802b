package pubsub

import (
	"time"

	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/wire"
)

// Metrics is what a hub has counted since it was made, and what it holds now.
type Metrics struct {
	Connections   map[string]int     // open sessions by transport
	Used          map[string]float64 // how much of each limit is, from 0 to 1: "connections" (Limits.MaxConnections), "files" and "memory" (Limits.Room); 0 also without a limit
	Limited       map[string]int     // open sessions with messages that have waited for 2 s or longer for a cap of "ingress" or "egress", in the last minute
	Subscriptions int64              // open
	Patterns      int64              // distinct ones of these, tenant by tenant
	QueuedBytes   int64              // waiting in the queues of all sessions, bookkeeping included
	QueueMemory   int64              // what Limits.QueueMemory bounds: bytes in queues of 16 KiB and more, where a message that several queues share counts in parts

	MessagesIn  uint64 // publishes that were accepted
	BytesIn     uint64 // of all messages from clients: lines, frames, pings
	Deliveries  uint64 // deliver frames that were queued, those dropped later included
	LinesOut    uint64 // lines, pings and pongs that were written
	FramesOut   uint64 // deliver frames that were written
	PresenceOut uint64 // frames about presence that were written
	BytesOut    uint64 // of all messages to clients, without the transport's framing

	Linked   bool   // the broker's link to the other edges is up
	Unsent   uint64 // publishes that the broker could not pass on
	Missed   uint64 // publishes of other edges that came faster than this one took them
	Rejected uint64 // messages of other edges that no edge accepts from a client

	HookFaults uint64 // calls of hooks that failed; see package hook

	Stored     uint64 // publishes that were stored in a history
	Repeated   uint64 // publishes that were not stored again, by their key
	Replayed   uint64 // deliveries from a history, to subscriptions that caught up
	FellBehind uint64 // times that a subscription with positions had no room in its queue
	Gaps       uint64 // times that a client was told that messages may be missing
	Behind     int64  // subscriptions with positions that wait for their next page

	Presence *presence.Stats // nil: the edge has no presence

	Dropped map[string]uint64 // deliveries dropped, by reason; see DropReasons
	// SlowDisconnects are sessions that were closed because their clients were slow, by
	// reason; see SlowReasons.
	SlowDisconnects map[string]uint64

	// Paused is how long messages, PINGs, connections and pages of histories have waited, all together, because their tenants or issuers were
	// over their share (Limits.TenantShare, Limits.IssuerShare), or for the turn of one of these.
	Paused time.Duration

	Refused map[wire.Code]uint64 // ERR lines, by code

	// WriteLatency is the time from accepting a publish to the write that takes it
	// to a subscriber: of the oldest message in each write.
	WriteLatency Histogram

	// Tenants are counts by tenant: of the first Limits.MetricTenants ones by
	// name, of all others under [OtherTenants]. Empty unless that limit is set.
	Tenants map[string]TenantMetrics
}

// TenantMetrics are the counts of one tenant.
type TenantMetrics struct {
	MessagesIn, Deliveries uint64        // as in [Metrics]
	Paused                 time.Duration // likewise, without messages of guests, which wait for their issuers
}

// OtherTenants stands for the tenants that are not counted by name. No tenant
// can have it: a name has no parentheses (docs/protocol.md, Names).
const OtherTenants = "(other)"

// DropReasons are the keys of [Metrics.Dropped]: "queue_full" (slow_consumer
// drop), "queue_memory" (likewise, because the queues of all sessions, or of those of the
// same token, tenant or address, have no room), "disconnect" (queued when a session was
// closed because its client was slow), "closed" (queued when it closed otherwise), and "max_lag"
// (of a history, older than it allows).
var DropReasons = []string{
	dropQueueFull: "queue_full", dropQueueMemory: "queue_memory", dropDisconnect: "disconnect", dropClosed: "closed",
	dropMaxLag: "max_lag",
}

// SlowReasons are the keys of [Metrics.SlowDisconnects]: "queue_full" (with the
// policy [SlowDisconnect]), "queue_memory" (likewise, see DropReasons), and
// "write_timeout" (a write took longer than [Limits.WriteTimeout]).
var SlowReasons = []string{slowQueueFull: "queue_full", slowQueueMemory: "queue_memory", slowWriteTimeout: "write_timeout"}

// Histogram counts durations. Counts[i] is of those up to Bounds[i] and over
// the bound before; the last one, without a bound, of all others.
type Histogram struct {
	Bounds []time.Duration
	Counts []uint64
	Sum    time.Duration
}
