package presence

// holder is whoever has tenants: an issuer of tokens, who can have any number of them. Where there are
// several, none has more than its share of the entries that an edge knows. The holder without a name has
// the tenants without a known owner. Guarded by Registry.mu.
type holder struct {
	name    string
	tenants int
	entries int    // of these
	left    int    // of these entries, those of members that have left
	leaving places // its tenants that have such entries
	watched int    // patterns that its tokens were the first to watch, in any tenant
	owes    int    // bytes that its watchers got beyond its part of a tick; used by Tick alone
}

// forgetEach is how many entries of members that have left are forgotten at a time, about, when there
// is no room: the lock is held so long. It is more than one since who has most of them is looked for.
const forgetEach = 256

// holder returns the holder of this name, and makes it if there is none. Whoever counts nothing in it
// calls forgetHolderIfUnused.
func (r *Registry) holder(name string) *holder {
	h := r.holders[name]
	if h == nil {
		h = &holder{name: name, leaving: places{of: func(t *tenant) *int { return &t.placeLeaving }}}
		r.holders[name] = h
	}
	return h
}

func (r *Registry) forgetHolderIfUnused(h *holder) {
	if h.tenants+h.watched == 0 {
		delete(r.holders, h.name)
	}
}

// ownerOf returns whose a tenant is: whoever owns it by its name or, where that says nothing, whose token was
// the first to make somebody a member in it, or does so now, which is user; empty: nobody knows.
func (r *Registry) ownerOf(tenant, user string) string {
	if r.options.Owner == nil {
		return ""
	}
	if t := r.tenants[tenant]; t != nil && t.holder.name != "" {
		user = t.holder.name
	}
	return r.options.Owner(tenant, user)
}

// hold gives a tenant to a holder.
func (r *Registry) hold(t *tenant, name string) {
	if t.holder != nil {
		if t.holder.name == name {
			return
		}
		from := t.holder
		from.tenants--
		from.entries -= t.entries
		from.left -= t.left
		from.leaving.remove(t)
		r.forgetHolderIfUnused(from)
	}
	to := r.holder(name)
	t.holder = to
	to.tenants++
	to.entries += t.entries
	to.left += t.left
	to.noteLeaving(t)
}

// noteLeaving notes whether a tenant has members that have left.
func (h *holder) noteLeaving(t *tenant) {
	if t.left > 0 {
		h.leaving.add(t)
	} else {
		h.leaving.remove(t)
	}
}

// countEntries counts entries of a tenant, and how many of them are of members that have left.
func (r *Registry) countEntries(t *tenant, entries, left int) {
	r.entries += entries
	t.entries += entries
	t.holder.entries += entries
	t.left += left
	t.holder.left += left
	t.holder.noteLeaving(t)
}

// hasRoom reports whether there is room for an entry of a member, after members that have left were
// forgotten for that. User is whose token asks.
func (r *Registry) hasRoom(key Key, user string) bool {
	if r.find(key) != nil {
		return true
	}
	if h := r.holders[r.ownerOf(key.Tenant, user)]; h != nil && r.options.Share != nil {
		if most := r.options.Share(r.maxEntries); most > 0 && h.entries >= most {
			return r.forgetLeft(h)
		}
	}
	if r.entries < r.maxEntries {
		return true
	}
	var most *holder
	for _, h := range r.holders {
		if most == nil || h.left > most.left {
			most = h
		}
	}
	return most != nil && r.forgetLeft(most)
}

// forgetLeft forgets members of a holder's tenants that have left, those of each tenant in the order in
// which they did, and reports whether there were any.
func (r *Registry) forgetLeft(h *holder) bool {
	most, forgotten := min(forgetEach, (h.left+1)/2), 0
	for looked := 0; h.left > 0 && (looked < most || forgotten == 0); looked++ {
		list := h.leaving.list
		e, ok := list[len(list)-1].log.takeGone()
		if !ok {
			break // never: who has left is in there
		}
		if e.thing.isGone(e.at) {
			r.forget(e.thing)
			forgotten++
		}
	}
	return forgotten > 0
}
