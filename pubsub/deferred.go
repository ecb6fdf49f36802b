package pubsub

import (
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// A session whose client was told to reconnect defers UNSUBs and PINGs, until no message
// is on its way that the client would lose, or overtake, by going on elsewhere
// (docs/protocol.md, Promises).

// deferredUnsub is an UNSUB that waits.
type deferredUnsub struct{ key subscriptionKey }

// deferUnsub defers an UNSUB, if the client was told to reconnect, until this edge has
// handed over what other edges had published to the tenant: the client cannot have it
// from any other edge, where it subscribed only later. It reports false if there is
// nothing to wait for. The caller holds s.subscribing.
func (s *Session) deferUnsub(key subscriptionKey) bool {
	catcher, ok := s.hub.broker.(Catcher)
	if !ok || s.subscriptions[key] == nil || s.subscriptions[key].isResumable() || !s.hasSentReconnect() {
		return false
	}
	if s.deferredUnsubs == nil {
		s.deferredUnsubs = map[subscriptionKey]*deferredUnsub{}
	}
	p := &deferredUnsub{key}
	s.deferredUnsubs[key] = p
	catcher.CatchUp(key.tenant, func() { s.unsubCaughtUp(p) })
	return true
}

func (s *Session) hasSentReconnect() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reconnectSent
}

// unsubCaughtUp is called when a deferred UNSUB need not wait any more. It does not block.
func (s *Session) unsubCaughtUp(p *deferredUnsub) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached {
		return
	}
	if s.readyUnsubs = append(s.readyUnsubs, p); len(s.readyUnsubs) == 1 {
		s.hub.Go(s.runReadyUnsubs) // the session holds the group open
	}
}

// runReadyUnsubs executes the deferred UNSUBs that need not wait any more.
func (s *Session) runReadyUnsubs() {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	s.mu.Lock()
	due := s.readyUnsubs
	s.readyUnsubs = nil
	s.mu.Unlock()
	var since time.Duration
	for _, p := range due {
		s.executeDeferred(p, &since)
	}
}

// finishDeferred executes the deferred UNSUBs that a command does not let wait any longer: the one about
// its subscription and, when it adds a subscription, all, which limits then do not count. The caller
// holds s.subscribing, as for paced. For since see beginHandling.
func (s *Session) finishDeferred(c *command, since *time.Duration) {
	switch c.verb {
	case wire.VerbSub, wire.VerbUnsub, wire.VerbRsub:
		s.executeDeferred(s.deferredUnsubs[c.key], since)
	}
	if c.verb == wire.VerbSub && s.subscriptions[c.key] == nil {
		for _, p := range s.deferredUnsubs {
			s.executeDeferred(p, since)
		}
	}
}

// executeDeferred executes a deferred UNSUB, unless that was done for another reason; nil: there
// is none. The caller holds s.subscribing, as for paced. What was used since then is charged with it.
func (s *Session) executeDeferred(p *deferredUnsub, since *time.Duration) {
	if p == nil {
		return
	}
	used, begun := s.beginHandling(since)
	s.paced(p.key.tenant, used, begun, func() {
		if s.deferredUnsubs[p.key] == p {
			s.unsubscribe(p.key)
		}
	})
	*since = s.hub.now()
}

const (
	// maxPublishedTo is how many tenants a PING waits for: those that the client published
	// to last.
	maxPublishedTo = 16
	// maxDeferredPings is how many PINGs of a session wait.
	maxDeferredPings = 16
)

// deferredPings are the PINGs of a session that wait.
type deferredPings struct {
	pending    int             // wait for a tenant, those that were answered nevertheless included
	unanswered []*deferredPing // have no PONG yet, oldest first
}

// deferredPing is a PING that waits for so many tenants.
type deferredPing struct{ tenantsLeft int }

// notePublishedTo moves a tenant to the end of publishedTo. The reader calls it.
func (s *Session) notePublishedTo(tenant string) {
	last := len(s.publishedTo) - 1
	if last >= 0 && s.publishedTo[last] == tenant {
		return
	}
	if i := slices.Index(s.publishedTo, tenant); i >= 0 {
		s.publishedTo = slices.Delete(s.publishedTo, i, i+1)
	} else if last+1 == maxPublishedTo {
		s.publishedTo = slices.Delete(s.publishedTo, 0, 1)
	}
	s.publishedTo = append(s.publishedTo, tenant)
}

// answerPing answers a PING: at once or, if the client was told to reconnect, when other
// edges have what it published before. Otherwise what it publishes elsewhere after the
// PONG could reach them earlier. The reader calls it.
func (s *Session) answerPing() {
	catcher, ok := s.hub.broker.(Catcher)
	p := &deferredPing{len(s.publishedTo)}
	if !ok || p.tenantsLeft == 0 || !s.deferPing(p) {
		s.QueueControl(Text, []byte(wire.LinePong))
		return
	}
	for _, tenant := range s.publishedTo {
		catcher.CatchUp(tenant, func() { s.pingCaughtUp(p) })
	}
}

// deferPing makes a PING wait, and reports false if it need not wait, or may not.
func (s *Session) deferPing(p *deferredPing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reconnectSent || s.detached {
		return false
	}
	if s.deferredPings == nil {
		s.deferredPings = &deferredPings{}
	}
	if s.deferredPings.pending == maxDeferredPings { // a client that sends so many waits for none of them
		s.answerPings(len(s.deferredPings.unanswered))
		return false
	}
	s.deferredPings.pending++
	s.deferredPings.unanswered = append(s.deferredPings.unanswered, p)
	return true
}

// pingCaughtUp notes that a PING need not wait for one of its tenants any more, and
// answers the PINGs that need not wait at all. It does not block.
func (s *Session) pingCaughtUp(p *deferredPing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.tenantsLeft--; p.tenantsLeft > 0 || s.detached {
		return
	}
	s.deferredPings.pending--
	ready := slices.IndexFunc(s.deferredPings.unanswered, func(p *deferredPing) bool { return p.tenantsLeft > 0 })
	if ready < 0 {
		ready = len(s.deferredPings.unanswered)
	}
	s.answerPings(ready)
}

// answerPings answers the first n PINGs. The caller holds s.mu.
func (s *Session) answerPings(n int) {
	s.deferredPings.unanswered = slices.Delete(s.deferredPings.unanswered, 0, n)
	for range n {
		s.queueControlLocked(Text, []byte(wire.LinePong))
	}
}
