package index

import "github.com/millrace/millrace/wire"

func (h *History) tenant(name string) *Tenant {
	if t := h.tenants[name]; t != nil {
		return t
	}
	return h.add(name, h.base, h.opened)
}

// add makes a tenant that begins at a place. What it gets is not older than since.
func (h *History) add(name string, at place, since uint64) *Tenant {
	t := &Tenant{
		history: h, name: name, channels: map[string]*Channel{}, heapIndex: -1, ownedIndex: -1,
		head: h.position(at), floor: at,
	}
	t.own("")
	t.mark(place{at.n, since})
	h.tenants[name] = t
	return t
}

// begin makes a tenant for its first message. Here idle ones are forgotten, and not while a
// store is read, when all of them are idle at first.
func (h *History) begin(name string, first wire.Position) *Tenant {
	if len(h.tenants)-len(h.oldest) >= maxIdleTenants {
		h.forgetIdle()
	}
	at := h.base
	if first.N <= at.n { // it got this position before it was forgotten
		at = place{first.N - 1, min(at.t, first.T)}
	}
	return h.add(name, at, h.opened)
}

// forgetIdle forgets the tenants without messages of the owner that has most of them. Where nobody has
// many, all are forgotten: each call looks at all tenants.
func (h *History) forgetIdle() {
	var most *owner
	for _, o := range h.owners {
		if most == nil || o.idle() > most.idle() {
			most = o
		}
	}
	all := most.idle() < maxIdleTenants/16
	for name, t := range h.tenants {
		if t.live > 0 || !all && t.owner != most {
			continue
		}
		h.base = place{max(h.base.n, t.head.N), max(h.base.t, t.head.T)}
		t.leaveOwner()
		delete(h.tenants, name)
		if h.forgot != nil {
			h.forgot(name)
		}
	}
}
