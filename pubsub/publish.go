package pubsub

import (
	"math/rand/v2"
	"time"

	"github.com/millrace/millrace/wire"
)

// publication is one publish on its way to this edge's subscribers.
type publication struct {
	tenant, channel, payload []byte // valid while it is handed out

	// subsVersion is what [Hub.changes] was before subscribers were looked for. A
	// session whose subscriptions have changed since then is asked again.
	subsVersion uint64
	at          time.Duration // on the hub's clock
	limits      *Limits
	caps        *byteCaps

	toFlush *flushList // sessions that wait to be written
	pace    pace

	// Of a message for one connection.
	lastResort     bool // it is for those alone that were told to leave
	leavingFound   bool // one of these could take it
	hasSubscribers bool // there are subscribers
}

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

// encode makes the frame for subscribers with these patterns, in bytewise order.
func (p *publication) encode(patterns []string) *frame {
	data := make([]byte, 0, wire.DeliverLen(p.tenant, p.channel, p.payload, patterns))
	return &frame{
		data: wire.AppendDeliver(data, p.tenant, p.channel, p.payload, patterns),
		kind: Binary, at: p.at, caps: p.caps,
	}
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
