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
	mu      sync.Mutex // guards what follows, down to queue
	ending  *ending
	changed uint64    // of Hub.changes, at the last change of subscriptions
	trier   TryWriter // the transport, if it is one
	egress  bucket

	stalled bool // the reader waits on resume
	noticed bool // a slow_consumer line was sent less than noticeEvery ago
	told    bool // RECONNECT was sent
	unsent  bool // the transport holds bytes that TryWrite could not write
	said    bool // the close was written
	gone    bool // End was called
	counted bool // among the connections of its accounts

	connected bool // the hooks were told of it; static after Connected

	linkDown bool // the client was told so

	queue queue

	// static after Admit
	identity Identity
	client   Client
	token    *tokenState
	address  *account      // of the client's network; nil: it does not count
	run      func()        // write, bound once
	done     chan struct{} // closed when the session starts to end
	resume   chan struct{} // tells a reader that waits for its client to read
	kick     chan struct{} // tells a writer that waits for its cap of control messages

	// owned by the reader
	broken  int32 // broken messages in a row
	ingress bucket
	near    *tenant      // that it published to last; may be gone
	load    *load        // of the tenant that it used last; may be out of use
	unpaid  int32        // bytes that came, and are not charged to the token's cap yet
	held    *heldMessage // to be waited for before anything else is handled; nil: none

	publishedTo []string // the tenants that it published to last, at most maxPublishedTo

	// subscribing is held by who changes subscriptions, and guards what follows. It is
	// taken before mu.
	subscribing  sync.Mutex
	patternBytes int32
	shapes       shapeCounts
	putOff       map[subscriptionKey]*putOff // UNSUBs that wait
	asks         asks

	// for operators
	lost atomic.Uint64

	backlog atomic.Bool // the client may have to read control lines before it is read from

	// guarded by mu
	subscriptions map[subscriptionKey]*subscription // changed with subscribing held, too
	due           []*putOff                         // what is to be done now
	pings         *putOffPings                      // nil: none had to wait
	transport     Transport
	outage        uint64        // the last one that the client knows of; see Hub.outage
	linkFull      time.Duration // on the hub's clock, when the last publish found the link full for its tenant; 0: never
	limitedTold   time.Duration // on the hub's clock, when the last egress_limited line was sent; 0: never
	writeBy       time.Duration // on the hub's clock, when the write to the main stream has taken too long; 0: none is under way
	expiry        *time.Timer
	expiresAt     time.Time
	version       uint64
	cut           *time.Timer
	notice        *time.Timer
}

// ending is how a session ends.
type ending struct {
	code    wire.CloseCode
	reason  string
	why     wire.Code // of the line
	line    []byte    // a last ERR line, if any
	discard bool      // queued deliveries are not worth waiting for
}

// Renew sets when the session's token expires, unless a newer version of its
// record said so already.
func (s *Session) Renew(expiresAt time.Time, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.version || s.gone {
		return
	}
	s.version, s.expiresAt = version, expiresAt
	if s.expiry == nil {
		s.expiry = time.AfterFunc(time.Until(expiresAt), s.expire)
	} else {
		s.expiry.Reset(time.Until(expiresAt))
	}
}

func (s *Session) expire() {
	s.mu.Lock()
	early := time.Until(s.expiresAt) > 0 // a refresh came in between, or the clock was set back
	if early && !s.gone {
		s.expiry.Reset(time.Until(s.expiresAt))
	}
	s.mu.Unlock()
	if !early {
		s.fail(wire.CloseUnauthorized, wire.CodeTokenExpired)
	}
}

// Revoke ends the session because its token was revoked.
func (s *Session) Revoke() { s.fail(wire.CloseForbidden, wire.CodeTokenRevoked) }

