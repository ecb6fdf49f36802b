package pubsub

import (
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// subscriptionKey names a subscription within a session.
type subscriptionKey struct {
	tenant, pattern string
	ownStream       bool // has a stream of its own
}

// checkBacklog notes that the client has too many lines to read. The caller
// holds s.mu.
func (s *Session) checkBacklog() {
	if s.queue.controlBytes > MaxControlBacklog {
		s.backlog.Store(true)
	}
}

// stallReader reports whether the reader has to wait on s.resume.
func (s *Session) stallReader() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = s.queue.controlBytes > MaxControlBacklog && s.closing == nil
	s.backlog.Store(s.stalled)
	return s.stalled
}

// Closing reports whether the session is ending: what its token allowed a moment
// ago, when a message began to arrive, may not be allowed any more.
func (s *Session) Closing() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Done is closed when the session starts to end.
func (s *Session) Done() <-chan struct{} { return s.done }

// CloseStatus returns how the session ends, once Done is closed.
func (s *Session) CloseStatus() (wire.CloseCode, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		return 0, ""
	}
	return s.closing.code, s.closing.reason
}

// ReadLimit is the size in bytes over which a message closes with 1009.
func (s *Session) ReadLimit() int { return s.hub.limits.Load().MaxPayload + ReadOverhead }

// HandlePing answers a transport's ping.
func (s *Session) HandlePing(data []byte) {
	s.QueueControl(Pong, append([]byte(nil), data...))
}

// HandleLine takes one text message of valid UTF-8. It keeps nothing of it.
func (s *Session) HandleLine(text []byte) { s.accept(text, (*Session).handleLine) }

func (s *Session) handleLine(text []byte) {
	line, err := wire.ParseLine(text)
	if err != nil || line.Verb == wire.VerbAuth { // who authenticated in the handshake has nothing to add
		s.rejectBroken(wire.CodeBadRequest)
		return
	}
	switch line.Verb {
	case wire.VerbPing:
		s.answerPing()
		return // and the count of broken messages stays
	case wire.VerbFeatures:
		s.handleFeatures(line)
	case wire.VerbSub, wire.VerbUnsub:
		s.handleSubscription(line)
	}
	s.broken = 0
}

// HandleStreamLine takes one line of a unidirectional stream, of valid UTF-8. It
// keeps nothing of it. Answers go to the main stream.
func (s *Session) HandleStreamLine(text []byte) { s.accept(text, (*Session).handleStreamLine) }

func (s *Session) handleStreamLine(text []byte) {
	line, err := wire.ParseStreamLine(text)
	if err != nil {
		s.rejectBroken(wire.CodeBadRequest)
		return
	}
	s.handleSubscription(line)
	s.broken = 0
}

// HandleFrame takes one binary message. It keeps nothing of it.
func (s *Session) HandleFrame(frame []byte) { s.accept(frame, (*Session).handleFrame) }

func (s *Session) handleFrame(frame []byte) {
	p, err := decodePublish(frame)
	if err != nil {
		s.rejectBroken(wire.CodeBadFrame)
		return
	}
	s.broken = 0
	switch {
	case wire.CheckTenant(p.Tenant) != nil:
		s.reject(wire.CodeBadTenant)
	case wire.CheckChannel(p.Channel) != nil:
		s.reject(wire.CodeBadChannel)
	case !s.identity.Rights.CanPublish(p.Tenant, p.Channel):
		s.reject(wire.CodePermissionDenied, "PUB", string(p.Tenant), string(p.Channel))
	case len(p.Payload) > s.hub.limits.Load().MaxPayload:
		s.reject(wire.CodePayloadTooLarge, "PUB", string(p.Tenant), string(p.Channel))
	case !s.chargeTenant(p.Tenant, len(frame)):
		s.hold(frame, (*Session).publishHeld)
	default:
		s.publish(p)
	}
}

// publishHeld publishes a frame whose tenant's cap has come to allow it.
func (s *Session) publishHeld(frame []byte) {
	if p, err := decodePublish(frame); err == nil { // as it was before
		s.publish(p)
	}
}

func decodePublish(frame []byte) (wire.Publish, error) {
	p, err := wire.DecodePublish(frame)
	if len(p.Tenant) == 0 {
		p.Tenant = defaultTenant
	}
	return p, err
}

// publish passes on a message that this edge accepts.
func (s *Session) publish(p wire.Publish) {
	pace, ok := s.hub.begin(s.cachedLoad(p.Tenant), s.done)
	if !ok {
		return
	}
	s.notePublishedTo(s.lastLoad.name)
	s.hub.count.messagesIn.Add(1)
	s.hub.countTenant(s.hub.limits.Load(), p.Tenant, 1, 0)
	if err := s.hub.publish(p, &s.lastTenant, pace); err != nil {
		s.notifyUnsent(err)
	}
}

// cachedLoad returns the load of a tenant.
func (s *Session) cachedLoad(tenant []byte) *load {
	if !s.lastLoad.is(tenant) {
		s.lastLoad = s.hub.loadOf(tenant)
	}
	return s.lastLoad
}

