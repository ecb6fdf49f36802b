package pubsub

import (
	"math/rand/v2"

	"github.com/millrace/millrace/wire"
)

// publish passes on a message that this edge accepted from one of its clients.
// near is the tenant that the client published to last. It returns why other edges
// could not get it.
func (h *Hub) publish(m wire.Publish, near **tenant, pace pace) error {
	p := h.publication(m.Tenant, m.Channel, m.Payload, pace)
	defer p.pace.end()
	if !(*near).is(m.Tenant) {
		*near = h.tenant(m.Tenant)
	}
	switch m.Delivery {
	case wire.Broadcast:
		h.fanOut(*near, &p)
	case wire.OneNearest:
		if h.deliverOne(*near, &p) {
			return nil
		}
	case wire.OneRandom: // the broker chooses the edge
	}
	err := h.broker.Publish(Message{Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload, Delivery: m.Delivery, Wanted: p.hasSubscribers})
	if err != nil {
		h.Unsent(1)
	}
	return err
}

// Linked implements [Receiver] for the broker.
func (h *Hub) Linked(up bool) {
	if up {
		h.outage.Store(0)
	} else {
		h.outages++
		h.outage.Store(h.outages)
	}
	h.linkWatch.linkChanged(h)
}

// IsLinked reports whether the link to the other edges is up.
func (h *Hub) IsLinked() bool { return h.outage.Load() == 0 }

// Unsent implements [Receiver] for the broker.
func (h *Hub) Unsent(n int) { h.count.unsent.Add(uint64(n)) }

// Receive implements [Receiver] for the broker.
func (h *Hub) Receive(m Message) int {
	if len(m.Payload) > h.limits.Load().MaxPayload {
		h.Rejected(1) // the send queues are made for what this edge's clients may publish
		return 0
	}
	t := h.tenant(m.Tenant)
	p := h.publication(m.Tenant, m.Channel, m.Payload, h.beginReceived(h.tenantLoad(t, m.Tenant)))
	defer p.pace.end()
	p.lastResort = m.LastResort
	if m.Delivery == wire.Broadcast {
		return h.fanOut(t, &p)
	}
	switch {
	case h.deliverOne(t, &p):
		return 1
	case p.leavingFound:
		return OnlyLeaving
	case p.hasSubscribers:
		return NoRoom
	}
	return 0
}

// Missed implements [Receiver] for the broker.
func (h *Hub) Missed(n int) { h.count.missed.Add(uint64(n)) }

// Rejected implements [Rejecter] for the broker.
func (h *Hub) Rejected(n int) { h.count.rejected.Add(uint64(n)) }

// Interested implements [Receiver] for the broker.
func (h *Hub) Interested(tenant, channel []byte) bool {
	t := h.tenant(tenant)
	if t == nil {
		return false
	}
	l, since := h.tenantLoad(t, tenant), h.now()
	defer h.charge(l, since)
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, channel)
	return len(m.interests) > 0
}

func (h *Hub) publication(tenant, channel, payload []byte, pace pace) publication {
	limits := h.limits.Load()
	p := publication{
		tenant: tenant, channel: channel, payload: payload,
		subsVersion: h.subsVersion.Load(), at: pace.since, limits: limits, pace: pace,
	}
	if limits.TenantEgressKB > 0 {
		p.caps = h.tenantCapsOf(tenant)
	}
	return p
}

// fanOut queues the message for every local subscriber, and says how many: a
// session with streams of its own may count twice.
func (h *Hub) fanOut(t *tenant, p *publication) (n int) {
	if t == nil {
		return 0
	}
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, p.channel)

	switch len(m.interests) {
	case 0:
		return 0
	case 1: // the common case needs no sets
		n = p.deliverToAll(m.interests[0])
	default:
		m.group()
		n = len(m.sessions)
		for i := range m.sessions {
			if f := &m.sessions[i]; f.set != 0 {
				f.session.deliver(p, m.frame(p, f.set), nil)
			}
			p.maybePause(i)
		}
		for i, o := range m.ownMatches {
			o.session.deliver(p, m.frame(p, o.set), o.lane)
			p.maybePause(i)
		}
	}
	p.flush()
	h.count.deliveries.Add(uint64(n))
	h.countTenant(p.limits, p.tenant, 0, n)
	return n
}

// deliverToAll queues the message for all subscribers of an interest.
func (p *publication) deliverToAll(in *interest) int {
	f := p.encode(in.patterns[:])
	all := in.subscribers.Load()
	for part := range all.chunks {
		for i := range part {
			part[i].session.deliver(p, f, part[i].lane)
		}
		p.maybePause(chunk - 1)
	}
	return all.len()
}

// maybePause is called after each delivery, the i-th, or the last one of a part: now
// and then a long fan-out may have to pause. What it has queued until then is
// written before.
func (p *publication) maybePause(i int) {
	if i%chunk != chunk-1 {
		return
	}
	pause := p.pace.pauseDue()
	if pause || p.pace.writesInline() {
		p.flush()
	}
	if pause {
		p.pace.pause()
	}
}

// flush has the sessions written for which there is something now: by goroutines
// of their own or, if the tenant has no more of the processors, by this one.
func (p *publication) flush() {
	out := p.toFlush
	p.toFlush = nil
	if !p.pace.writesInline() {
		out.start(p.pace.load, p.pace.maxWriters())
		return
	}
	for out != nil {
		next := out.next
		out.flush()
		out = next
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
	m.group()
	p.hasSubscribers = len(m.sessions) > 0
	for left := len(m.sessions); left > 0; left-- {
		i := rand.IntN(left)
		candidate := m.sessions[i]
		m.laneFrames = m.laneFrames[:0]
		if candidate.set != 0 {
			m.laneFrames = append(m.laneFrames, laneFrame{nil, m.frame(p, candidate.set)})
		}
		for _, o := range m.ownMatches {
			if o.session == candidate.session {
				m.laneFrames = append(m.laneFrames, laneFrame{o.lane, m.frame(p, o.set)})
			}
		}
		if n := candidate.session.tryDeliver(p, m.laneFrames); n > 0 {
			h.count.deliveries.Add(uint64(n))
			h.countTenant(p.limits, p.tenant, 0, n)
			return true
		}
		m.sessions[i] = m.sessions[left-1]
	}
	return false
}