// Forbid ends the session because its token does not allow what it is now.
func (s *Session) Forbid(what string) {
	s.end(ending{
		code: wire.CloseForbidden, reason: string(wire.CodeForbidden) + ":" + what, why: wire.CodeForbidden,
		line: wire.AppendErr(nil, wire.CodeForbidden, what), discard: true,
	})
}

// Fault ends the session because of a fault of the server.
func (s *Session) Fault() { s.fail(wire.CloseInternal, wire.CodeInternal) }

// fail ends the session with an ERR line and a close code.
func (s *Session) fail(code wire.CloseCode, why wire.Code) {
	s.end(ending{code: code, reason: string(why), why: why, line: wire.AppendErr(nil, why), discard: true})
}

// Attach gives the session its transport; what was queued before is written
// now. The transport starts reading after it.
func (s *Session) Attach(t Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transport, s.run = t, s.write
	s.trier, _ = t.(TryWriter)
	if s.ending != nil {
		s.cut = time.AfterFunc(closeGrace, t.Abort)
	}
	s.wake()
}

// Close ends the session from the transport's side: the client closed, or
// broke the rules of the transport. Queued deliveries are dropped.
func (s *Session) Close(code wire.CloseCode, reason string) {
	s.end(ending{code: code, reason: reason, discard: true})
}

func (s *Session) end(e ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(e)
}

func (s *Session) endLocked(e ending) {
	if s.ending != nil {
		return
	}
	s.ending = &e
	close(s.done)
	if e.discard {
		s.hub.count.drop(dropClosed, s.queue.discard())
		s.uncountQueue()
	}
	if e.line != nil {
		s.hub.count.refuse(e.why)
		s.queue.pushControl(Outgoing{Text, e.line})
	}
	if s.transport != nil {
		s.cut = time.AfterFunc(closeGrace, s.transport.Abort)
	}
	s.wake()
}

// End is the transport's last call: its reader has stopped and the connection
// is closed. It removes every trace of the session from the hub.
func (s *Session) End() {
	s.Close(wire.CloseNormal, "")
	s.hub.linkWatch.unwatch(s)
	if s.held != nil {
		s.held.turn.leave()
	}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	for key, sub := range s.subscriptions {
		s.hub.leave(key.tenant, sub)
	}

	s.mu.Lock()
	s.subscriptions, s.putOff, s.due, s.pings, s.gone = nil, nil, nil, nil, true
	s.hub.count.drop(dropClosed, s.queue.clearAll())
	s.uncountQueue()
	for _, t := range []*time.Timer{s.expiry, s.cut, s.notice} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	s.tellDisconnected()
	s.hub.forget(s)
}

// Control queues a message that overtakes deliveries, for a transport's own
// pings and pongs.
func (s *Session) Control(kind Kind, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control(kind, data)
}

