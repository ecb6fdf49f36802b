package pubsub

import "github.com/millrace/millrace/wire"

// ReadLimit is the size in bytes over which a message closes with 1009.
func (s *Session) ReadLimit() int { return s.hub.limits.Load().MaxPayload + ReadOverhead }

// HandlePing answers a transport's ping.
func (s *Session) HandlePing(data []byte) { s.handleNow(data, (*Session).handlePing, true) }

func (s *Session) handlePing(data []byte) {
	s.QueueControl(Pong, append([]byte(nil), data...))
}

// HandleLine takes one text message of valid UTF-8. It keeps nothing of it.
func (s *Session) HandleLine(text []byte) { s.accept(text, (*Session).handleLine) }

func (s *Session) handleLine(text []byte) {
	line, err := wire.ParseLine(text)
	if err != nil || line.Verb == wire.VerbAuth { // the client has authenticated already
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
		s.handleSubscription(line, false)
	case wire.VerbCredit:
		s.handleCredit(line)
		return // which says whether this connection knows the line
	case wire.VerbRsub:
		s.handleRsub(line)
		return // which says whether this edge knows the line
	case wire.VerbJoin, wire.VerbLeave, wire.VerbWho, wire.VerbUnwho:
		s.handlePresence(line)
		return // likewise
	}
	s.broken = 0
}

// HandleStreamLine takes one line of a unidirectional stream, of valid UTF-8. It
// keeps nothing of it. Answers go to the main stream.
func (s *Session) HandleStreamLine(text []byte) { s.accept(text, (*Session).handleStreamLine) }

func (s *Session) handleStreamLine(text []byte) {
	line, err := wire.ParseUniStreamLine(text)
	if err != nil {
		s.rejectBroken(wire.CodeBadRequest)
		return
	}
	s.handleSubscription(line, false)
	s.broken = 0
}

// HandleUnsub is HandleLine for an UNSUB of a client that does not say whether the
// subscription has a stream of its own. One that has is ended first.
func (s *Session) HandleUnsub(text []byte) { s.accept(text, (*Session).handleUnsub) }

func (s *Session) handleUnsub(text []byte) {
	line, err := wire.ParseLine(text)
	if err != nil || line.Verb != wire.VerbUnsub {
		s.handleLine(text)
		return
	}
	s.handleSubscription(line, true)
	s.broken = 0
}

// HandleFrame takes one binary message. It keeps nothing of it.
func (s *Session) HandleFrame(frame []byte) { s.accept(frame, (*Session).handleFrame) }

func (s *Session) handleFrame(frame []byte) {
	p, err := decodePublish(frame)
	if err != nil || p.Confirm && !s.workQueue && s.hub.currentHistories() == nil { // as an edge of an earlier version does
		s.rejectBroken(wire.CodeBadFrame)
		return
	}
	s.broken = 0
	switch {
	case wire.CheckTenant(p.Tenant) != nil:
		s.rejectNames(p, wire.CodeBadTenant)
	case wire.CheckChannel(p.Channel) != nil:
		s.rejectNames(p, wire.CodeBadChannel)
	case !s.allows(func(r Rights) bool { return r.CanPublish(p.Tenant, p.Channel) }):
		s.denyPublish(p, nil)
	case len(p.Payload) > s.hub.limits.Load().MaxPayload:
		s.rejectPublish(p, wire.CodePayloadTooLarge)
	case !s.mayPublish(p): // it has been answered
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
	if hs := s.hub.histories.Load(); hs != nil && hs.set != nil {
		if s.publishKept(hs, p) {
			return
		}
	} else if len(p.Key) > 0 {
		s.rejectPublish(p, wire.CodeNoHistory)
		return
	}
	told, ok := s.awaitFate(p)
	if !ok {
		return
	}
	used, since := s.beginHandling(&s.handling)
	pace, ok := s.hub.beginPaced(s.cachedPayers(p.Tenant), used, since, since, s.done) // since was just now
	if !ok {
		return
	}
	s.notePublishedTo(s.lastAccount.name)
	s.hub.count.messagesIn.Add(1)
	s.hub.countTenant(s.hub.limits.Load(), p.Tenant, 1, 0)
	if err := s.hub.publish(p, s, pace, told); err != nil {
		s.notifyUnsent(err)
	}
	if p.Confirm && told == nil {
		s.answerPublish(p, outcome{})
	}
}

// cachedPayers is payersFor for the reader.
func (s *Session) cachedPayers(tenant []byte) payers {
	if division := s.hub.division(); !s.lastAccount.is(tenant) || division != s.lastDivision {
		s.lastAccount, s.lastDivision = s.hub.cpuAccountOf(tenant), division
		s.isGuest = s.hub.isGuest(s.token.issuerName, s.lastAccount.name)
	}
	if s.issuerCPU == nil || s.issuerCPU.removed.Load() { // not the issuer's, beside which counts change
		s.issuerCPU = s.hub.issuerCPU(s.token)
	}
	if s.isGuest {
		return payers{issuer: s.issuerCPU}
	}
	return payers{s.lastAccount, s.issuerCPU}
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
