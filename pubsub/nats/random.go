package nats

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// A message for a random edge goes straight to one that has a subscriber for it:
// if it were forwarded from edge to edge, later ones could overtake it. So the
// publishing edge asks all others; see queries.go.

// publishRandom sends a message to a random one of the edges that have a subscriber
// for it, this one included.
func (b *Broker) publishRandom(m pubsub.Message, asking []edgeID) error {
	t, c := b.responders.lockChannel(&m)
	defer b.responders.unlock(t) // when it is sent: so order is kept
	now := time.Now()
	up, since := b.linkState()
	switch {
	case !up && c == nil:
		return b.deliverLocal(m, ErrUnavailable, asking)
	case c == nil && !fits(1, len(t.channels), int(b.responders.channels.Load()), maxChannels):
		return b.forwardAny(m, asking)
	case c == nil:
		c = new(channelResponders)
		t.channels[string(m.Channel)] = c
		b.responders.channels.Add(1)
	}
	c.usedAt = now
	if !up {
		b.flushWaiting(t, c) // what came before goes before
		return b.deliverLocal(m, ErrUnavailable, asking)
	}
	if c.stale || now.Sub(c.queriedAt) > requeryAfter {
		if err := b.sendQuery(&m, c, now, now.Sub(since) < discoveryTime); err != nil && !c.complete {
			return b.deliverLocal(m, err, asking)
		}
	}
	if c.complete {
		return b.sendToRandom(m, c.edges, asking)
	}
	if !b.responders.addWaiting(t, m.Issuer, waitingSize(&m), b.config.QueueBytes) {
		return errFull
	}
	c.waiting = append(c.waiting, waitingMessage{pubsub.Message{
		Tenant: bytes.Clone(m.Tenant), Channel: bytes.Clone(m.Channel), Payload: bytes.Clone(m.Payload), Sender: bytes.Clone(m.Sender), Delivery: m.Delivery,
		Issuer: m.Issuer, Publisher: m.Publisher,
	}, asking})
	return nil
}

// waitingMessage is a message that waits for answers, and what fates.add returned.
type waitingMessage struct {
	pubsub.Message
	asking []edgeID
}

// waitingSize is what a message that waits for answers counts for.
func waitingSize(m *pubsub.Message) int {
	return len(m.Payload) + len(m.Sender) + len(m.Tenant) + len(m.Channel)
}

// flushWaiting sends what waits for answers about a channel: without a link, to
// subscribers of this edge. The caller holds t.mu, which others may have meanwhile: each message
// may wait for the hub.
func (b *Broker) flushWaiting(t *tenantResponders, c *channelResponders) {
	if c.flushed != nil || len(c.waiting) == 0 {
		return
	}
	c.flushed = make(chan struct{})
	for _, w := range c.waiting { // nothing is added meanwhile: see lockChannel
		m := w.Message
		b.responders.removeWaiting(t, m.Issuer, waitingSize(&m))
		edges := slices.Clone(c.edges)
		t.mu.Unlock()
		if err := b.sendToRandom(m, edges, w.asking); err != nil && b.deliverLocal(m, err, w.asking) != nil {
			b.receiver.Unsent(1)
		}
		t.mu.Lock()
	}
	close(c.flushed)
	c.waiting, c.flushed = nil, nil
}

// deliverLocal gives a message to a subscriber of this edge. Without one it returns
// why no other edge can be reached.
func (b *Broker) deliverLocal(m pubsub.Message, why error, asking []edgeID) error {
	n := b.receiver.Receive(m)
	if n == pubsub.SomeLeaving {
		m.LastResort = true
		n = b.receiver.Receive(m)
	}
	switch {
	case n > 0:
		b.tell(&m, asking, pubsub.FateTaken)
		return nil
	case n < 0:
		b.tell(&m, asking, pubsub.FateBusy)
	default: // others may have some
		b.tell(&m, asking, pubsub.FateUnknown)
	}
	return why
}

// forwardAny sends a message to any edge, which forwards it if it has no
// subscriber.
func (b *Broker) forwardAny(m pubsub.Message, asking []edgeID) error {
	ids := append(b.peers.otherIDs(), b.id)
	to := ids[rand.IntN(len(ids))]
	if to != b.id {
		return b.sendToEdge(m, to, asking)
	}
	if taken, tried := b.tryLocal(m, asking); !taken {
		b.forward(m, tried)
	}
	return nil
}

// sendToRandom sends a message to this edge or one of others, each with the same
// probability. If this edge is drawn and has no subscriber, one of the others gets
// it. If no other one is known, NATS chooses: it may have a subscription that no
// edge has reported yet.
func (b *Broker) sendToRandom(m pubsub.Message, others, asking []edgeID) error {
	at := rand.IntN(len(others) + 1)
	if at < len(others) {
		return b.sendToEdge(m, others[at], asking)
	}
	n := b.receiver.Receive(m)
	switch {
	case n > 0:
		b.tell(&m, asking, pubsub.FateTaken)
		return nil
	case len(others) == 0:
		m.HasSubscribers = n < 0
		return b.publishNearest(m, asking)
	}
	return b.sendToEdge(m, others[rand.IntN(len(others))], b.addSelf(slices.Clone(asking), n))
}