func (s *Session) control(kind Kind, data []byte) {
	if s.ending != nil {
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
	s.control(Text, wire.AppendErr(nil, code, context...))
}

// tellOutage tells the client, once in each outage, that its messages and
// subscriptions do not reach other edges. The caller holds s.mu.
func (s *Session) tellOutage() {
	if n := s.hub.outage.Load(); n != 0 && n != s.outage {
		s.outage = n
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
}

// overloadTime is how long none of a session's publishes may have found the link full
// until the next one that does is another outage: an overload is one, not one for
// each message that found room.
const overloadTime = 3 * time.Second

// tellUnsent tells the client that other edges do not get its publish, once in each
// outage. An overload of a tenant is an outage for who publishes to it, and for nobody
// else.
func (s *Session) tellUnsent(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(why, ErrLinkFull) {
		s.tellOutage()
		return
	}
	now := s.hub.now()
	if s.linkFull == 0 || now-s.linkFull > overloadTime {
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
	s.linkFull = now
}

// deliver queues a frame that matches a subscription, in its lane or, without
// one, the default lane; it never blocks.
func (s *Session) deliver(p *publication, f *frame, l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, l = s.current(p, f, l); f == nil || s.ending != nil {
		s.hub.count.drop(dropClosed, 1)
		return
	}
	if p.limits.Slow == SlowDisconnect && !s.queue.fits(f.cost(), p.limits.SendQueue) {
		s.endSlow(1, slowQueueFull)
		return
	}
	if n := s.queue.pushDelivery(l, f, p.limits.SendQueue); n > 0 {
		s.lost.Add(uint64(n))
		s.hub.count.drop(dropQueueFull, uint64(n))
		s.wake() // to say so
	}
	if s.queue.charge-s.queue.counted >= queueChunk && !s.countQueue(p.limits, f) {
		return
	}
	if l.stream == nil && !l.writing && s.trier != nil && !s.gone {
		l.writing = true
		p.out = p.out.add(s)
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
	if s.ending == nil && s.writeBy != 0 && s.hub.now() >= s.writeBy {
		s.endSlow(0, slowWriteTimeout)
	}
}

// endSlow ends a session whose client reads too slowly, when n deliveries more had
// come than are queued. The caller holds s.mu.
func (s *Session) endSlow(n uint64, reason int) {
	s.hub.count.slow[reason].Add(1)
	n += s.queue.discard()
	s.lost.Add(n)
	s.hub.count.drop(dropDisconnect, n)
	n += s.queue.dropped
	s.endLocked(ending{
		code: wire.CloseSlowConsumer, reason: string(wire.CodeSlowConsumer), why: wire.CodeSlowConsumer,
		line: slowLine(n), discard: true,
	})
}

// current returns what a publisher may queue in place of a frame that it has for
// a lane: nothing if the subscription has ended meanwhile, and another frame if
// others have. The caller holds s.mu.
func (s *Session) current(p *publication, f *frame, l *lane) (*frame, *lane) {
	switch {
	case l != nil && (l.dead || l.closing):
		return nil, nil
	case l != nil:
		return f, l
	case s.changed > p.changes:
		f = s.again(p)
	}
	return f, &s.queue.lane
}

// again matches a publish with the session's own list: the publisher may have
// looked for subscribers before the last change of it. Caller holds s.mu.
func (s *Session) again(p *publication) *frame {
	var patterns []string
	for key, sub := range s.subscriptions {
		if !key.own && key.tenant == string(p.tenant) && sub.interest.pattern.Match(string(p.channel)) {
			patterns = append(patterns, key.pattern)
		}
	}
	if patterns == nil {
		return nil
	}
	slices.Sort(patterns)
	return p.encode(patterns)
}

// offer queues frames, each in its lane, and says how many: none if the queue is
// full, or the session is leaving, but as a last resort.
func (s *Session) offer(p *publication, parts []part) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	alive := parts[:0]
	for _, part := range parts {
		if part.frame, part.lane = s.current(p, part.frame, part.lane); part.frame != nil {
			alive = append(alive, part)
			size += part.frame.cost()
		}
	}
	if s.told != p.lastResort { // a last resort is no second try for others: they have got later ones meanwhile
		p.leaving = p.leaving || s.told && s.ending == nil
		return 0
	}
	if s.ending != nil || !s.queue.fits(size, p.limits.SendQueue) ||
		s.queue.charge > 0 && s.queue.charge+size-s.queue.counted >= queueChunk && !s.queueRoom(s.queue.charge+size-s.queue.counted, p.limits) {
		return 0
	}
	for _, part := range alive {
		s.queue.pushDelivery(part.lane, part.frame, p.limits.SendQueue)
		s.wakeLane(part.lane)
		s.countQueue(p.limits, part.frame)
	}
	return len(alive)
}

// part is a frame for one lane of a session; nil: the default one.
type part struct {
	lane  *lane
	frame *frame
}

// reconnect tells the client that this edge drains.
func (s *Session) reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told {
		s.told = true
		s.uncount()
		s.control(Text, []byte(wire.LineReconnect))
	}
}
