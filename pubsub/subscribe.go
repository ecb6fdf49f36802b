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

// main is the key of the same subscription in the main lane, where those with positions
// are.
func (k subscriptionKey) main() subscriptionKey {
	k.ownStream = false
	return k
}

// handleSubscription takes a SUB or UNSUB line; anyStream: the latter also ends a subscription
// that has a stream of its own.
func (s *Session) handleSubscription(line wire.Line, anyStream bool) {
	tenant, text := string(line.Tenant), string(line.Pattern)
	if wire.CheckTenant(tenant) != nil {
		s.reject(wire.CodeBadTenant)
		return
	}
	p, err := pattern.Parse(text)
	if err != nil {
		s.reject(wire.CodeBadPattern)
		return
	}
	s.handleCommand(&command{
		verb: line.Verb, key: subscriptionKey{tenant, text, line.Own}, pattern: p, anyStream: anyStream,
	})
}

// prepareSubscription is prepare of a SUB or UNSUB.
func (s *Session) prepareSubscription(c *command) bool {
	key, existing := c.key, s.subscriptions[c.key]
	switch {
	case c.verb == wire.VerbUnsub && existing == nil:
		s.unsubscribe(key)
	case c.verb == wire.VerbUnsub:
		return !s.deferUnsub(key)
	case s.subscriptions[key.main()].isResumable():
		s.reject(wire.CodeBadRequest, c.verb.String(), key.tenant, key.pattern)
	case !c.allowed && !s.maySubscribe(key.tenant, c.pattern):
		s.denyCommand(c, nil)
	case existing != nil: // repeated: acknowledged again, changes nothing
		s.ackWhenConfirmed(key, existing)
	default:
		refusal := s.overLimit(key, c.pattern)
		if refusal == "" {
			return true
		}
		s.reject(refusal, c.verb.String(), key.tenant, key.pattern)
	}
	return false
}

func (s *Session) maySubscribe(tenant string, p pattern.Pattern) bool {
	return s.allows(func(r Rights) bool { return r.CanSubscribe(tenant, p) })
}

// overLimit returns the code for a subscription that is over a limit of the connection;
// empty: it is not. The caller holds s.subscribing.
func (s *Session) overLimit(key subscriptionKey, p pattern.Pattern) wire.Code {
	limits := s.hub.limits.Load()
	switch {
	case len(s.subscriptions)+s.commands.questions()+s.presence.len() >= limits.MaxSubscriptions,
		int(s.patternBytes)+len(key.pattern) > MaxPatternBytes:
		return wire.CodeTooManySubscriptions
	case !s.shapes.has(p.Shape()) && len(s.shapes) >= limits.MaxPatternShapes:
		return wire.CodeTooManyPatterns
	}
	return ""
}

// subscribe adds a subscription and answers the SUB; see begin.
func (s *Session) subscribe(key subscriptionKey, p pattern.Pattern) {
	sub, refused := s.hub.addSubscription(key.tenant, p, s, key.ownStream)
	if sub == nil {
		s.reject(refused, wire.VerbSub.String(), key.tenant, key.pattern)
		return
	}
	s.patternBytes += int32(len(key.pattern))
	s.shapes.add(p.Shape())
	s.mu.Lock()
	sub.metered = s.workQueue && !key.ownStream
	s.subscriptions[key] = sub
	s.bumpSubsVersion()
	s.mu.Unlock()
	s.ackWhenConfirmed(key, sub)
	s.runSubscribedHooks(key, false)
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

// sendPendingOKs queues the OK lines of the SUBs that waited for the broker. The caller
// holds s.mu.
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

// bumpSubsVersion is called after a change of subscriptions, in the tree too: what
// publishers have matched before it is matched again. The caller holds s.mu.
func (s *Session) bumpSubsVersion() { s.subsVersion = s.hub.subsVersion.Add(1) }

// unsubscribe ends a subscription, if there is one, and answers. The caller holds
// s.subscribing.
func (s *Session) unsubscribe(key subscriptionKey) {
	existing := s.subscriptions[key]
	delete(s.deferredUnsubs, key)
	switch {
	case existing.isResumable():
		s.removeResumable(key, existing)
	case existing != nil:
		s.hub.removeSubscription(key.tenant, existing)
		s.patternBytes -= int32(len(key.pattern))
		s.shapes.remove(existing.interest.shape)
		s.runUnsubscribedHooks(key, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if existing != nil {
		s.sendPendingOKs(key, existing)
		delete(s.subscriptions, key)
		s.bumpSubsVersion()
	}
	s.acknowledge(wire.VerbUnsub, key.tenant, key.pattern)
	if existing != nil && existing.lane != nil {
		s.closeLane(existing.lane)
	}
}

// acknowledge queues an OK line behind the deliveries that came before it. The
// caller holds s.mu.
func (s *Session) acknowledge(verb wire.Verb, tenant, text string) {
	s.pushInOrder(wire.AppendOK(nil, verb, tenant, text), nil)
}
