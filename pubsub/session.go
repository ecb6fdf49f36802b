package pubsub

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
	"go.uber.org/zap"
)

// Rights decide what a client may do. Implementations are safe for concurrent
// use and do not change.
type Rights interface {
	CanPublish(tenant, channel []byte) bool
	CanSubscribe(tenant string, p pattern.Pattern) bool
}

// Identity is what a checked access token says of a client.
type Identity struct {
	TokenID   string
	Version   uint64 // of the token's record, grows with each change
	ExpiresAt time.Time
	Rights    Rights
	IngressKB int // KiB/s from the client; 0: the edge's default
	EgressKB  int // KiB/s to the client; 0: the edge's default
}

// Client describes a connection to its operator.
type Client struct {
	ID        uint64
	IP        netip.Addr
	Transport string // "websocket" or "webtransport"
	Listener  string // the UDP address that a WebTransport client came in by; empty: none
	Since     time.Time
}

// Session is the protocol state of one client (docs/protocol.md, Lines and
// Frames). Its transport calls Ready, Charge and the Handle methods one at a time,
// in the order in which the client's messages arrived.
type Session struct {
	// static after Admit
	hub      *Hub
	identity Identity
	client   Client

	// owned by the reader
	subscriptions map[subscriptionKey]*subscription
	patternBytes  int
	broken        int // broken messages in a row
	ingress       bucket
	outage        bool // the client knows that the broker's link is down

	// for operators
	subscribed atomic.Int64
	lost       atomic.Uint64

	done   chan struct{} // closed when the session starts to end
	resume chan struct{} // tells a reader that waits for its client to read
	kick   chan struct{} // tells a writer that waits for its cap of control messages

	mu        sync.Mutex // guards the rest
	queue     queue
	egress    bucket
	transport Transport
	stalled   bool // the reader waits on resume
	noticed   bool // a slow_consumer line was sent less than noticeEvery ago
	told      bool // RECONNECT was sent
	ending    *ending
	said      bool // the close was written
	gone      bool // End was called
	expiry    *time.Timer
	expiresAt time.Time
	version   uint64
	cut       *time.Timer
	notice    *time.Timer
}

// ending is how a session ends.
type ending struct {
	code    wire.CloseCode
	reason  string
	line    []byte // a last ERR line, if any
	discard bool   // queued deliveries are not worth waiting for
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
		code: wire.CloseForbidden, reason: string(wire.CodeForbidden) + ":" + what,
		line: wire.AppendErr(nil, wire.CodeForbidden, what), discard: true,
	})
}

// Fault ends the session because of a fault of the server.
func (s *Session) Fault() { s.fail(wire.CloseInternal, wire.CodeInternal) }

// fail ends the session with an ERR line and a close code.
func (s *Session) fail(code wire.CloseCode, why wire.Code) {
	s.end(ending{code: code, reason: string(why), line: wire.AppendErr(nil, why), discard: true})
}

// Attach gives the session its transport; what was queued before is written
// now. The transport starts reading after it.
func (s *Session) Attach(t Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transport = t
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
		s.queue.discard()
	}
	if e.line != nil {
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
	for key, sub := range s.subscriptions {
		s.hub.leave(key.tenant, sub)
	}
	s.subscriptions = nil
	s.subscribed.Store(0)

	s.mu.Lock()
	s.gone = true
	s.queue.clearAll()
	for _, t := range []*time.Timer{s.expiry, s.cut, s.notice} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
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
	s.wake()
}

// reject answers a message with an ERR line.
func (s *Session) reject(code wire.Code, context ...string) {
	if c := s.hub.log.Check(zap.DebugLevel, "refused"); c != nil {
		c.Write(zap.Uint64("connection", s.client.ID), zap.String("code", string(code)))
	}
	s.Control(Text, wire.AppendErr(nil, code, context...))
}

// deliver queues a frame that matches a subscription, in its lane or, without
// one, the default lane; it never blocks.
func (s *Session) deliver(frame []byte, l *lane) {
	limits := s.hub.limits.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l == nil {
		l = &s.queue.lane
	}
	if s.ending != nil || l.dead {
		return
	}
	if limits.Slow == SlowDisconnect && !s.queue.fits(cost(frame), limits.SendQueue) {
		n := s.queue.discard() + 1
		s.lost.Add(n)
		s.endLocked(ending{code: wire.CloseSlowConsumer, reason: string(wire.CodeSlowConsumer), line: slowLine(n), discard: true})
		return
	}
	if n := s.queue.pushDelivery(l, frame, limits.SendQueue); n > 0 {
		s.lost.Add(uint64(n))
		s.wake() // to say so
	}
	s.wakeLane(l)
}

// offer queues frames, each in its lane, unless the queue is full or the session
// is leaving.
func (s *Session) offer(parts []part) bool {
	limits := s.hub.limits.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	alive := parts[:0]
	for _, p := range parts {
		if p.lane == nil {
			p.lane = &s.queue.lane
		}
		if !p.lane.dead {
			alive = append(alive, p)
			size += cost(p.frame)
		}
	}
	if s.ending != nil || s.told || len(alive) == 0 || !s.queue.fits(size, limits.SendQueue) {
		return false
	}
	for _, p := range alive {
		s.queue.pushDelivery(p.lane, p.frame, limits.SendQueue)
		s.wakeLane(p.lane)
	}
	return true
}

// part is a frame for one lane of a session; nil: the default one.
type part struct {
	lane  *lane
	frame []byte
}

// reconnect tells the client that this edge drains.
func (s *Session) reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told {
		s.told = true
		s.control(Text, []byte(wire.LineReconnect))
	}
}
