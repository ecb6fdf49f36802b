package nats

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
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
	// about: a client may publish to ever new ones. Tenants share them; see fits.
	maxChannels = 10_000
)

// takers are the edges that have somebody to take messages, by tenant and channel.
// A tenant's lock is held while its messages are sent, or handed to the hub, so
// that their order is kept; no other tenant waits for it.
type takers struct {
	mu      sync.Mutex
	tenants map[string]*tenantTakers

	// of all tenants
	channels atomic.Int64
	asked    atomic.Int64 // channels in askers
	bytes    atomic.Int64 // that wait
}

// tenantTakers are those of one tenant.
type tenantTakers struct {
	name     string
	sending  atomic.Bool // all that waits, which may take its time
	mu       sync.Mutex  // guards the rest
	gone     bool        // taken out of takers
	channels map[string]*channelTakers
	askers   map[string]askers // who asked this edge about a channel, and was told no
	bytes    int               // that wait in all channels
}

type channelTakers struct {
	known   bool
	edges   []edgeID            // that have said yes
	open    map[edgeID]struct{} // that have not answered the last question
	asked   time.Time
	again   bool // there is an edge that was not asked
	used    time.Time
	waiting []pubsub.Message // until it is known, in order
}

func (t *takers) start() { t.tenants = map[string]*tenantTakers{} }

// lock returns what is known of a tenant, locked; nil: nothing is, and make is not
// set.
func (t *takers) lock(name []byte, make bool) *tenantTakers {
	for {
		t.mu.Lock()
		of := t.tenants[string(name)]
		if of == nil {
			if !make {
				t.mu.Unlock()
				return nil
			}
			of = &tenantTakers{name: string(name), channels: map[string]*channelTakers{}, askers: map[string]askers{}}
			t.tenants[of.name] = of
		}
		t.mu.Unlock()
		of.mu.Lock()
		if !of.gone {
			return of
		}
		of.mu.Unlock()
	}
}

// all returns all tenants.
func (t *takers) all() []*tenantTakers {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.tenants))
}

// unlock forgets a tenant of which nothing is known.
func (t *takers) unlock(of *tenantTakers) {
	if len(of.channels)+len(of.askers) == 0 && !of.gone {
		of.gone = true
		t.mu.Lock()
		delete(t.tenants, of.name)
		t.mu.Unlock()
	}
	of.mu.Unlock()
}

// toRandom sends a message to a random one of the edges that have somebody to
// take it.
func (b *Broker) toRandom(m pubsub.Message) error {
	now := time.Now()
	t := b.takers.lock(m.Tenant, true)
	defer b.takers.unlock(t) // when it is sent: so order is kept
	up, since := b.isUp()
	c := t.channels[string(m.Channel)]
	switch {
	case !up && c == nil:
		return b.toHere(m, ErrUnavailable)
	case c == nil && !fits(1, len(t.channels), int(b.takers.channels.Load()), maxChannels):
		return b.toAny(m)
	case c == nil:
		c = new(channelTakers)
		t.channels[string(m.Channel)] = c
		b.takers.channels.Add(1)
	}
	c.used = now
	if !up {
		b.sendWaiting(t, c) // what came before goes before
		return b.toHere(m, ErrUnavailable)
	}
	if c.again || now.Sub(c.asked) > answerAge {
		if err := b.ask(&m, c, now, now.Sub(since) < youngTime); err != nil && !c.known {
			return b.toHere(m, err)
		}
	}
	if c.known {
		return b.choose(m, c.edges)
	}
	size := len(m.Payload) + len(m.Tenant) + len(m.Channel)
	if !fits(size, t.bytes, int(b.takers.bytes.Load()), b.config.QueueBytes) {
		return errFull
	}
	t.bytes += size
	b.takers.bytes.Add(int64(size))
	c.waiting = append(c.waiting, pubsub.Message{
		Tenant: bytes.Clone(m.Tenant), Channel: bytes.Clone(m.Channel), Payload: bytes.Clone(m.Payload), Delivery: m.Delivery,
	})
	return nil
}

// toHere gives a message to somebody of this edge, or says why no other one can be
// reached.
func (b *Broker) toHere(m pubsub.Message, why error) error {
	n := b.receiver.Receive(m)
	if n == pubsub.OnlyLeaving {
		m.LastResort = true
		n = b.receiver.Receive(m)
	}
	if n > 0 {
		return nil
	}
	return why
}

