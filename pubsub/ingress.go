package pubsub

import (
	"bytes"
	"time"

	"github.com/millrace/millrace/wire"
)

// heldMessage is a message that was received, and is handled when the session's turn
// comes. It keeps its place: nothing is read behind it until then.
type heldMessage struct {
	turn   *turn
	data   []byte
	handle func(*Session, []byte) // nil: there is no message to handle, only bytes to charge
	since  time.Duration          // when it began to wait, on the hub's clock
}

// watchEvery is how often a session that is not read from checks whether its client
// is still there.
const watchEvery = time.Second

// Charge counts n bytes that the client sent, a message or a part of one, against its
// ingress caps. The transport calls it for all that it reads, before it hands over what
// it has read.
func (s *Session) Charge(n int) {
	s.hub.count.bytesIn.Add(uint64(n))
	s.ingress.charge(n)
	s.uncharged += int32(n + costOverhead)
	if s.ingressWait.which != "" {
		s.readAfterWait()
	}
	s.reading += readCost + time.Duration(n/2)
}

// accept handles a message now, or holds it until the cap of the client's token
// allows it.
func (s *Session) accept(data []byte, handle func(*Session, []byte)) {
	for !s.awaitHeld(time.Hour) { // a message of another stream is held: this one comes behind it
		if s.Closing() {
			return
		}
	}
	switch {
	case s.Closing():
	case s.chargeToken():
		s.handleNow(data, handle, string(data) == "PING")
	default:
		s.hold(data, handle)
	}
}

// chargeToken charges what was received to the cap of the client's token. If it reports
// false, the session has to wait for its turn.
func (s *Session) chargeToken() bool {
	cost := int(s.uncharged)
	s.uncharged = 0
	limit := s.hub.limits.Load().TokenIngressKB
	return limit == 0 || cost == 0 || s.mayProceed(s.token.caps.ingress.take(kb(limit), cost), capToken, nil)
}

// chargeTenant charges a publish of n bytes to its tenant's cap. If it reports false,
// the session has to wait for its turn, and to hold the publish.
func (s *Session) chargeTenant(tenant []byte, n int) bool {
	limit := s.hub.limits.Load().TenantIngressKB
	return limit == 0 || s.mayProceed(s.hub.tenantCapsOf(tenant).ingress.take(kb(limit), n+costOverhead), capTenant, tenant)
}

// mayProceed reports whether there is no turn to wait for. If there is one, it becomes
// the session's held one.
func (s *Session) mayProceed(t *turn, which string, tenant []byte) bool {
	if t != nil {
		s.held = &heldMessage{turn: t, since: s.hub.now()}
		s.waitsFor(which, string(tenant))
	}
	return t == nil
}

// hold keeps a message until the turn has come that the session waits for.
func (s *Session) hold(data []byte, handle func(*Session, []byte)) {
	s.held.data, s.held.handle = bytes.Clone(data), handle
}

// awaitHeld waits until the session's turn has come, for limit at most, and handles the
// message that was held until then, which may have to wait for another turn. It
// reports whether there is nothing left to wait for.
func (s *Session) awaitHeld(limit time.Duration) bool {
	for s.held != nil {
		held := s.held
		if !s.awaitTurn(held, limit) {
			return false
		}
		s.held = nil
		s.ingressWait.ended = s.hub.now()
		if held.handle != nil {
			s.handleNow(held.data, held.handle, string(held.data) == "PING")
		}
	}
	return true
}

// awaitTurn reports false when the session closes, and when its turn has not come
// within limit.
func (s *Session) awaitTurn(held *heldMessage, limit time.Duration) bool {
	t := held.turn
	if t.isGranted() {
		return !s.Closing()
	}
	for ; limit > 0; limit -= watchEvery {
		timer := time.NewTimer(min(limit, watchEvery))
		select {
		case <-t.granted:
			timer.Stop()
			return !s.Closing()
		case <-s.done:
			timer.Stop()
			t.giveUp()
			return false
		case <-timer.C:
		}
		if s.clientGone() {
			s.Close(wire.CloseNormal, "")
			t.giveUp()
			return false
		}
		if waited := s.hub.now() - held.since; held.handle != nil && waited >= limitedAfter { // one of others' messages after another
			s.noteIngress(waited)
		}
	}
	return false
}

// clientGone reports whether the client is known to be gone, though nothing is read
// from it.
func (s *Session) clientGone() bool {
	s.mu.Lock()
	w, ok := s.transport.(Watcher)
	s.mu.Unlock()
	return ok && w.ClientGone()
}

// Ready blocks until the client may be read from: what it sent before is handled, its
// own ingress cap allows it, and it reads its own control lines. It reports false
// once the session is closing, and when a cap does not allow it within limit: then it
// must be called again. What it cost to read what is no message, such as pongs, it may wait for beside that, some
// seconds at most, as Handle methods do.
func (s *Session) Ready(limit time.Duration) bool {
	if s.held == nil {
		s.chargeToken()
	}
	if s.reading >= owedStep { // of what is no message
		s.handleNow(nil, func(*Session, []byte) {}, false)
	}
	begin := time.Now()
	if !s.awaitHeld(limit) {
		return false
	}
	limit = max(0, limit-time.Since(begin))
	if pause := s.ingress.wait(time.Now(), s.rate(s.identity.IngressKB, s.hub.limits.Load().DefaultIngressKB)); pause > 0 {
		s.waitsFor(capConnection, "")
		timer := time.NewTimer(min(pause, limit))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done:
			return false
		}
		if pause > limit {
			return false
		}
		s.ingressWait.ended = s.hub.now()
	}

	if s.backlog.Load() && s.stallReader() {
		s.awaitResume()
	}
	return !s.Closing()
}
