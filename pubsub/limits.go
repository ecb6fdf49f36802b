package pubsub

import "time"

// SlowPolicy says what happens to a client whose send queue is full.
type SlowPolicy uint8

const (
	// SlowDrop drops the oldest queued deliveries and announces how many.
	SlowDrop SlowPolicy = iota
	// SlowDisconnect closes the connection with 4429.
	SlowDisconnect
)

// Limits bound what clients may cost. They can be replaced at any time with
// [Hub.SetLimits] and then hold for everything that follows, on open
// connections too. The zero value of a field takes no default here; see
// [DefaultLimits].
type Limits struct {
	MaxPayload       int // bytes of one publish's payload
	MaxSubscriptions int // per connection, 1–65,535
	MaxPatternShapes int // of the patterns of a connection; see [pattern.Shape]
	MaxConnections   int // per edge; 0: no limit
	// Room is what all connections together may take of the process: files, and bytes of memory; 0: no
	// limit. Who has a limit of connections of its own has no share of these; nor is there one
	// without MaxConnections.
	Room Cost
	// Of connections on this edge; 0: half of MaxConnections.
	MaxConnectionsPerToken, MaxConnectionsPerTenant, MaxConnectionsPerAddress int
	MaxConnectionsPerSubject                                                  int // in each of the tenants of its token, on this edge; 0: no limit

	SendQueue        int           // bytes of queued deliveries per connection
	QueueMemory      int           // bytes of the deliveries in all queues, see share.go; 0: no limit
	RightMemory      int           // bytes of the rights of all tokens that have connections, half of them for one tenant; 0: no limit
	Slow             SlowPolicy    // what happens when SendQueue is full
	DefaultIngressKB int           // KiB/s per connection where the token names no rate
	DefaultEgressKB  int           // likewise, to the client
	TokenIngressKB   int           // KiB/s of all connections of a token together; 0: no cap
	TokenEgressKB    int           // likewise, to the clients
	TenantIngressKB  int           // KiB/s of all publishes to a tenant; 0: no cap
	TenantEgressKB   int           // KiB/s of all deliveries of a tenant's messages; 0: no cap
	WriteTimeout     time.Duration // of a write to a client, for each writeStep of it; 0: none
	Drain            time.Duration // from RECONNECT to close 1001, at least MinDrain
	MetricTenants    int           // tenants that are counted by name; 0: none

	MaxPatternShapesPerTenant int // of the patterns of a tenant on this edge
	MaxPatterns               int // distinct ones on this edge; 0: no limit. No tenant and no token has more than half
	MaxPatternsPerTenant      int // 0: half of MaxPatterns
	MaxPatternsPerToken       int // patterns that its sessions were the first to have; 0: half of MaxPatterns

	// TenantShare is how much of the processors, in percent, the messages of a
	// tenant may use while those of other tenants come, too; 0 and 100: no limit.
	TenantShare int
	// IssuerShare is how much of the edge, in percent, the tokens of one issuer may take where there
	// are several (see [Issuers]): of MaxConnections, QueueMemory, RightMemory, MaxPatterns and
	// what is known of presence, and of the processors while messages of others' tokens come, too.
	// 0 and 100: no limit.
	IssuerShare int
}

// DefaultLimits are the documented defaults of an edge (docs/configuration.md).
func DefaultLimits() Limits {
	return Limits{
		MaxPayload:       64 << 10,
		MaxSubscriptions: 1024,
		MaxPatternShapes: 32,
		MaxConnections:   100_000,
		SendQueue:        1 << 20,
		QueueMemory:      1 << 30,
		RightMemory:      256 << 20,
		DefaultIngressKB: 8,
		DefaultEgressKB:  8,
		WriteTimeout:     time.Minute,
		Drain:            10 * time.Second,

		MaxPatternShapesPerTenant: 256,
		MaxPatterns:               1_000_000,
		TenantShare:               50,
		IssuerShare:               50,
	}
}

// LargestFrame is how many bytes a deliver frame may take in a send queue: the
// payload, the names, and every pattern of a connection.
func (l Limits) LargestFrame() int {
	return l.MaxPayload + MaxPatternBytes + 2*l.MaxSubscriptions + 1024
}

const (
	// MaxPatternBytes bounds the text of all subscriptions of a connection.
	MaxPatternBytes = 64 << 10
	// MaxControlBacklog is how many bytes of control lines may wait for a
	// client before the edge stops reading from it (docs/protocol.md, Codes).
	MaxControlBacklog = 64 << 10
	// MaxBroken is how many broken messages in a row close a connection.
	MaxBroken = 16
	// ReadOverhead is how many bytes a message may be longer than MaxPayload before the
	// connection is closed with 1009.
	ReadOverhead = 4096
	// MaxOwnStreams is how many subscriptions of a connection may have a stream
	// of their own (docs/protocol.md, WebTransport).
	MaxOwnStreams = 16
	// MinDrain leaves every client 6 s between its RECONNECT and the close.
	MinDrain = 7 * time.Second

	lastReconnect   = 6 * time.Second        // before the end of the drain period
	maxReconnectGap = 100 * time.Millisecond // from one client's RECONNECT to the next one's
	slowNoticeEvery = time.Second            // at most one slow_consumer line in this time
	limitedAfter    = 2 * time.Second        // when deliveries have waited for a cap for so long, the client is told
	limitedEvery    = time.Minute            // and told again after so long
	closeGrace      = 2 * time.Second        // for the close handshake, then the socket is cut
	itemOverhead    = 96                     // bytes of bookkeeping that a queued message costs
	costOverhead    = 32                     // bytes that the caps add to those of each message
)
