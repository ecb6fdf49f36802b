package pubsub

import (
	"encoding/json"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Rights decide what a client may do. Implementations are safe for concurrent
// use and do not change.
type Rights interface {
	CanPublish(tenant, channel []byte) bool
	CanSubscribe(tenant string, p pattern.Pattern) bool
}

// Identity is what a checked access token says of a client.
type Identity struct {
	EgressKB  int // KiB/s to the client; 0: the edge's default
	IngressKB int // KiB/s from the client; 0: the edge's default
	TokenID   string
	Version   uint64 // of the token's record; each change increases it
	ExpiresAt time.Time
	Rights    Rights
	// RightBytes is how much memory Rights take, once for all connections of the token.
	RightBytes int
	Tenants    []string // that the token names; the session counts for the first MaxTenantsCounted
	// Issuer is who issued the token; tokens of those who are nobody else's have the same, and empty is
	// one, too. See [Issuers].
	Issuer string

	Subject string          // whose token it is; empty: nobody's
	Info    json.RawMessage // of the token, for hooks and operators: a JSON object; nil: none
}

// Client describes a connection to its operator.
type Client struct {
	ID           uint64
	ConnectionID wire.ConnectionID // of its handshake; zero: none

	IP        netip.Addr
	SharedIP  bool   // IP is a proxy's, with many clients behind it: no share is kept for it
	Transport string // "websocket" or "webtransport"
	Listener  string // the UDP address that a WebTransport client connected to; empty: none
	Since     time.Time
	Cost      Cost // of its connection; zero: it is not counted
}

// Session is the protocol state of one client (docs/protocol.md, Lines and
// Frames). Its transport calls Ready, Charge and the Handle methods one at a time,
// in the order in which the client's messages arrived.
type Session struct {
	hub *Hub // static after Admit

	// The fields that each delivery touches stand together, up to the first of identity:
	// with 100,000 sessions in a channel, they come from memory each time.
	mu          sync.Mutex // guards what follows, down to queue
	closing     *closeStatus
	subsVersion uint64    // Hub.subsVersion at the last change of this session's subscriptions
	tryWriter   TryWriter // the transport, if it is one
	egress      bucket

	stalled        bool // the reader waits on resume
	slowNoticeSent bool // a slow_consumer line was sent less than slowNoticeEvery ago
	reconnectSent  bool // RECONNECT was sent
	partialWrite   bool // the transport holds bytes that TryWrite could not write
	makesPackets   bool // the transport is a Packeter; static after Attach
	closeSent      bool // the close was written
	showsID        bool // ERR lines end with the connection id
	detached       bool // Detach was called
	counted        bool // its accounts count it as a connection

	connected bool // the hooks were notified of it; static after Connected

	linkDownSent bool // the client was last told that the link is down

	workQueue bool // see turnOnWorkQueue; only the reader changes it

	variant variant // of the deliver frames that the client wants

	resumables *resumables // nil: it never had a subscription with positions

	queue queue

	// static after Admit
	identity Identity
	client   Client
	token    *tokenState
	address  *account      // of the client's network; nil: it does not count
	writer   func()        // runWriter, bound once
	done     chan struct{} // closed when the session starts to close
	resume   chan struct{} // tells a stalled reader that the client has read enough
	kick     chan struct{} // tells a writer that waits for its cap that there is a control message

	// owned by the reader
	broken       int32 // broken messages in a row
	ingress      bucket
	lastTenant   *tenant      // that it published to last; may have been removed
	lastAccount  *cpuAccount  // of the tenant that it used last; may have been removed
	isGuest      bool         // in that tenant
	lastDivision uint64       // of issuers, then
	issuerCPU    *cpuAccount  // of its token's issuer; may have been removed
	uncharged    int32        // bytes that were received, and are not charged to the token's cap yet
	held         *heldMessage // must be handled before anything else is; nil: none
	// handling is since when work on a message is not charged yet, on the hub's clock; zero: it is.
	// reading is what it took to read what comes before the next message, about.
	handling, reading time.Duration
	ingressWait       ingressWait
	nextFreePing      time.Duration // when a ping takes no turn again, on the hub's clock

	keptTenant keptTenant     // of the tenant that it published to last
	window     *publishWindow // nil: it never published to a kept channel

	unsettled []uint64 // marks of publishes that may or may not have been stored; see ownMarks

	publishedTo []string // the tenants that it published to last, at most maxPublishedTo

	// subscribing is held while subscriptions change, and guards what follows. It is
	// taken before mu.
	subscribing    sync.Mutex
	patternBytes   int32
	shapes         shapeCounts
	deferredUnsubs map[subscriptionKey]*deferredUnsub // UNSUBs that wait
	commands       *commandQueues                     // nil: hooks were never asked
	presence       *sessionPresence                   // nil: it never had any

	// for operators
	droppedTotal atomic.Uint64

	tellsReasons atomic.Bool // the client has turned on wire.FeatureReasons

	backlog atomic.Bool // the reader may have to wait until the client has read control lines

	owed atomic.Int64 // ns of processor time that are not charged yet; see owe
	owes atomic.Bool  // something was charged since it was waited for the last time; see awaitPaid

	// guarded by mu
	subscriptions   map[subscriptionKey]*subscription // changed with subscribing held, too
	readyUnsubs     []*deferredUnsub                  // no longer have to wait
	deferredPings   *deferredPings                    // nil: none had to wait
	transport       Transport
	outageSent      uint64        // the last outage that the client was notified of; see Hub.outage
	linkFullAt      time.Duration // on the hub's clock, when the last publish found the link full for its tenant; 0: never
	limited         [directions]limitation
	writeDeadline   time.Duration // on the hub's clock, of the write to the main stream; 0: none is under way
	expiryTimer     *time.Timer
	expiresAt       time.Time
	tokenVersion    uint64
	abortTimer      *time.Timer
	slowNoticeTimer *time.Timer
}

// Attach gives the session its transport, which writes what was queued before. The
// transport starts to read after it.
func (s *Session) Attach(t Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transport, s.writer = t, s.runWriter
	s.tryWriter, _ = t.(TryWriter)
	_, s.makesPackets = t.(Packeter)
	if s.closing != nil {
		s.abortTimer = time.AfterFunc(closeGrace, t.Abort)
	}
	s.wake()
}

// QueueControl queues a message that overtakes deliveries, for a transport's own
// pings and pongs.
func (s *Session) QueueControl(kind Kind, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queueControlLocked(kind, data)
}

// queueControlLocked is QueueControl for a caller that holds s.mu.
func (s *Session) queueControlLocked(kind Kind, data []byte) {
	if s.closing != nil {
		return
	}
	s.queue.pushControl(Outgoing{kind, data})
	s.checkBacklog()
	s.wake()
}