var defaultTenant = []byte(wire.DefaultTenant)

// rejectBroken answers a broken message; too many in a row end the session.
func (s *Session) rejectBroken(code wire.Code) {
	s.broken++
	if s.broken < MaxBroken {
		s.reject(code)
		return
	}
	s.closeWithError(wire.ClosePolicy, code)
}

func (s *Session) handleSubscription(line wire.Line) {
	tenant, text, verb := string(line.Tenant), string(line.Pattern), line.Verb
	if wire.CheckTenant(tenant) != nil {
		s.reject(wire.CodeBadTenant)
		return
	}
	p, err := pattern.Parse(text)
	if err != nil {
		s.reject(wire.CodeBadPattern)
		return
	}
	key := subscriptionKey{tenant, text, line.Own}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	if s.deferredUnsubs[key] != nil { // what comes behind it does not
		s.unsubscribe(key)
	}
	if verb == wire.VerbUnsub {
		if !s.deferUnsub(key) {
			s.unsubscribe(key)
		}
		return
	}
	current := s.subscriptions[key]
	if current == nil {
		for waits := range s.deferredUnsubs { // these count for none of the limits that follow
			s.unsubscribe(waits)
		}
	}
	switch {
	case !s.identity.Rights.CanSubscribe(tenant, p):
		s.reject(wire.CodePermissionDenied, verb.String(), tenant, text)
		return
	case current != nil: // repeated: acknowledged again, changes nothing
		s.ackWhenConfirmed(key, current)
	case len(s.subscriptions) >= s.hub.limits.Load().MaxSubscriptions, int(s.patternBytes)+len(text) > MaxPatternBytes:
		s.reject(wire.CodeTooManySubscriptions, verb.String(), tenant, text)
		return
	case !s.shapes.has(p.Shape()) && len(s.shapes) >= s.hub.limits.Load().MaxPatternShapes:
		s.reject(wire.CodeTooManyPatterns, verb.String(), tenant, text)
		return
	default:
		pace, ok := s.hub.begin(s.cachedLoad(line.Tenant), s.done)
		if !ok {
			return
		}
		defer pace.end()
		sub, refused := s.hub.addSubscription(tenant, p, s, line.Own)
		if sub == nil {
			s.reject(refused, verb.String(), tenant, text)
			return
		}
		s.patternBytes += int32(len(text))
		s.shapes.add(p.Shape())
		s.mu.Lock()
		s.subscriptions[key] = sub
		s.bumpVersion()
		s.mu.Unlock()
		s.ackWhenConfirmed(key, sub)
	}
}

// ackWhenConfirmed answers a SUB once the broker has confirmed the interest.
func (s *Session) ackWhenConfirmed(key subscriptionKey, sub *subscription) {
	s.mu.Lock()
	sub.pendingOKs++
	waits := sub.pendingOKs > 1
	s.mu.Unlock()
	if !waits {
		sub.interest.whenConfirmed(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sendPendingOKs(key, sub)
		})
	}
}

// sendPendingOKs queues the OK lines that a subscription is owed. The caller holds s.mu.
func (s *Session) sendPendingOKs(key subscriptionKey, sub *subscription) {
	if sub.pendingOKs > 0 {
		s.notifyOutage()
	}
	for ; sub.pendingOKs > 0; sub.pendingOKs-- {
		if sub.lane != nil && sub.lane.held {
			s.releaseLane(sub.lane) // its OK stands first in it
		} else {
			s.acknowledge(wire.VerbSub, key.tenant, key.pattern)
		}
	}
}

// bumpVersion follows a change of subscriptions, in the tree too. What publishers
// found before it counts no more. The caller holds s.mu.
func (s *Session) bumpVersion() { s.subsVersion = s.hub.subsVersion.Add(1) }

// unsubscribe ends a subscription, if there is one, and answers. The caller holds
// s.subscribing.
func (s *Session) unsubscribe(key subscriptionKey) {
	current := s.subscriptions[key]
	delete(s.deferredUnsubs, key)
	if current != nil {
		pace, ok := s.hub.begin(s.hub.loadOf([]byte(key.tenant)), s.done)
		if !ok {
			return
		}
		defer pace.end()
		s.hub.removeSubscription(key.tenant, current)
		s.patternBytes -= int32(len(key.pattern))
		s.shapes.remove(current.interest.shape)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current != nil {
		s.sendPendingOKs(key, current)
		delete(s.subscriptions, key)
		s.bumpVersion()
	}
	s.acknowledge(wire.VerbUnsub, key.tenant, key.pattern)
	if current != nil && current.lane != nil {
		s.closeLane(current.lane)
	}
}

// acknowledge queues an OK line behind the deliveries that came before it. The
// caller holds s.mu.
func (s *Session) acknowledge(verb wire.Verb, tenant, text string) {
	if s.closing == nil {
		s.queue.pushOK(&s.queue.mainLane, wire.AppendOK(nil, verb, tenant, text))
		s.checkBacklog()
		s.wake()
	}
}
