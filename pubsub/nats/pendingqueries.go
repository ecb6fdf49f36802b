package nats

import (
	"maps"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
)

// pendingQueries are edges that asked about a channel and were told no, and when
// they last asked. They are told yes when that changes.
type pendingQueries map[edgeID]time.Time

// addPendingQuery remembers an edge that was told no about a channel. An edge that
// finds no room here asks again. The caller holds t.mu.
func (b *Broker) addPendingQuery(t *tenantResponders, channel string, from edgeID) {
	edges := t.pending[channel]
	if edges == nil {
		if !fits(1, len(t.pending), int(b.responders.pendingChannels.Load()), maxChannels) {
			return
		}
		b.responders.pendingChannels.Add(1)
		edges = pendingQueries{}
		t.pending[channel] = edges
	}
	if _, known := edges[from]; known || len(edges) < maxPeers && (b.name == "" || edges.ofName(from) < maxPeersOfName) {
		edges[from] = time.Now()
	}
}

// ofName counts the edges of the same name, whose ids have their first half from it.
func (q pendingQueries) ofName(id edgeID) (n int) {
	for other := range q {
		if other>>32 == id>>32 {
			n++
		}
	}
	return n
}

// dropPendingQueries forgets all pending queries for a channel. The caller holds t.mu.
func (b *Broker) dropPendingQueries(t *tenantResponders, channel string) {
	b.responders.pendingChannels.Add(-1)
	delete(t.pending, channel)
}

// answerPendingQueries tells the edges that were told no about a new interest.
func (b *Broker) answerPendingQueries(tenant, text string) {
	t := b.responders.lock([]byte(tenant), false)
	if t == nil {
		return
	}
	defer b.responders.unlock(t)
	if len(t.pending) == 0 {
		return
	}
	p, err := pattern.Parse(text)
	if err != nil {
		return // the hub has parsed it
	}
	for channel, edges := range t.pending {
		if !p.Match(channel) {
			continue
		}
		m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(channel), Issuer: t.owner}
		for id := range edges {
			_ = b.sendControl(&m, direct(id), kindYes) // without a link it asks again
		}
		b.dropPendingQueries(t, channel)
	}
}

// expirePendingQueries forgets edges that have not asked again for long. The caller
// holds t.mu.
func (b *Broker) expirePendingQueries(t *tenantResponders, now time.Time) {
	for channel, edges := range t.pending {
		maps.DeleteFunc(edges, func(_ edgeID, at time.Time) bool { return now.Sub(at) > forgetAfter })
		if len(edges) == 0 {
			b.dropPendingQueries(t, channel)
		}
	}
}
