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
func (t *takers) note(name channelName, from edgeID) {
	ids := t.askers[name.tenant][name.channel]
	if ids == nil {
		if t.asked >= maxChannels {
			return
		}
		t.asked++
		ids = askers{}
		if t.askers[name.tenant] == nil {
			t.askers[name.tenant] = map[string]askers{}
		}
		t.askers[name.tenant][name.channel] = ids
	}
	ids[from] = time.Now()
}

// forgetAskers drops a channel that nobody waits for. The caller holds t.mu.
func (t *takers) forgetAskers(tenant, channel string) {
	t.asked--
	delete(t.askers[tenant], channel)
	if len(t.askers[tenant]) == 0 {
		delete(t.askers, tenant)
	}
}

// tellAskers tells the edges that were told no of a new interest.
func (b *Broker) tellAskers(tenant, text string) {
	t := &b.takers
	t.mu.Lock()
	defer t.mu.Unlock()
	channels := t.askers[tenant]
	if len(channels) == 0 {
		return
	}
	p, err := pattern.Parse(text)
	if err != nil {
		return // the hub has parsed it
	}
	for channel, ids := range channels {
		if !p.Match(channel) {
			continue
		}
		m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(channel)}
		for id := range ids {
			_ = b.say(&m, direct(id), kindYes) // without a link it asks again
		}
		t.forgetAskers(tenant, channel)
	}
}

// forgetOldAskers drops those that have long not asked again. The caller holds
// t.mu.
func (t *takers) forgetOldAskers(now time.Time) {
	for tenant, channels := range t.askers {
		for channel, ids := range channels {
			maps.DeleteFunc(ids, func(_ edgeID, at time.Time) bool { return now.Sub(at) > answerKept })
			if len(ids) == 0 {
				t.forgetAskers(tenant, channel)
			}
		}
	}
}