// toAny sends a message to any edge, which passes it on if it has nobody.
func (b *Broker) toAny(m pubsub.Message) error {
	ids := append(b.peers.otherIDs(), b.id)
	to := ids[rand.IntN(len(ids))]
	if to != b.id {
		return b.sendOne(m, to, nil)
	}
	if taken, tried := b.offer(m, nil); !taken {
		b.passOn(m, tried)
	}
	return nil
}

// ask asks all other edges about a channel, or returns why it cannot. This
// edge may be young, and not know who they are: then it waits for any. The caller
// holds the lock of its tenant.
func (b *Broker) ask(m *pubsub.Message, c *channelTakers, now time.Time, young bool) error {
	open := map[edgeID]struct{}{}
	for _, id := range b.peers.otherIDs() {
		open[id] = struct{}{}
	}
	if young {
		open[b.id] = struct{}{} // which does not answer
	}
	if len(open) > 0 {
		if err := b.say(m, questions, kindQuestion); err != nil {
			return err // the next message asks
		}
	}
	c.asked, c.again, c.open = now, false, open
	c.known = c.known || len(open) == 0
	return nil
}

// say sends a word about a channel.
func (b *Broker) say(m *pubsub.Message, to string, kind byte) error {
	return b.enqueue(m.Tenant, b.channel(to, m), func(data []byte) []byte { return appendWord(data, kind, b.id) })
}

// choose sends a message to this edge or one of others, each as likely. Without
// somebody to take it here it is one of the others. Without any that is known NATS
// chooses: it may have a subscription of which no word has come yet.
func (b *Broker) choose(m pubsub.Message, others []edgeID) error {
	at := rand.IntN(len(others) + 1)
	if at < len(others) {
		return b.sendOne(m, others[at], nil)
	}
	n := b.receiver.Receive(m)
	switch {
	case n > 0:
		return nil
	case len(others) == 0:
		m.Wanted = n < 0
		return b.toNearest(m)
	}
	return b.sendOne(m, others[rand.IntN(len(others))], b.triedHere(nil, n))
}

// toNearest sends a message to the nearest other edge that NATS knows to have an
// interest. Without one it is for a subscriber of this edge that was told to leave, if
// there is any, or lost.
func (b *Broker) toNearest(m pubsub.Message) error {
	tried := []edgeID{b.id}
	subject := b.channel(nearest, &m)
	if m.Wanted {
		subject = b.answered(subject, &m, anyEdge, b.flying.add(m, append(tried, anyEdge), time.Now()))
	}
	err := b.pass(m.Tenant, subject, func(to []byte) []byte { return appendOne(to, wire.OneNearest, tried, m.Payload) })
	if err != nil && m.Wanted {
		return b.toHere(m, err)
	}
	return err
}

// anyEdge stands for the edge that NATS chooses. No edge has this id.
const anyEdge edgeID = 0

// answered has NATS say where a message was sent to, its number, and its tenant, if
// nobody listens there: see nowhere.
func (b *Broker) answered(subject func(to []byte) []byte, m *pubsub.Message, edge edgeID, number uint64) func(to []byte) []byte {
	return func(to []byte) []byte {
		to = append(append(append(subject(to), replyTo...), b.speak...), direct(b.id)...)
		to = strconv.AppendUint(append(append(to, edge.String()...), '.'), number, 10)
		return appendTenant(append(to, '.'), m.Tenant)
	}
}

// sendOne sends a message to one edge. If there is no such edge any more, it goes to
// another one.
func (b *Broker) sendOne(m pubsub.Message, to edgeID, tried []edgeID) error {
	subject := b.answered(func(s []byte) []byte {
		return appendChannel(append(append(s, b.speak...), direct(to)...), m.Tenant, m.Channel)
	}, &m, to, b.flying.add(m, append(slices.Clone(tried), to), time.Now()))
	return b.pass(m.Tenant, subject, func(data []byte) []byte { return appendOne(data, m.Delivery, tried, m.Payload) })
}

// keep drops all edges but those that are known.
func (t *takers) keep(known []edgeID) {
	for _, of := range t.all() {
		of.mu.Lock()
		for _, c := range of.channels {
			c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return !slices.Contains(known, id) })
		}
		of.mu.Unlock()
	}
}

