package pubsub

import (
	"bytes"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Work queues (docs/protocol.md): a message to one connection is a job, which a subscription takes
// only if its client has given credit for it, and whose publisher learns whether somebody took it.

// turnOnWorkQueue has the subscriptions that begin from here on wait for credit, marks messages to
// one connection in the main stream, and has confirmed ones answered when they were taken.
func (s *Session) turnOnWorkQueue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workQueue = true
}

// handleCredit takes a CREDIT line.
func (s *Session) handleCredit(line wire.Line) {
	if !s.workQueue {
		s.rejectBroken(wire.CodeBadRequest)
		return
	}
	s.broken = 0
	tenant, text := string(line.Tenant), string(line.Pattern)
	if wire.CheckTenant(tenant) != nil {
		s.reject(wire.CodeBadTenant)
		return
	}
	if _, err := pattern.Parse(text); err != nil {
		s.reject(wire.CodeBadPattern)
		return
	}
	s.handleCommand(&command{verb: line.Verb, key: subscriptionKey{tenant: tenant, pattern: text}, credit: line.Credit})
}

// addCredit carries out a CREDIT. The caller holds s.subscribing.
func (s *Session) addCredit(c *command) {
	sub := s.subscriptions[c.key]
	if sub == nil || sub.isResumable() || c.credit == 0 || c.credit > wire.MaxCredit {
		s.reject(wire.CodeBadRequest, c.verb.String(), c.key.tenant, c.key.pattern)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.credit = int32(min(uint64(sub.credit)+c.credit, wire.MaxCredit))
}

// frameToOne makes the frame of a message to one connection for the main lane of a session with work
// queues, and returns the subscriptions whose credit it takes. It reports false if one of them has
// none; the frame is nil if no subscription matches any more. The caller holds s.mu.
func (s *Session) frameToOne(p *publication, set *patternSet) (f *frame, credited []*subscription, ok bool) {
	var patterns []string
	if s.subsVersion > p.subsVersion {
		patterns = s.matching(p)
	} else {
		patterns = p.matcher.patternsOf(set)
	}
	for _, text := range patterns {
		sub := s.subscriptions[subscriptionKey{tenant: string(p.tenant), pattern: text}]
		switch {
		case sub == nil: // it is only just beginning
			return nil, nil, false
		case sub.metered && sub.credit == 0:
			return nil, nil, false
		case sub.metered:
			credited = append(credited, sub)
		}
	}
	if len(patterns) == 0 {
		return nil, nil, true
	}
	d := wire.Deliver{ToOne: true, Tenant: p.tenant, Channel: p.channel, Payload: p.payload, Patterns: patterns}
	p.addFields(&d, s.variantFor(p))
	f = &frame{data: appendFields(&d), kind: Binary, kept: true, at: p.at, caps: p.caps}
	p.pace.work.encoded(f)
	return f, credited, true
}

// awaitFate returns what has to be called when it is known what became of a publish; nil: nobody
// asks. It reports false if the session ends. The reader calls it.
func (s *Session) awaitFate(p wire.Publish) (told func(Fate), ok bool) {
	if !s.workQueue || !p.Confirm || p.Delivery == wire.Broadcast {
		return nil, true
	}
	e := &keptPublish{
		Message: history.Message{Tenant: string(p.Tenant), Channel: bytes.Clone(p.Channel)},
		session: s, id: p.ID, confirm: true, windowSize: len(p.Tenant) + len(p.Channel) + itemOverhead,
		channelHash: channelHash(p.Tenant, p.Channel),
	}
	if s.window == nil {
		s.window = newPublishWindow(s)
	}
	if !s.window.hasRoom(e.windowSize) {
		s.chargeHandling(&s.handling) // and not the time that it waits
		if !s.window.awaitRoom(e.windowSize) {
			return nil, false
		}
	}
	s.window.add(e)
	return func(f Fate) {
		s.window.answer(e, outcomeOfFate(f))
		s.window.remove(e)
	}, true
}

func outcomeOfFate(f Fate) outcome {
	switch f {
	case FateTaken:
		return outcome{}
	case FateNoSubscriber:
		return outcome{code: wire.CodeNoSubscriber}
	case FateBusy:
		return outcome{code: wire.CodeSubscribersBusy}
	default:
		return outcome{code: wire.CodeUnconfirmed}
	}
}

// passOn publishes a message to other edges, or by the broker's choice.
func (h *Hub) passOn(m Message, told func(Fate)) error {
	if told == nil {
		return h.broker.Publish(m)
	}
	if c, ok := h.broker.(Confirmer); ok {
		return c.PublishConfirmed(m, told)
	}
	defer told(FateUnknown)
	return h.broker.Publish(m)
}
