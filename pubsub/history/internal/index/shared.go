package index

import "github.com/millrace/millrace/wire"

// What a store needs whose messages are removed by others, too, and whose numbers are those
// of all tenants.

// OnShrink has a store asked about each entry of a tenant that has more than half of the size, or whose
// owner has, before it is removed for that. owner is empty where it is the tenant. If the store says no,
// the oldest of all goes instead, which goes without a question.
func (h *History) OnShrink(f func(owner, tenant string, e *Entry) bool) { h.shrinking = f }

// RaiseFloors counts all up to a position as removed, of every tenant: messages may be
// missing that the index has never seen. It does not look at the tenants: it may be called
// for every few messages.
func (h *History) RaiseFloors(to wire.Position, why wire.GapReason) {
	at := place{to.N, to.T}
	h.base.raise(at)
	if at.n > h.raised.n {
		h.raised, h.why = at, why
	}
}

// lostTo is the last message of a tenant that was removed, the limits of channels aside, and why.
func (t *Tenant) lostTo() (at place, why wire.GapReason) {
	at, why = t.floor, t.why
	if h := t.history; h.raised.n > at.n {
		at, why = h.raised, h.why
	}
	if t.owner.raised.n > at.n {
		at, why = t.owner.raised, wire.GapExpired
	}
	return at, why
}

// RaiseOwnerFloors is RaiseFloors for the tenants of an owner, for those that are not known yet, and for those of
// which it is not known whose they are: the messages that said so may be gone.
func (h *History) RaiseOwnerFloors(name string, to wire.Position) {
	at := place{to.N, to.T}
	h.base.raise(at)
	h.ofOwners = max(h.ofOwners, at.n)
	for _, o := range []*owner{h.owners[name], h.owners[""]} {
		if o != nil {
			o.raised.raise(at)
		}
	}
}

// RaiseFirstFloors counts what came before the first message of each tenant as removed, up to the highest position
// of RaiseOwnerFloors: the tenant may have been that owner's then. Nothing behind its first message was removed for
// a share, since its oldest go first. at returns the position with a number.
func (h *History) RaiseFirstFloors(at func(n uint64) wire.Position) {
	if h.ofOwners == 0 {
		return
	}
	for _, t := range h.oldest {
		to := at(min(h.ofOwners, t.entries[t.first].N-1))
		t.raiseFloor(place{to.N, to.T}, wire.GapExpired)
	}
}

// RemoveOwnedTo removes the messages of an owner's tenants up to a number, which another one has begun to
// remove. The store is told as with OnShrink; what it says does not matter.
func (h *History) RemoveOwnedTo(owner string, n uint64) {
	for o := h.owners[owner]; o != nil && len(o.oldest) > 0; {
		t := o.oldest[0]
		e := t.entries[t.first]
		if e.N > n {
			return
		}
		if h.shrinking != nil {
			h.shrinking(owner, t.name, e)
		}
		t.removeFirst(e)
	}
}

// RemoveTo removes the messages of a tenant up to a number.
func (h *History) RemoveTo(tenant string, n uint64) {
	t := h.tenants[tenant]
	for t != nil && t.live > 0 && t.entries[t.first].N <= n {
		t.removeFirst(t.entries[t.first])
	}
}

// Numbers lists the numbers of the messages of a channel of a tenant, of the tenant if channel
// is empty, or of all if both are; nil if there are more than most.
func (h *History) Numbers(tenant, channel string, most int) (list []uint64) {
	if tenant == "" && h.messages <= most {
		for _, t := range h.oldest {
			list = append(list, h.Numbers(t.name, "", most)...)
		}
	}
	t := h.tenants[tenant]
	if t == nil {
		return list
	}
	entries, n := t.entries[t.first:], t.live
	if channel != "" {
		entries = nil
		if c := t.channels[channel]; c != nil {
			entries = c.entries
		}
		n = len(entries)
	}
	if n > most {
		return nil
	}
	for _, e := range entries {
		if !e.Removed() {
			list = append(list, e.N)
		}
	}
	return list
}

// Removed reports whether an entry was removed.
func (e *Entry) Removed() bool { return e.channel == nil }

// Kept returns how many messages a channel has.
func (h *History) Kept(tenant string, channel []byte) int {
	if t := h.tenants[tenant]; t != nil {
		if c := t.channels[string(channel)]; c != nil {
			return len(c.entries)
		}
	}
	return 0
}

// Len returns how many messages the history has.
func (h *History) Len() int { return h.messages }

// EntryOverhead is what each message counts for in a history's size, beside its own.
const EntryOverhead = entryOverhead
