package nats

import (
	"maps"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
)

// askers are edges, and when they asked.
type askers map[edgeID]time.Time

// note remembers who was told no about a channel, to say so when that changes.
// Whom it has no room for asks again. The caller holds t.mu.
func (b *Broker) note(t *tenantTakers, channel string, from edgeID) {
	ids := t.askers[channel]
	if ids == nil {
		if !fits(1, len(t.askers), int(b.takers.asked.Load()), maxChannels) {
			return
		}
		b.takers.asked.Add(1)
		ids = askers{}
		t.askers[channel] = ids
	}
	if _, known := ids[from]; known || len(ids) < maxPeers {
		ids[from] = time.Now()
	}
}

// forgetAskers drops a channel that nobody waits for. The caller holds t.mu.
func (b *Broker) forgetAskers(t *tenantTakers, channel string) {
	b.takers.asked.Add(-1)
	delete(t.askers, channel)
}

// tellAskers tells the edges that were told no of a new interest.
func (b *Broker) tellAskers(tenant, text string) {
	t := b.takers.lock([]byte(tenant), false)
	if t == nil {
		return
	}
	defer b.takers.unlock(t)
	if len(t.askers) == 0 {
		return
	}
	p, err := pattern.Parse(text)
	if err != nil {
		return // the hub has parsed it
	}
	for channel, ids := range t.askers {
		if !p.Match(channel) {
			continue
		}
		m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(channel)}
		for id := range ids {
			_ = b.say(&m, direct(id), kindYes) // without a link it asks again
		}
		b.forgetAskers(t, channel)
	}
}

// forgetOldAskers drops those that have long not asked again. The caller holds
// t.mu.
func (b *Broker) forgetOldAskers(t *tenantTakers, now time.Time) {
	for channel, ids := range t.askers {
		maps.DeleteFunc(ids, func(_ edgeID, at time.Time) bool { return now.Sub(at) > answerKept })
		if len(ids) == 0 {
			b.forgetAskers(t, channel)
		}
	}
}
