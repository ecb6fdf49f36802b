package presence

import (
	"bytes"
	"slices"
	"time"
)

// tenant is who is present in the channels of one tenant, on all edges that are known.
type tenant struct {
	name                string
	channels            map[string]*channel
	log                 log[*entry]
	counts              log[*channel]
	crowds              map[string]*crowd // its members that are here, by presence
	watched             int               // audiences
	holder              *holder
	entries             int                       // of all channels
	left                int                       // of these, those of members that have left
	place, placeLeaving int                       // in Registry.all, and in holder.leaving
	wildDirty           bool                      // all of the next are dirty
	wild                map[audienceKey]*audience // of these, of patterns with wildcards
}

// channel is who is present in one channel.
type channel struct {
	tenant   *tenant
	name     string
	entries  map[string]*entry
	log      log[*entry] // by their second number
	here     int
	counted  uint64       // its number in tenant.counts
	audience [2]*audience // of its name as the pattern: members, and counts
}

// entry is a member, or one that has left.
type entry struct {
	channel *channel
	subject string
	owners  []owner
	here    bool
	since   uint64
	info    []byte
	goneAt  time.Time
	crowd   *crowd // in which it counts; nil: in none

	number, channelNumber uint64
}

// owner is an edge that has a member.
type owner struct {
	edge   string // empty: this one
	since  uint64
	info   []byte
	round  uint64 // of another edge: of edge.round, when it said so last
	linger time.Duration
}

// crowd is the members of a tenant in one presence.
type crowd struct {
	presence string
	members  int
	subjects map[string]int // of these, by their subject
}

// hasRoom reports whether a subject may become a member of one more channel: a tenant has so
// many members in a presence, and one subject at most half of them. The nil tenant has none.
func (t *tenant) hasRoom(d *definition, subject string) bool {
	if t == nil || t.crowds[d.Name] == nil {
		return true
	}
	c := t.crowds[d.Name]
	return c.members < d.Members && c.subjects[subject] < (d.Members+1)/2
}

// countIn counts an entry in a presence, and no more where it counted until now; nil: in none.
func (t *tenant) countIn(e *entry, d *definition) {
	if c := e.crowd; c != nil {
		if d != nil && c.presence == d.Name {
			return
		}
		e.crowd = nil
		if c.subjects[e.subject]--; c.subjects[e.subject] == 0 {
			delete(c.subjects, e.subject)
		}
		if c.members--; c.members == 0 {
			delete(t.crowds, c.presence)
		}
	}
	if d == nil {
		return
	}
	c := t.crowds[d.Name]
	if c == nil {
		c = &crowd{presence: d.Name, subjects: map[string]int{}}
		t.crowds[d.Name] = c
	}
	e.crowd = c
	c.members++
	c.subjects[e.subject]++
}

// tenant returns a tenant, and makes it if there is none. User is whose token makes somebody a member in
// it; empty: none does, or it is not known.
func (r *Registry) tenant(name, user string) *tenant {
	owner := r.ownerOf(name, user)
	t := r.tenants[name]
	if t == nil {
		t = &tenant{
			name: name, channels: map[string]*channel{}, crowds: map[string]*crowd{}, wild: map[audienceKey]*audience{},
			log:    newLog(func(e *entry) *uint64 { return &e.number }),
			counts: newLog(func(c *channel) *uint64 { return &c.counted }),
		}
		r.tenants[name] = t
		r.all.add(t)
	}
	r.hold(t, owner)
	return t
}

func (t *tenant) channel(name string) *channel {
	c := t.channels[name]
	if c == nil {
		c = &channel{
			tenant: t, name: name, entries: map[string]*entry{},
			log: newLog(func(e *entry) *uint64 { return &e.channelNumber }),
		}
		t.channels[name] = c
	}
	return c
}

// find returns the entry of a member, or nil.
func (r *Registry) find(key Key) *entry {
	if t := r.tenants[key.Tenant]; t != nil {
		if c := t.channels[key.Channel]; c != nil {
			return c.entries[key.Subject]
		}
	}
	return nil
}

func (e *entry) key() Key { return Key{e.channel.tenant.name, e.channel.name, e.subject} }

// ownedBy returns the edge of this ID as an owner of the entry, which may be nil; nil: it does not own it.
func (e *entry) ownedBy(edge string) *owner {
	if e == nil {
		return nil
	}
	for i := range e.owners {
		if e.owners[i].edge == edge {
			return &e.owners[i]
		}
	}
	return nil
}

func (r *Registry) isHere(key Key) bool {
	e := r.find(key)
	return e != nil && e.here
}

