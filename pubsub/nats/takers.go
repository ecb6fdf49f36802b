package nats

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// A message for a random edge goes to one that has somebody to take it, straight
// away: were it passed on from edge to edge, later ones could overtake it. So the
// publishing edge asks all others, once for a channel that is in use, and again
// every other second. An edge that has answered no and gets a subscriber then
// says so by itself.
const (
	// answerTime is how long an answer is waited for.
	answerTime = time.Second
	// answerAge is when an answer is asked for again.
	answerAge = 2 * time.Second
	// youngTime is how long after a link came up there may be edges that this one
	// has not heard of.
	youngTime = announceEvery + time.Second
	// answerKept is how long a channel that is not used is remembered.
	answerKept = 10 * time.Second
	// maxChannels bounds the channels that are remembered, and those that others ask
	// about: a client may publish to ever new ones.
	maxChannels = 10_000
)

// takers are the edges that have somebody to take messages, by channel.
type takers struct {
	mu       sync.Mutex
	channels map[channelName]*channelTakers
	askers   map[string]map[string]askers // who asked this edge, and was told no, by tenant and channel
	asked    int                          // channels in askers
	bytes    int                          // that wait in all channels
}

type channelName struct{ tenant, channel string }

type channelTakers struct {
	known   bool
	edges   []edgeID            // that have said yes
	open    map[edgeID]struct{} // that have not answered the last question
	asked   time.Time
	again   bool // there is an edge that was not asked
	used    time.Time
	waiting []pubsub.Message // until it is known, in order
}

func (t *takers) start() {
	t.channels, t.askers = map[channelName]*channelTakers{}, map[string]map[string]askers{}
}

func nameOf(m *pubsub.Message) channelName { return channelName{string(m.Tenant), string(m.Channel)} }

// toRandom sends a message to a random one of the edges that have somebody to
// take it.
func (b *Broker) toRandom(m pubsub.Message) error {
	now := time.Now()
	t := &b.takers
	t.mu.Lock()
	defer t.mu.Unlock() // until it is sent: so order is kept
	name := nameOf(&m)
	up, since := b.isUp()
	c := t.channels[name]
	switch {
	case !up && c == nil:
		return b.toHere(m)
	case c == nil && len(t.channels) >= maxChannels:
		return b.toAny(m)
	case c == nil:
		c = new(channelTakers)
		t.channels[name] = c
	}
	c.used = now
	if !up {
		b.sendWaiting(c) // what came before goes before
		return b.toHere(m)
	}
	if c.again || now.Sub(c.asked) > answerAge {
		if !b.ask(&m, c, now, now.Sub(since) < youngTime) && !c.known {
			return b.toHere(m)
		}
	}
	if c.known {
		return b.choose(m, c.edges)
	}
	size := len(m.Payload) + len(name.tenant) + len(name.channel)
	if t.bytes+size > b.config.QueueBytes {
		return ErrUnavailable
	}
	t.bytes += size
	c.waiting = append(c.waiting, pubsub.Message{
		Tenant: bytes.Clone(m.Tenant), Channel: bytes.Clone(m.Channel), Payload: bytes.Clone(m.Payload), Delivery: m.Delivery,
	})
	return nil
}

// toHere gives a message to somebody of this edge, as no other one can be
// reached.
func (b *Broker) toHere(m pubsub.Message) error {
	if b.receiver.Receive(m) > 0 {
		return nil
	}
	return ErrUnavailable
}

// toAny sends a message to any edge, which passes it on if it has nobody.
func (b *Broker) toAny(m pubsub.Message) error {
	ids := append(b.peers.otherIDs(), b.id)
	to := ids[rand.IntN(len(ids))]
	if to != b.id {
		return b.sendOne(m, to, nil)
	}
	if b.receiver.Receive(m) == 0 {
		b.passOn(m, []edgeID{b.id})
	}
	return nil
}

// ask asks all other edges about a channel, and reports whether it could. This
// edge may be young, and not know who they are: then it waits for any. The caller
// holds takers.mu.
func (b *Broker) ask(m *pubsub.Message, c *channelTakers, now time.Time, young bool) bool {
	open := map[edgeID]struct{}{}
	for _, id := range b.peers.otherIDs() {
		open[id] = struct{}{}
	}
	if young {
		open[b.id] = struct{}{} // which does not answer
	}
	if len(open) > 0 && b.say(m, questions, kindQuestion) != nil {
		return false // the next message asks
	}
	c.asked, c.again, c.open = now, false, open
	c.known = c.known || len(open) == 0
	return true
}

