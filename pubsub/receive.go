package pubsub

import "github.com/millrace/millrace/wire"

// Receive implements [Receiver] for the broker.
func (h *Hub) Receive(m Message) int {
	if len(m.Payload) > h.limits.Load().MaxPayload {
		h.Rejected(1) // the send queues are made for what this edge's clients may publish
		return 0
	}
	t := h.tenant(m.Tenant)
	by, asOwner := h.messagePayers(t, &m)
	p := h.publication(m.Tenant, m.Channel, m.Payload, m.Sender, h.beginPacedAccepted(by, m.Remote, !asOwner))
	defer p.pace.end()
	p.lastResort, p.publisher = m.LastResort, m.Publisher
	if m.Delivery == wire.Broadcast {
		return h.fanOut(t, &p)
	}
	switch {
	case h.deliverOne(t, &p):
		return 1
	case p.leavingFound:
		return SomeLeaving
	case p.hasSubscribers:
		return NoRoom
	}
	return 0
}

// messagePayers are who pays for a message of the broker: the issuer of its publisher or, where that is not known,
// the tenant's owner; and the tenant, unless the publisher is a guest. It reports whether the owner is the one who
// pays: another issuer has waited when it published.
func (h *Hub) messagePayers(t *tenant, m *Message) (by payers, asOwner bool) {
	by = h.tenantPayers(t, m.Tenant)
	if m.Issuer == "" || by.issuer != nil && by.issuer.name == m.Issuer {
		return by, true
	}
	by.issuer = h.cpuAccountIn(&h.loads.issuers, []byte(m.Issuer))
	if h.isGuest(m.Issuer, string(m.Tenant)) {
		by.tenant = nil
	}
	return by, false
}

// Interested implements [Receiver] for the broker.
func (h *Hub) Interested(tenant, channel []byte) bool {
	t := h.tenant(tenant)
	if t == nil {
		return false
	}
	by, since := h.tenantPayers(t, tenant), h.now()
	var w work
	defer func() { h.chargeWork(by, since, &w) }()
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, channel)
	w.matched(len(m.interests))
	return len(m.interests) > 0
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

// Missed implements [Receiver] for the broker.
func (h *Hub) Missed(n int) { h.count.missed.Add(uint64(n)) }

// Rejected implements [Rejecter] for the broker.
func (h *Hub) Rejected(n int) { h.count.rejected.Add(uint64(n)) }