// setOwner notes that an edge has a member, whose token is user's, and returns its entry. The caller holds
// r.mu, and has checked that a presence has the channel.
func (r *Registry) setOwner(key Key, user string, o owner, now time.Time) *entry {
	c := r.tenant(key.Tenant, user).channel(key.Channel)
	e := c.entries[key.Subject]
	if e == nil {
		e = &entry{channel: c, subject: key.Subject}
		c.entries[key.Subject] = e
		r.countEntries(c.tenant, 1, 0)
	}
	e.owners = append(slices.DeleteFunc(e.owners, func(other owner) bool { return other.edge == o.edge }), o)
	r.update(e, now)
	return e
}

// clearOwner notes that an edge does not have a member any more. The caller holds r.mu.
func (r *Registry) clearOwner(e *entry, edge string, now time.Time) {
	e.owners = slices.DeleteFunc(e.owners, func(o owner) bool { return o.edge == edge })
	r.update(e, now)
}

// update finds out what has changed of a member, and notes it. The caller holds r.mu.
func (r *Registry) update(e *entry, now time.Time) {
	was, since, info := e.here, e.since, e.info
	e.here = len(e.owners) > 0
	if !e.here {
		e.info = nil
		e.channel.tenant.countIn(e, nil)
	} else {
		e.channel.tenant.countIn(e, r.set.definitionFor(e.channel.tenant.name, e.channel.name))
		e.info = e.owners[len(e.owners)-1].info
		if !was {
			since = e.owners[0].since
		}
		for _, o := range e.owners {
			since = min(since, o.since) // it never moves on while the member is here
		}
	}
	if e.here == was && e.since == since && bytes.Equal(e.info, info) {
		return
	}
	e.since = since
	c := e.channel
	c.tenant.log.put(e)
	c.log.move(e, e.number)
	if e.here != was {
		r.count(c, e, now)
	}
	r.markDirty(c)
}

// count notes that a channel has one member more, or less. The caller holds r.mu.
func (r *Registry) count(c *channel, e *entry, now time.Time) {
	t := c.tenant
	if e.here {
		r.here++
		c.here++
		if !e.goneAt.IsZero() {
			e.goneAt = time.Time{}
			r.countEntries(t, 0, -1)
		}
	} else {
		r.here--
		c.here--
		e.goneAt = now
		r.countEntries(t, 0, 1)
		t.log.leave(e, now)
	}
	t.counts.put(c)
}

// prune forgets what has been gone for long, or is too much, once a second. Tick calls it.
func (r *Registry) prune(now time.Time) {
	if now.Sub(r.prunedAt) < idleEvery {
		return
	}
	r.prunedAt = now
	var w walk
	for more := true; more; {
		r.mu.Lock()
		more = r.pruneSome(&w, now)
		r.mu.Unlock()
	}
}

// pruneSome prunes some of what there is, and reports whether there is more. The caller holds r.mu.
func (r *Registry) pruneSome(w *walk, now time.Time) (more bool) {
	left := stepSize
	for ; left > 0; left-- {
		m, ok := r.own.log.expired(now)
		if !ok {
			break
		}
		r.own.log.drop(m.thing)
	}
	for ; left > 0; left-- {
		if w.tenant == nil {
			if w.tenant = w.nextTenant(r); w.tenant == nil {
				return false
			}
		}
		t := w.tenant
		if e, ok := t.log.expired(now); ok {
			if e.thing.isGone(e.at) {
				r.forget(e.thing)
			}
			continue
		}
		w.tenant = nil
		if len(t.channels) == 0 && len(t.wild) == 0 {
			delete(r.tenants, t.name)
			r.all.remove(t)
			t.holder.tenants--
			r.forgetHolderIfUnused(t.holder)
		}
	}
	return true
}

// isGone reports whether an entry is still that of a member that left at a time: it may be back, have gone
// again, or be forgotten.
func (e *entry) isGone(at time.Time) bool {
	return !e.here && e.goneAt.Equal(at) && e.channel.entries[e.subject] == e
}

// forget drops a member that has left. The caller holds r.mu.
func (r *Registry) forget(e *entry) {
	c := e.channel
	c.tenant.log.drop(e)
	c.log.drop(e)
	delete(c.entries, e.subject)
	r.countEntries(c.tenant, -1, -1)
	c.forgetIfUnused()
}

// forgetIfUnused drops a channel that has no members and no watchers.
func (c *channel) forgetIfUnused() {
	if len(c.entries) == 0 && c.audience == [2]*audience{} {
		c.tenant.counts.drop(c)
		delete(c.tenant.channels, c.name)
	}
}