// say sends a word about a channel.
func (b *Broker) say(m *pubsub.Message, to string, kind byte) error {
	return b.enqueue(b.channel(to, m), func(data []byte) []byte { return appendWord(data, kind, b.id) })
}

// choose sends a message to this edge or one of others, each as likely. Without
// somebody to take it here it is one of the others.
func (b *Broker) choose(m pubsub.Message, others []edgeID) error {
	at := rand.IntN(len(others) + 1)
	if at == len(others) {
		if b.receiver.Receive(m) > 0 || len(others) == 0 {
			return nil
		}
		return b.sendOne(m, others[rand.IntN(len(others))], []edgeID{b.id})
	}
	return b.sendOne(m, others[at], nil)
}

// sendOne sends a message to one edge. NATS says at once if there is no such edge
// any more.
func (b *Broker) sendOne(m pubsub.Message, to edgeID, tried []edgeID) error {
	subject := func(s []byte) []byte {
		s = appendChannel(append(append(s, b.speak...), direct(to)...), m.Tenant, m.Channel)
		return append(append(append(append(s, replyTo...), b.speak...), direct(b.id)...), to.String()...)
	}
	return b.pass(subject, func(data []byte) []byte { return appendOne(data, m.Delivery, tried, m.Payload) })
}

// keep drops all edges but those that are known.
func (t *takers) keep(known []edgeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.channels {
		c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return !slices.Contains(known, id) })
	}
}

// passOn finds another edge for a message that this one has nobody for, any
// more: at random among all that were not tried yet, which may have nobody
// either.
func (b *Broker) passOn(m pubsub.Message, tried []edgeID) {
	if len(tried) >= maxTried {
		return
	}
	left := slices.DeleteFunc(append(b.peers.otherIDs(), b.id), func(id edgeID) bool { return slices.Contains(tried, id) })
	if len(left) > 0 && b.sendOne(m, left[rand.IntN(len(left))], tried) != nil {
		b.receiver.Unsent(1)
	}
}

// askAgain has all channels asked about that are in use: there is another edge.
func (t *takers) askAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.channels {
		c.again = true // answers to the last question still count
	}
}

// hear takes a question or an answer about a channel.
func (b *Broker) hear(m pubsub.Message, kind byte, from edgeID) {
	t := &b.takers
	name := nameOf(&m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if kind == kindQuestion {
		answer := byte(kindYes)
		if !b.receiver.Interested(m.Tenant, m.Channel) {
			answer = kindNo
			t.note(name, from)
		}
		_ = b.say(&m, direct(from), answer) // without a link it asks again
		return
	}
	c := t.channels[name]
	if c == nil || kind != kindYes && kind != kindNo {
		return
	}
	c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return id == from })
	if kind == kindYes && len(c.edges) < maxPeers {
		c.edges = append(c.edges, from)
	}
	delete(c.open, from)
	if len(c.open) == 0 {
		b.settleTakers(c)
	}
}

// settleTakers takes the answers of a channel for all there are, and sends what
// waits for them. The caller holds takers.mu.
func (b *Broker) settleTakers(c *channelTakers) {
	c.known = true
	b.sendWaiting(c)
}

// sendWaiting sends what waits for a channel's takers: without a link, to somebody
// here. The caller holds takers.mu.
func (b *Broker) sendWaiting(c *channelTakers) {
	for _, m := range c.waiting {
		b.takers.bytes -= len(m.Payload) + len(m.Tenant) + len(m.Channel)
		if b.choose(m, c.edges) != nil && b.receiver.Receive(m) == 0 {
			b.receiver.Unsent(1)
		}
	}
	c.waiting = nil
}

// review ends questions that were not answered in time, and forgets channels
// that are not used.
func (b *Broker) review(now time.Time) {
	t := &b.takers
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, c := range t.channels {
		limit := answerTime
		if _, any := c.open[b.id]; any && len(c.open) == 1 {
			limit /= 4 // all that are known have answered
		}
		if len(c.open) > 0 && now.Sub(c.asked) > limit {
			c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool {
				_, silent := c.open[id]
				return silent
			})
			c.open = nil
		}
		if !c.known && len(c.open) == 0 && !c.asked.IsZero() {
			b.settleTakers(c)
		}
		if len(c.waiting) == 0 && now.Sub(c.used) > answerKept {
			delete(t.channels, name)
		}
	}
	t.forgetOldAskers(now)
}
