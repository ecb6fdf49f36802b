package nats

import (
	"slices"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// queueGroup is the queue group of all edges, for messages that go to one connection.
const queueGroup = "edges"

// interest is what the patterns of a tenant with one subject in NATS have in
// common: NATS knows wildcards for whole tokens only. Guarded by Broker.mu.
type interest struct {
	tenant                 string
	tenantInterests        *tenantInterests
	subject                string // its end, behind the kind
	shape                  string
	patterns               int  // how many patterns of the hub have this subject
	wantBroadcast, wantOne bool // what the hub wants: broadcasts, messages for one connection
	queued                 bool // in Broker.changedInterests

	// owned by the writer: what it is to apply, and what there is
	applyBroadcast, applyOne bool
	broadcastSub, oneSub     *client.Subscription
}

// Subscribe implements [pubsub.Broker].
func (b *Broker) Subscribe(tenant, pattern string, confirmed func()) {
	subject := natssubject.OfPattern(tenant, pattern)
	b.mu.Lock()
	t := b.interestsOf(tenant)
	in := t.bySubject[subject]
	if in == nil {
		in = &interest{tenant: tenant, tenantInterests: t, subject: subject, shape: shapeOf(subject)}
		t.bySubject[subject] = in
	}
	if in.patterns++; in.patterns == 1 {
		b.updateInterest(in, 1)
	}
	up := b.linkUp
	if up {
		b.subscribesQueued++
		b.confirmations = append(b.confirmations, confirmation{b.subscribesQueued, time.Now(), confirmed})
		signal(b.wakeWriter)
	}
	b.mu.Unlock()
	b.answerPendingQueries(tenant, pattern)
	if !up {
		confirmed()
	}
}

// Unsubscribe implements [pubsub.Broker].
func (b *Broker) Unsubscribe(tenant, pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.interests[tenant]
	if t == nil {
		return // Close was faster
	}
	in := t.bySubject[natssubject.OfPattern(tenant, pattern)]
	if in == nil || in.patterns == 0 {
		return
	}
	if in.patterns--; in.patterns == 0 {
		b.updateInterest(in, -1)
	}
}

// queueChange has the writer look at an interest. The caller holds b.mu.
func (b *Broker) queueChange(in *interest) {
	if !in.queued {
		in.queued = true
		b.changedInterests = append(b.changedInterests, in)
	}
	signal(b.wakeWriter)
}

// apply subscribes and unsubscribes in NATS as the hub wants it for an interest. For the
// writer.
func (b *Broker) apply(in *interest) {
	in.broadcastSub = b.applySubscription(in.broadcastSub, in.applyBroadcast, func() (*client.Subscription, error) {
		return b.conn.ChanSubscribe(b.subscribePrefix+broadcasts+in.subject, b.incoming)
	})
	in.oneSub = b.applySubscription(in.oneSub, in.applyOne, func() (*client.Subscription, error) {
		return b.conn.ChanQueueSubscribe(b.subscribePrefix+nearest+in.subject, queueGroup, b.incoming)
	})
	if in.broadcastSub == nil && in.oneSub == nil {
		b.removeUnused(in)
	}
}

func (b *Broker) applySubscription(sub *client.Subscription, want bool, subscribe func() (*client.Subscription, error)) *client.Subscription {
	switch {
	case want == (sub != nil):
		return sub
	case want:
		sub, err := subscribe()
		if err != nil {
			b.log.Error("subscribe", zap.Error(err))
			return nil
		}
		return sub
	}
	b.endSubscription(sub)
	b.mu.Lock()
	delete(b.dropped, sub)
	b.mu.Unlock()
	return nil
}

// maxDrainingSubs is how many subscriptions drain at a time: each is a goroutine of
// NATS's client, until the server has answered.
const maxDrainingSubs = 1000

// endSubscription ends a subscription. What NATS sends by it until it knows of the end is
// still taken: a message for one connection comes by no other subscription. When more than
// maxDrainingSubs end at once, that is lost. For the writer, which owns b.drainingSubs.
func (b *Broker) endSubscription(sub *client.Subscription) {
	if len(b.drainingSubs) >= maxDrainingSubs {
		b.drainingSubs = slices.DeleteFunc(b.drainingSubs, func(s *client.Subscription) bool { return !s.IsDraining() })
	}
	// Without a link the client would ask for it again with the next one.
	if len(b.drainingSubs) < maxDrainingSubs && b.conn.IsConnected() && sub.Drain() == nil {
		b.drainingSubs = append(b.drainingSubs, sub)
		return
	}
	_ = sub.Unsubscribe() // fails only when the connection is closed
}

// removeUnused removes an interest that no pattern has, and a tenant without any.
func (b *Broker) removeUnused(in *interest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := in.tenantInterests
	if in.patterns == 0 && !in.queued && in != t.wildcard {
		delete(t.bySubject, in.subject)
	}
	if len(t.bySubject) == 0 && !t.wildcard.queued && !t.switching && !t.wildcardForBroadcast && b.interests[in.tenant] == t {
		delete(b.interests, in.tenant)
	}
}
