package pubsub

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

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

// closeStatus is how a session ends.
type closeStatus struct {
	code    wire.CloseCode
	reason  string
	errCode wire.Code // of the line
	errLine []byte    // a last ERR line, if any
	discard bool      // queued deliveries are not worth waiting for
}

// Renew sets when the session's token expires, unless a newer version of its
// record said so already.
func (s *Session) Renew(expiresAt time.Time, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.tokenVersion || s.detached {
		return
	}
	s.tokenVersion, s.expiresAt = version, expiresAt
	if s.expiryTimer == nil {
		s.expiryTimer = time.AfterFunc(time.Until(expiresAt), s.expire)
	} else {
		s.expiryTimer.Reset(time.Until(expiresAt))
	}
}

func (s *Session) expire() {
	s.mu.Lock()
	early := time.Until(s.expiresAt) > 0 // a refresh came in between, or the clock was set back
	if early && !s.detached {
		s.expiryTimer.Reset(time.Until(s.expiresAt))
	}
	s.mu.Unlock()
	if !early {
		s.closeWithError(wire.CloseUnauthorized, wire.CodeTokenExpired)
	}
}

// Revoke ends the session because its token was revoked.
func (s *Session) Revoke() { s.closeWithError(wire.CloseForbidden, wire.CodeTokenRevoked) }

// Forbid ends the session because its token does not allow what it is now.
func (s *Session) Forbid(what string) {
	s.close(closeStatus{
		code: wire.CloseForbidden, reason: string(wire.CodeForbidden) + ":" + what, errCode: wire.CodeForbidden,
		errLine: wire.AppendErr(nil, wire.CodeForbidden, what), discard: true,
	})
}

// CloseInternal ends the session because of a fault of the server.
func (s *Session) CloseInternal() { s.closeWithError(wire.CloseInternal, wire.CodeInternal) }

