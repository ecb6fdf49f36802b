package pubsub

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
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
	Version   uint64 // of the token's record, grows with each change
	ExpiresAt time.Time
	Rights    Rights
	Tenants   []string // that the token names; the first MaxTenantsCounted are counted for
}

// Client describes a connection to its operator.
type Client struct {
	ID        uint64
	IP        netip.Addr
	SharedIP  bool   // many clients are behind IP, as it is a proxy's: it takes no share
	Transport string // "websocket" or "webtransport"
	Listener  string // the UDP address that a WebTransport client came in by; empty: none
	Since     time.Time
}

// Session is the protocol state of one client (docs/protocol.md, Lines and
// Frames). Its transport calls Ready, Charge and the Handle methods one at a time,
// in the order in which the client's messages arrived.
type Session struct {
	hub *Hub // static after Admit

	// What each delivery touches stands together, up to the first of identity: with
	// 100,000 sessions in a channel, it comes from memory each time.
	mu          sync.Mutex // guards what follows, down to queue
	closing     *closeStatus
	subsVersion uint64    // of Hub.changes, at the last change of subscriptions
	tryWriter   TryWriter // the transport, if it is one
	egress      bucket

	stalled        bool // the reader waits on resume
	slowNoticeSent bool // a slow_consumer line was sent less than noticeEvery ago
	reconnectSent  bool // RECONNECT was sent
	partialWrite   bool // the transport holds bytes that TryWrite could not write
	closeSent      bool // the close was written
	detached       bool // End was called
	counted        bool // among the connections of its accounts

	connected bool // the hooks were told of it; static after Connected

	linkDownSent bool // the client was told so

	queue queue

	// static after Admit
	identity Identity
	client   Client
	token    *tokenState
	address  *account      // of the client's network; nil: it does not count
	writer   func()        // write, bound once
	done     chan struct{} // closed when the session starts to end
	resume   chan struct{} // tells a reader that waits for its client to read
	kick     chan struct{} // tells a writer that waits for its cap of control messages

	// owned by the reader
	broken     int32 // broken messages in a row
	ingress    bucket
	lastTenant *tenant      // that it published to last; may be gone
	lastLoad   *load        // of the tenant that it used last; may be out of use
	uncharged  int32        // bytes that came, and are not charged to the token's cap yet
	held       *heldMessage // to be waited for before anything else is handled; nil: none

	publishedTo []string // the tenants that it published to last, at most maxPublishedTo

	// subscribing is held by who changes subscriptions, and guards what follows. It is
	// taken before mu.
	subscribing    sync.Mutex
	patternBytes   int32
	shapes         shapeCounts
	deferredUnsubs map[subscriptionKey]*deferredUnsub // UNSUBs that wait
	asks           asks

	// for operators
	droppedTotal atomic.Uint64

	backlog atomic.Bool // the client may have to read control lines before it is read from

	// guarded by mu
	subscriptions   map[subscriptionKey]*subscription // changed with subscribing held, too
	readyUnsubs     []*deferredUnsub                  // what is to be done now
	deferredPings   *deferredPings                    // nil: none had to wait
	transport       Transport
	outageSent      uint64        // the last one that the client knows of; see Hub.outage
	linkFullAt      time.Duration // on the hub's clock, when the last publish found the link full for its tenant; 0: never
	limitedSentAt   time.Duration // on the hub's clock, when the last egress_limited line was sent; 0: never
	writeDeadline   time.Duration // on the hub's clock, when the write to the main stream has taken too long; 0: none is under way
	expiryTimer     *time.Timer
	expiresAt       time.Time
	tokenVersion    uint64
	abortTimer      *time.Timer
	slowNoticeTimer *time.Timer
}

// Attach gives the session its transport; what was queued before is written
// now. The transport starts reading after it.
func (s *Session) Attach(t Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transport, s.writer = t, s.runWriter
	s.tryWriter, _ = t.(TryWriter)
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

func (s *Session) queueControlLocked(kind Kind, data []byte) {
	if s.closing != nil {
		return
	}
	s.queue.pushControl(Outgoing{kind, data})
	s.checkBacklog()
	s.wake()
}
