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
	err := h.broker.Publish(Message{Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload, Delivery: m.Delivery, Wanted: p.wanted})
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
	h.linkWatch.tell(h)
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
	p := h.publication(m.Tenant, m.Channel, m.Payload, h.beginReceived(h.loadFor(t, m.Tenant)))
	defer p.pace.end()
	p.lastResort = m.LastResort
	if m.Delivery == wire.Broadcast {
		return h.fanOut(t, &p)
	}
	switch {
	case h.deliverOne(t, &p):
		return 1
	case p.leaving:
		return OnlyLeaving
	case p.wanted:
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
	l, since := h.loadFor(t, tenant), h.now()
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
		changes: h.changes.Load(), at: pace.since, limits: limits, pace: pace,
	}
	if limits.TenantEgressKB > 0 {
		p.caps = h.capsOf(tenant)
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
		n = p.spread(m.interests[0])
	default:
		m.group()
		n = len(m.found)
		for i := range m.found {
			if f := &m.found[i]; f.set != 0 {
				f.session.deliver(p, m.frame(p, f.set), nil)
			}
			p.rest(i)
		}
		for i, o := range m.own {
			o.session.deliver(p, m.frame(p, o.set), o.lane)
			p.rest(i)
		}
	}
	p.send()
	h.count.deliveries.Add(uint64(n))
	h.countTenant(p.limits, p.tenant, 0, n)
	return n
}

// spread queues the message for all subscribers of an interest.
func (p *publication) spread(in *interest) int {
	f := p.encode(in.patterns[:])
	all := in.subscribers.Load()
	for part := range all.chunks {
		for i := range part {
			part[i].session.deliver(p, f, part[i].lane)
		}
		p.rest(chunk - 1)
	}
	return all.len()
}

// rest is called after each delivery, the i-th, or the last one of a part: now
// and then a long fan-out may have to pause. What it has queued until then is
// written before.
func (p *publication) rest(i int) {
	if i%chunk != chunk-1 {
		return
	}
	pause := p.pace.due()
	if pause || p.pace.inline() {
		p.send()
	}
	if pause {
		p.pace.pause()
	}
}

// send has the sessions written for which there is something now: by goroutines
// of their own or, if the tenant has no more of the processors, by this one.
func (p *publication) send() {
	out := p.out
	p.out = nil
	if !p.pace.inline() {
		out.send(p.pace.load, p.pace.writers())
		return
	}
	for out != nil {
		next := out.next
		out.write()
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
	p.wanted = len(m.found) > 0
	for left := len(m.found); left > 0; left-- {
		i := rand.IntN(left)
		candidate := m.found[i]
		m.parts = m.parts[:0]
		if candidate.set != 0 {
			m.parts = append(m.parts, part{nil, m.frame(p, candidate.set)})
		}
		for _, o := range m.own {
			if o.session == candidate.session {
				m.parts = append(m.parts, part{o.lane, m.frame(p, o.set)})
			}
		}
		if n := candidate.session.offer(p, m.parts); n > 0 {
			h.count.deliveries.Add(uint64(n))
			h.countTenant(p.limits, p.tenant, 0, n)
			return true
		}
		m.found[i] = m.found[left-1]
	}
	return false
}
