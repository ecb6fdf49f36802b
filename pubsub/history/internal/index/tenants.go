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

// begin makes a tenant for its first message, which has this owner. Here idle ones are forgotten, and not
// while a store is read, when all of them are idle at first.
func (h *History) begin(owner, name string, first wire.Position) *Tenant {
	if len(h.tenants)-len(h.oldest) >= maxIdleTenants {
		h.forgetIdle(owner)
	}
	at := h.base
	if first.N <= at.n { // it got this position before it was forgotten
		at = place{first.N - 1, min(at.t, first.T)}
	}
	return h.add(name, at, h.opened)
}

const (
	// manyIdle is how many idle tenants of one owner are many.
	manyIdle = maxIdleTenants / 16
	// forgetEach is how many are forgotten at once: a look at all owners is worth it, and nobody waits long.
	forgetEach = 256
)

// forgetIdle forgets tenants without messages: those of the owner who needs room for another one, if that has
// many, else of the owner that has most, and of all where nobody has many.
func (h *History) forgetIdle(owner string) {
	of := h.owners[owner]
	if of == nil || of.idle.n < manyIdle {
		for _, o := range h.owners {
			if of == nil || o.idle.n > of.idle.n {
				of = o
			}
		}
	}
	left := forgetEach - h.forgetOf(of, forgetEach)
	for _, o := range h.owners {
		if left == 0 {
			return
		}
		left -= h.forgetOf(o, min(left, o.idle.n/2+1))
	}
}

// forgetOf forgets tenants of an owner, up to a number of them, those first that have been idle for longest. It
// returns how many there were.
func (h *History) forgetOf(o *owner, upTo int) (n int) {
	for ; n < upTo && o.idle.n > 0; n++ {
		t := o.idle.first
		h.base = place{max(h.base.n, t.head.N), max(h.base.t, t.head.T)}
		t.leaveOwner()
		delete(h.tenants, t.name)
		if h.forgot != nil {
			h.forgot(t.name)
		}
	}
	return n
}

// idleList has tenants without messages, the one first that has been so for longest.
type idleList struct {
	first, last *Tenant
	n           int
}

// links are the neighbours of a tenant in an idleList.
type links struct{ before, after *Tenant }

func (l *idleList) add(t *Tenant) {
	t.idle = links{before: l.last}
	if l.n++; l.last == nil {
		l.first = t
	} else {
		l.last.idle.after = t
	}
	l.last = t
}

func (l *idleList) remove(t *Tenant) {
	before, after := t.idle.before, t.idle.after
	if t.idle = (links{}); before == nil {
		l.first = after
	} else {
		before.idle.after = after
	}
	if after == nil {
		l.last = before
	} else {
		after.idle.before = before
	}
	l.n--
}
