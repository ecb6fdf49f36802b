package pubsub

import (
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// handleRsub takes an RSUB line.
func (s *Session) handleRsub(line wire.Line) {
	if s.hub.currentHistories() == nil {
		s.rejectBroken(wire.CodeBadRequest) // as an edge of an earlier version does
		return
	}
	s.broken = 0
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
	key := subscriptionKey{tenant: tenant, pattern: text}
	s.handleCommand(&command{verb: line.Verb, key: key, pattern: p, from: line.From})
}

// prepareRsub is prepare of an RSUB.
func (s *Session) prepareRsub(c *command) bool {
	key, p := c.key, c.pattern
	var of *history.History
	if hs := s.hub.currentHistories(); hs != nil { // otherwise they are gone since the line was read
		of = hs.set.Containing(key.tenant, p)
	}
	var refusal wire.Code
	switch {
	case !c.allowed && !s.mayResubscribe(key.tenant, p, c.from):
		s.denyCommand(c, nil)
		return false
	case s.isSubscribed(key), c.from.Origin == wire.OriginLastN && p.Shape() != 0:
		refusal = wire.CodeBadRequest
	case of == nil:
		refusal = wire.CodeNoHistory
	default:
		refusal = s.overLimit(key, p)
	}
	if refusal != "" {
		s.reject(refusal, c.verb.String(), key.tenant, key.pattern)
	}
	return refusal == ""
}

func (s *Session) mayResubscribe(tenant string, p pattern.Pattern, from wire.From) bool {
	return s.maySubscribe(tenant, p) && (from.Origin == wire.OriginNow || s.mayReadHistory(tenant, p))
}

// isSubscribed reports whether the session has this tenant and pattern already, with
// positions or without. The caller holds s.subscribing.
func (s *Session) isSubscribed(key subscriptionKey) bool {
	other := key
	other.ownStream = !key.ownStream
	return s.subscriptions[key] != nil || s.subscriptions[other] != nil
}

// resubscribe begins a subscription with positions; see begin.
func (s *Session) resubscribe(key subscriptionKey, p pattern.Pattern, from wire.From) {
	verb := wire.VerbRsub.String()
	hs, of := s.hub.currentHistories(), (*history.History)(nil)
	if hs != nil {
		of = hs.set.Containing(key.tenant, p)
	}
	if of == nil { // a reload is under way
		s.reject(wire.CodeNoHistory, verb, key.tenant, key.pattern)
		return
	}
	q, err := s.hub.acquireSequencer(hs, of, key.tenant)
	if err != nil { // the store is closed, or does not have it: likewise
		s.reject(wire.CodeNoHistory, verb, key.tenant, key.pattern)
		return
	}
	q.owner.use(s.hub, key.tenant, s.token.issuerName)
	r := &resumable{key: key, pattern: p, sequencer: q, from: from, since: time.Now()}
	sub, refused := q.addSubscriber(s, r)
	if sub == nil {
		q.release()
		s.reject(refused, verb, key.tenant, key.pattern)
		return
	}
	if q.shared != nil {
		q.shared.Follow(of.Name, func() {})
	}
	s.patternBytes += int32(len(key.pattern))
	s.shapes.add(p.Shape())
	s.mu.Lock()
	if s.resumables == nil {
		s.resumables = new(resumables)
	}
	s.subscriptions[key] = sub
	r.firstAge = s.queue.deliverySeq
	if from.Origin == wire.OriginNow && q.shared == nil {
		r.cursor, r.begun = q.handedTo(), true
		s.sayCaughtUp(r)
		s.goLive(r)
	}
	if !r.live { // also where something was handed on in between
		s.awaitPages(r)
	}
	s.mu.Unlock()
	s.hub.sequencers.watch(s.hub)
	s.runSubscribedHooks(key, true)
	if s.hub.currentHistories() != hs { // a reload that came in between may not have met it
		s.hub.Go(func() { s.recheckResumable(sub) })
	}
}

// recheckResumable ends a subscription with positions that the current histories do not
// contain.
func (s *Session) recheckResumable(sub *subscription) {
	r, hs := sub.resumable, s.hub.currentHistories()
	if hs != nil && hs.storeID == r.sequencer.id.storeID {
		if of := hs.set.Containing(r.key.tenant, r.pattern); of != nil && of.Name == r.sequencer.id.history {
			return
		}
	}
	s.endResumable(sub)
}

// removeResumable takes a subscription with positions out of its sequencer: nothing is
// queued for it any more. The caller holds s.subscribing, and takes it out of
// s.subscriptions.
func (s *Session) removeResumable(key subscriptionKey, sub *subscription) {
	r := sub.resumable
	s.mu.Lock()
	r.end(s.resumables)
	s.mu.Unlock()
	r.sequencer.removeSubscriber(sub)
	s.patternBytes -= int32(len(key.pattern))
	s.shapes.remove(r.feed.shape)
	s.runUnsubscribedHooks(key, true)
}
