package pubsub

import (
	"math/rand/v2"
	"time"

	"github.com/millrace/millrace/wire"
)

// publication is one publish on its way to this edge's subscribers.
type publication struct {
	tenant, channel, payload []byte   // valid during the call of publish or Receive
	sender                   []byte   // likewise
	matcher                  *matcher // that has found who gets it

	publisher *Session // on this edge; nil: another edge, or it is not known
	key       []byte   // of the publish; valid like the payload

	// subsVersion is what Hub.subsVersion was before subscribers were looked for. A
	// session whose subscriptions have changed since then matches the message again.
	subsVersion uint64
	at          time.Duration // when it was accepted, on the hub's clock
	limits      *Limits
	caps        *byteCaps

	toFlush *flushList // sessions that wait to be written to
	woken   int        // sessions to which other goroutines may write since others could run: their writers, or QUIC's
	pace    pace

	// for a message to one connection
	lastResort     bool // only connections that were told to reconnect may take it
	leavingFound   bool // one of these could take it as a last resort
	hasSubscribers bool // there are subscribers, whether they can take it or not
}

// publish passes on a message that this edge accepted from one of its clients, whose reader calls it. told
// is called when it is known what became of a message to one connection; nil: nobody asks. The error says why other
// edges could not get the message.
func (h *Hub) publish(m wire.Publish, by *Session, pace pace, told func(Fate)) error {
	p := h.publication(m.Tenant, m.Channel, m.Payload, by.token.sender, pace)
	p.publisher = by
	lastTenant := &by.lastTenant // it spares a look-up
	defer p.pace.end()
	if !(*lastTenant).is(m.Tenant) {
		*lastTenant = h.tenant(m.Tenant)
	}
	switch m.Delivery {
	case wire.Broadcast:
		h.fanOut(*lastTenant, &p)
	case wire.OneNearest:
		if h.deliverOne(*lastTenant, &p) {
			if told != nil {
				told(FateTaken)
			}
			return nil
		}
	case wire.OneRandom: // the broker chooses the edge
	}
	one := m.Delivery != wire.Broadcast
	if one { // the broker may wait, and may call Receive, which charges its work itself: the rest takes as long as to read it, about
		p.pace.charge()
		p.pace.work.beside = readCost + time.Duration(len(m.Payload)/2)
	}
	err := h.passOn(Message{
		Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload, Sender: p.sender, Delivery: m.Delivery, HasSubscribers: p.hasSubscribers,
		Issuer: h.sharingIssuer(&p.pace), Publisher: by,
	}, told)
	if one {
		p.pace.chargedUntil = h.now()
	}
	if err != nil {
		h.Unsent(1)
	}
	return err
}

func (h *Hub) publication(tenant, channel, payload, sender []byte, pace pace) publication {
	limits := h.limits.Load()
	p := publication{
		tenant: tenant, channel: channel, payload: payload, sender: sender,
		subsVersion: h.subsVersion.Load(), at: pace.begun, limits: limits, pace: pace,
	}
	p.pace.work.most += mostPerByte * time.Duration(len(payload)) // for the broker
	if limits.TenantEgressKB > 0 {
		p.caps = h.tenantCapsOf(tenant)
	}
	return p
}

// fanOut queues the message for every local subscriber, and returns how many there are:
// a session with streams of its own may count more than once.
func (h *Hub) fanOut(t *tenant, p *publication) (n int) {
	if t == nil {
		return 0
	}
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, p.channel)
	p.pace.work.matched(len(m.interests))
	p.matcher = m

	switch len(m.interests) {
	case 0:
		return 0
	case 1: // the common case needs no grouping
		n = p.deliverToAll(m.interests[0], &m.single)
	default:
		m.group(&p.pace)
		n = len(m.sessions)
		for i := range m.sessions {
			if f := &m.sessions[i]; f.set != 0 {
				set := &m.sets[f.set]
				f.session.deliver(p, set.frames[plain], set, nil)
			}
			p.maybePause(i)
		}
		for i, o := range m.ownMatches {
			set := &m.sets[o.set]
			o.session.deliver(p, set.frames[plain], set, o.lane)
			p.maybePause(i)
		}
	}
	p.flush()
	h.count.deliveries.Add(uint64(n))
	h.countTenant(p.limits, p.tenant, 0, n)
	return n
}

// deliverToAll queues the message for all subscribers of an interest, with its set of
// patterns.
func (p *publication) deliverToAll(in *interest, set *patternSet) int {
	all := in.subscribers.Load()
	for part := range all.chunks {
		for i := range part {
			part[i].session.deliver(p, set.frames[plain], set, part[i].lane)
		}
		p.maybePause(chunk - 1)
	}
	return all.len()
}

// maybePause is called after the i-th delivery of a fan-out, or the last one of a chunk.
// Once in a chunk it checks whether the fan-out has to pause. What the fan-out has queued
// until then is written before the pause.
func (p *publication) maybePause(i int) {
	if i%chunk != chunk-1 {
		return
	}
	p.pace.work.most += chunk * mostPerDelivery
	pause := p.pace.pauseDue()
	woken := p.woken >= chunk/2 && p.pace.isContended(p.pace.chargedUntil)
	if pause || woken || p.pace.writesInline() {
		p.flush()
	}
	if pause {
		p.pace.pause()
	}
	if pause || p.pace.yield(woken) {
		p.woken = 0
	}
}

// flush starts the writes to the sessions for which something was queued: on other
// goroutines or, if the tenant may use no more of the processors, on this one.
func (p *publication) flush() {
	list := p.toFlush
	p.toFlush = nil
	if !p.pace.writesInline() {
		list.start(p.pace.payers, p.pace.maxWriters())
		return
	}
	for list != nil {
		next := list.next
		list.flush(&p.pace)
		list = next
	}
}

// deliverOne queues the message for exactly one local subscriber, chosen
// uniformly over connections, if any can take it.
func (h *Hub) deliverOne(t *tenant, p *publication) bool {
	if t == nil {
		return false
	}
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, p.channel)
	p.pace.work.matched(len(m.interests))
	m.group(&p.pace)
	p.matcher = m
	p.hasSubscribers = len(m.sessions) > 0
	for left := len(m.sessions); left > 0; left-- {
		p.pace.work.most += mostPerDelivery
		i := rand.IntN(left)
		candidate := m.sessions[i]
		m.laneFrames = m.laneFrames[:0]
		if candidate.set != 0 {
			m.laneFrames = append(m.laneFrames, laneFrame{set: &m.sets[candidate.set]})
		}
		for _, o := range m.ownMatches {
			if o.session == candidate.session {
				m.laneFrames = append(m.laneFrames, laneFrame{lane: o.lane, set: &m.sets[o.set]})
			}
		}
		if n := candidate.session.offer(p, m.laneFrames); n > 0 {
			h.count.deliveries.Add(uint64(n))
			h.countTenant(p.limits, p.tenant, 0, n)
			return true
		}
		m.sessions[i] = m.sessions[left-1]
	}
	return false
}