// passOn finds another edge for a message that this one has nobody for, any more:
// at random among all that were not tried yet, which may have nobody either. When all
// were tried, and one has subscribers that were told to leave, they are tried once more
// for these alone, this one first.
func (b *Broker) passOn(m pubsub.Message, tried []edgeID) {
	for {
		left := slices.DeleteFunc(append(b.peers.otherIDs(), b.id), func(id edgeID) bool { return slices.Contains(tried, id) })
		switch {
		case len(left) > 0 && len(tried) < maxTried:
			if to := left[rand.IntN(len(left))]; to != b.id {
				if b.sendOne(m, to, tried) != nil {
					b.receiver.Unsent(1)
				}
				return
			}
		case !isLast(tried) && slices.Contains(tried, someLeave):
			tried = []edgeID{lastRound}
		default:
			if isLast(tried) || slices.Contains(tried, noRoom) {
				b.receiver.Unsent(1)
			}
			return
		}
		var taken bool
		if taken, tried = b.offer(m, tried); taken {
			return
		}
	}
}

// What stands among the edges that were tried, and is none.
const (
	lastRound edgeID = math.MaxUint64     // before all others: they are tried once more
	someLeave edgeID = math.MaxUint64 - 1 // one has subscribers that were told to leave
	noRoom    edgeID = math.MaxUint64 - 2 // one has subscribers without room
)

func isLast(tried []edgeID) bool { return len(tried) > 0 && tried[0] == lastRound }

// offer offers a message to this edge, and adds it to those that were tried.
func (b *Broker) offer(m pubsub.Message, tried []edgeID) (taken bool, all []edgeID) {
	m.LastResort = isLast(tried)
	n := b.receiver.Receive(m)
	return n > 0, b.triedHere(tried, n)
}

// triedHere adds this edge, of which Receive has returned n, to those that were tried.
func (b *Broker) triedHere(tried []edgeID, n int) []edgeID {
	mark := map[int]edgeID{pubsub.OnlyLeaving: someLeave, pubsub.NoRoom: noRoom}[n]
	if mark != 0 && !isLast(tried) && !slices.Contains(tried, mark) {
		tried = append(tried, mark)
	}
	return append(tried, b.id)
}

// askAgain has all channels asked about that are in use: there is another edge.
func (t *takers) askAgain() {
	for _, of := range t.all() {
		of.mu.Lock()
		for _, c := range of.channels {
			c.again = true // answers to the last question still count
		}
		of.mu.Unlock()
	}
}

// hear takes a question or an answer about a channel.
func (b *Broker) hear(m pubsub.Message, kind byte, from edgeID) {
	t := b.takers.lock(m.Tenant, true)
	defer b.takers.unlock(t)
	if kind == kindQuestion {
		answer := byte(kindYes)
		if !b.receiver.Interested(m.Tenant, m.Channel) {
			answer = kindNo
			b.note(t, string(m.Channel), from)
		}
		_ = b.say(&m, direct(from), answer) // without a link it asks again
		return
	}
	c := t.channels[string(m.Channel)]
	if c == nil || kind != kindYes && kind != kindNo {
		return
	}
	c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return id == from })
	if kind == kindYes && len(c.edges) < maxPeers && slices.Contains(b.peers.otherIDs(), from) { // it may have left since
		c.edges = append(c.edges, from)
	}
	delete(c.open, from)
	if len(c.open) == 0 {
		b.settleTakers(t, c)
	}
}

// settleTakers takes the answers of a channel for all there are, and sends what
// waits for them. The caller holds t.mu.
func (b *Broker) settleTakers(t *tenantTakers, c *channelTakers) {
	c.known = true
	b.sendWaiting(t, c)
}

// sendWaiting sends what waits for a channel's takers: without a link, to somebody
// here. The caller holds t.mu.
func (b *Broker) sendWaiting(t *tenantTakers, c *channelTakers) {
	t.sending.Store(true)
	defer t.sending.Store(false)
	for _, m := range c.waiting {
		size := len(m.Payload) + len(m.Tenant) + len(m.Channel)
		t.bytes -= size
		b.takers.bytes.Add(int64(-size))
		if err := b.choose(m, c.edges); err != nil && b.toHere(m, err) != nil {
			b.receiver.Unsent(1)
		}
	}
	c.waiting = nil
}

// review ends questions that were not answered in time, and forgets channels
// that are not used.
func (b *Broker) review(now time.Time) {
	for _, t := range b.takers.all() {
		if !t.sending.Load() { // else the others would wait for it
			b.reviewTenant(t, now)
		}
	}
}

func (b *Broker) reviewTenant(t *tenantTakers, now time.Time) {
	t.mu.Lock()
	defer b.takers.unlock(t)
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
			b.settleTakers(t, c)
		}
		if len(c.waiting) == 0 && now.Sub(c.used) > answerKept {
			delete(t.channels, name)
			b.takers.channels.Add(-1)
		}
	}
	b.forgetOldAskers(t, now)
}