// closeWithError ends the session with an ERR line and a close code.
func (s *Session) closeWithError(code wire.CloseCode, why wire.Code) {
	s.close(closeStatus{code: code, reason: string(why), errCode: why, errLine: wire.AppendErr(nil, why), discard: true})
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

// Close ends the session from the transport's side: the client closed, or
// broke the rules of the transport. Queued deliveries are dropped.
func (s *Session) Close(code wire.CloseCode, reason string) {
	s.close(closeStatus{code: code, reason: reason, discard: true})
}

func (s *Session) close(e closeStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked(e)
}

func (s *Session) closeLocked(e closeStatus) {
	if s.closing != nil {
		return
	}
	s.closing = &e
	close(s.done)
	if e.discard {
		s.hub.count.drop(dropClosed, s.queue.discard())
		s.uncountQueue()
	}
	if e.errLine != nil {
		s.hub.count.refuse(e.errCode)
		s.queue.pushControl(Outgoing{Text, e.errLine})
	}
	if s.transport != nil {
		s.abortTimer = time.AfterFunc(closeGrace, s.transport.Abort)
	}
	s.wake()
}

// Detach is the transport's last call: its reader has stopped and the connection
// is closed. It removes every trace of the session from the hub.
func (s *Session) Detach() {
	s.Close(wire.CloseNormal, "")
	s.hub.linkWatch.unwatch(s)
	if s.held != nil {
		s.held.turn.giveUp()
	}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	for key, sub := range s.subscriptions {
		s.hub.removeSubscription(key.tenant, sub)
	}

	s.mu.Lock()
	s.subscriptions, s.deferredUnsubs, s.readyUnsubs, s.deferredPings, s.detached = nil, nil, nil, nil, true
	s.hub.count.drop(dropClosed, s.queue.clearAll())
	s.uncountQueue()
	for _, t := range []*time.Timer{s.expiryTimer, s.abortTimer, s.slowNoticeTimer} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	s.hub.removeSession(s)
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

// reject answers a message with an ERR line.
func (s *Session) reject(code wire.Code, context ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejectLocked(code, context...)
}

func (s *Session) rejectLocked(code wire.Code, context ...string) {
	if c := s.hub.log.Check(zap.DebugLevel, "refused"); c != nil {
		c.Write(zap.Uint64("connection", s.client.ID), zap.String("code", string(code)))
	}
	s.hub.count.refuse(code)
	s.queueControlLocked(Text, wire.AppendErr(nil, code, context...))
}

// notifyOutage tells the client, once in each outage, that its messages and
// subscriptions do not reach other edges. The caller holds s.mu.
func (s *Session) notifyOutage() {
	if n := s.hub.outage.Load(); n != 0 && n != s.outageSent {
		s.outageSent = n
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
}

// overloadTime is how long none of a session's publishes may have found the link full
// until the next one that does is another outage: an overload is one, not one for
// each message that found room.
const overloadTime = 3 * time.Second

// notifyUnsent tells the client that other edges do not get its publish, once in each
// outage. An overload of a tenant is an outage for who publishes to it, and for nobody
// else.
func (s *Session) notifyUnsent(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(why, ErrLinkFull) {
		s.notifyOutage()
		return
	}
	now := s.hub.now()
	if s.linkFullAt == 0 || now-s.linkFullAt > overloadTime {
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
	s.linkFullAt = now
}

// deliver queues a frame that matches a subscription, in its lane or, without
// one, the default lane; it never blocks.
func (s *Session) deliver(p *publication, f *frame, l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, l = s.revalidate(p, f, l); f == nil || s.closing != nil {
		s.hub.count.drop(dropClosed, 1)
		return
	}
	if p.limits.Slow == SlowDisconnect && !s.queue.fits(f.cost(), p.limits.SendQueue) {
		s.closeSlow(1, slowQueueFull)
		return
	}
	if n := s.queue.pushDelivery(l, f, p.limits.SendQueue); n > 0 {
		s.droppedTotal.Add(uint64(n))
		s.hub.count.drop(dropQueueFull, uint64(n))
		s.wake() // to say so
	}
	if s.queue.charge-s.queue.countedCharge >= queueChunk && !s.countQueue(p.limits, f) {
		return
	}
	if l.stream == nil && !l.writing && s.tryWriter != nil && !s.detached {
		l.writing = true
		p.toFlush = p.toFlush.add(s)
		return
	}
	s.wakeLane(l)
}

// CheckProgress ends the session if its client reads nothing: a write to its main
// stream takes longer than [Limits.WriteTimeout] for each writeStep. A transport calls it now and then, at least
// every 25 s, and from any goroutine: who neither reads nor sends would otherwise
// hold its session as long as its token is valid.
func (s *Session) CheckProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil && s.writeDeadline != 0 && s.hub.now() >= s.writeDeadline {
		s.closeSlow(0, slowWriteTimeout)
	}
}

// closeSlow ends a session whose client reads too slowly, when n deliveries more had
// come than are queued. The caller holds s.mu.
func (s *Session) closeSlow(n uint64, reason int) {
	s.hub.count.slowDisconnects[reason].Add(1)
	n += s.queue.discard()
	s.droppedTotal.Add(n)
	s.hub.count.drop(dropDisconnect, n)
	n += s.queue.dropped
	s.closeLocked(closeStatus{
		code: wire.CloseSlowConsumer, reason: string(wire.CodeSlowConsumer), errCode: wire.CodeSlowConsumer,
		errLine: slowLine(n), discard: true,
	})
}

// revalidate returns what a publisher may queue in place of a frame that it has for
// a lane: nothing if the subscription has ended meanwhile, and another frame if
// others have. The caller holds s.mu.
func (s *Session) revalidate(p *publication, f *frame, l *lane) (*frame, *lane) {
	switch {
	case l != nil && (l.dead || l.closing):
		return nil, nil
	case l != nil:
		return f, l
	case s.subsVersion > p.subsVersion:
		f = s.rematch(p)
	}
	return f, &s.queue.mainLane
}

// rematch matches a publish with the session's own list: the publisher may have
// looked for subscribers before the last change of it. Caller holds s.mu.
func (s *Session) rematch(p *publication) *frame {
	var patterns []string
	for key, sub := range s.subscriptions {
		if !key.ownStream && key.tenant == string(p.tenant) && sub.interest.pattern.Match(string(p.channel)) {
			patterns = append(patterns, key.pattern)
		}
	}
	if patterns == nil {
		return nil
	}
	slices.Sort(patterns)
	return p.encode(patterns)
}

// tryDeliver queues frames, each in its lane, and says how many: none if the queue is
// full, or the session is leaving, but as a last resort.
func (s *Session) tryDeliver(p *publication, parts []laneFrame) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	alive := parts[:0]
	for _, part := range parts {
		if part.frame, part.lane = s.revalidate(p, part.frame, part.lane); part.frame != nil {
			alive = append(alive, part)
			size += part.frame.cost()
		}
	}
	if s.reconnectSent != p.lastResort { // a last resort is no second try for others: they have got later ones meanwhile
		p.leavingFound = p.leavingFound || s.reconnectSent && s.closing == nil
		return 0
	}
	if s.closing != nil || !s.queue.fits(size, p.limits.SendQueue) ||
		s.queue.charge > 0 && s.queue.charge+size-s.queue.countedCharge >= queueChunk && !s.hasQueueRoom(s.queue.charge+size-s.queue.countedCharge, p.limits) {
		return 0
	}
	for _, part := range alive {
		s.queue.pushDelivery(part.lane, part.frame, p.limits.SendQueue)
		s.wakeLane(part.lane)
		s.countQueue(p.limits, part.frame)
	}
	return len(alive)
}

// laneFrame is a frame for one lane of a session; nil: the default one.
type laneFrame struct {
	lane  *lane
	frame *frame
}

// sendReconnect tells the client that this edge drains.
func (s *Session) sendReconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reconnectSent {
		s.reconnectSent = true
		s.uncountSession()
		s.queueControlLocked(Text, []byte(wire.LineReconnect))
	}
}
