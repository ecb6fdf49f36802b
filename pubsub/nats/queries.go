package nats

import (
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// A query asks all other edges which of them have a subscriber for a channel: once
// for a channel that is in use, and again every other second. An edge that has
// answered no and gets a subscriber then says so by itself; see pendingqueries.go.
const (
	// answerTimeout is how long an answer is waited for.
	answerTimeout = time.Second
	// requeryAfter is how old answers become before the next message asks again.
	requeryAfter = 2 * time.Second
	// discoveryTime is how long after a link came up there may be edges that this one
	// has not heard of.
	discoveryTime = announceInterval + time.Second
	// forgetAfter is how long a channel that is not used is remembered.
	forgetAfter = 10 * time.Second
)

// sendQuery asks all other edges about a channel, or returns why it cannot. While
// this edge is discovering who they are, it waits for edges that it does not know,
// too. The caller holds the lock of its tenant.
func (b *Broker) sendQuery(m *pubsub.Message, c *channelResponders, now time.Time, discovering bool) error {
	unanswered := map[edgeID]struct{}{}
	for _, id := range b.peers.otherIDs() {
		unanswered[id] = struct{}{}
	}
	if discovering {
		unanswered[b.id] = struct{}{} // which does not answer
	}
	if len(unanswered) > 0 {
		if err := b.sendControl(m, queries, kindQuery); err != nil {
			return err // the next message asks
		}
	}
	c.queriedAt, c.stale, c.unanswered = now, false, unanswered
	c.complete = c.complete || len(unanswered) == 0
	return nil
}

// sendControl sends a control message about a channel. One that no message of this edge is the reason for
// counts for whom the tenant belongs to.
func (b *Broker) sendControl(m *pubsub.Message, to string, kind byte) error {
	return b.enqueue(m.Tenant, m.Issuer, b.channelSubject(to, m), func(data []byte) []byte { return appendControl(data, kind, b.id) })
}

// handleControl takes a query, or an answer to one. It ignores other kinds.
func (b *Broker) handleControl(m pubsub.Message, kind byte, from edgeID) {
	switch kind {
	case kindQuery:
		b.handleQuery(m, from)
	case kindYes, kindNo:
		b.handleAnswer(m, kind == kindYes, from)
	}
}

// handleQuery answers a query of another edge.
func (b *Broker) handleQuery(m pubsub.Message, from edgeID) {
	m.Issuer = b.ownerOf(m.Tenant)
	t := b.responders.lock(m.Tenant, true)
	defer b.responders.unlock(t)
	t.owner = m.Issuer
	answer := byte(kindYes)
	if !b.receiver.Interested(m.Tenant, m.Channel) {
		answer = kindNo
		b.addPendingQuery(t, string(m.Channel), from)
	}
	_ = b.sendControl(&m, direct(from), answer) // without a link it asks again
}

// handleAnswer notes what another edge has answered.
func (b *Broker) handleAnswer(m pubsub.Message, yes bool, from edgeID) {
	t := b.responders.lock(m.Tenant, false)
	if t == nil {
		return
	}
	defer b.responders.unlock(t)
	c := t.channels[string(m.Channel)]
	if c == nil {
		return
	}
	c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return id == from })
	if yes && len(c.edges) < maxPeers && slices.Contains(b.peers.otherIDs(), from) { // it may have left since
		c.edges = append(c.edges, from)
	}
	delete(c.unanswered, from)
	if len(c.unanswered) == 0 {
		b.completeQuery(t, c)
	}
}

// completeQuery takes the answers about a channel for all there are, and sends what
// waits for them. The caller holds t.mu.
func (b *Broker) completeQuery(t *tenantResponders, c *channelResponders) {
	c.complete = true
	b.flushWaiting(t, c)
}

// expireQueries ends queries that were not answered in time, and forgets channels
// that are not used.
func (b *Broker) expireQueries(now time.Time) {
	for _, t := range b.responders.list() {
		b.expireTenantQueries(t, now)
	}
}

func (b *Broker) expireTenantQueries(t *tenantResponders, now time.Time) {
	t.mu.Lock()
	defer b.responders.unlock(t)
	for name, c := range t.channels {
		timeout := answerTimeout
		if _, discovering := c.unanswered[b.id]; discovering && len(c.unanswered) == 1 {
			timeout /= 4 // all that are known have answered
		}
		if len(c.unanswered) > 0 && now.Sub(c.queriedAt) > timeout {
			c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool {
				_, silent := c.unanswered[id]
				return silent
			})
			c.unanswered = nil
		}
		if !c.complete && len(c.unanswered) == 0 && !c.queriedAt.IsZero() {
			b.completeQuery(t, c)
		}
		if len(c.waiting) == 0 && now.Sub(c.usedAt) > forgetAfter {
			delete(t.channels, name)
			b.responders.channels.Add(-1)
		}
	}
	b.expirePendingQueries(t, now)
}
