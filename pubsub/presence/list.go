package presence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

// chunk is how many entries are looked at, for a list, before others get the lock.
const chunk = 4096

// Member is what operators see of one.
type Member struct {
	Channel string
	Subject string
	Since   time.Time
	Info    []byte // a JSON object, or empty; shared, not to be changed
}

// Query says which members of a tenant are listed.
type Query struct {
	Tenant  string
	Pattern pattern.Pattern // of their channels
	Subject string          // empty: any
	After   uint64          // the next of the page before; 0: this is the first
	Limit   int             // members of a page; at least 1
}

// Members lists who is present, on all edges that this one knows, those that changed first
// first. Next is where the next page begins; 0: this is the last. A member that changes while
// pages are read may be in two of them, and none that is there all the time is missing.
func (r *Registry) Members(q Query) (list []Member, next uint64) {
	at := q.After
	for more := true; more; {
		list, at, next, more = r.appendMembers(list, q, at)
	}
	return list, next
}

// appendMembers looks at a chunk behind a number. More says that it has to go on behind at.
func (r *Registry) appendMembers(list []Member, q Query, after uint64) (_ []Member, at, next uint64, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenants[q.Tenant]
	if t == nil {
		return list, 0, 0, false
	}
	l := &t.log
	if q.Pattern.Shape() == 0 { // one channel
		c := t.channels[q.Pattern.String()]
		if c == nil {
			return list, 0, 0, false
		}
		l = &c.log
	}
	looked := 0
	at = after
	l.after(after, new(entry), func(e *entry) bool {
		if looked++; looked > chunk {
			more = true
			return false
		}
		if e.here && (q.Subject == "" || e.subject == q.Subject) && q.Pattern.Match(e.channel.name) {
			if len(list) == q.Limit {
				next = at
				return false
			}
			list = append(list, Member{e.channel.name, e.subject, time.UnixMilli(int64(e.since)).UTC(), e.info})
		}
		at = e.number
		return true
	})
	return list, at, next, more
}

// Count returns how many members a tenant has in the channels that a pattern matches, on all
// edges that this one knows, and in how many channels they are. Where there are thousands of
// channels, those that change meanwhile may count twice.
func (r *Registry) Count(tenant string, p pattern.Pattern) (members, channels int) {
	at := uint64(0)
	for more := true; more; {
		var m, c int
		m, c, at, more = r.countChunk(tenant, p, at)
		members, channels = members+m, channels+c
	}
	return members, channels
}

// countChunk counts a chunk of channels behind a number. More says that it has to go on
// behind at.
func (r *Registry) countChunk(tenant string, p pattern.Pattern, after uint64) (members, channels int, at uint64, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenants[tenant]
	if t == nil {
		return 0, 0, 0, false
	}
	add := func(c *channel) {
		if c.here > 0 {
			members, channels = members+c.here, channels+1
		}
	}
	if p.Shape() == 0 {
		if c := t.channels[p.String()]; c != nil {
			add(c)
		}
		return members, channels, 0, false
	}
	looked := 0
	at = after
	t.counts.after(after, new(channel), func(c *channel) bool {
		if looked++; looked > chunk {
			more = true
			return false
		}
		if p.Match(c.name) {
			add(c)
		}
		at = c.counted
		return true
	})
	return members, channels, at, more
}

// Usage is how many members a tenant has in a presence.
type Usage struct {
	Presence string `json:"presence"`
	Tenant   string `json:"tenant"`
	Members  int    `json:"members"`
}

// Usage lists the tenants that have members, by presence.
func (r *Registry) Usage() (list []Usage) {
	var w walk
	for more := true; more; {
		list, more = r.appendUsage(list, &w)
	}
	slices.SortFunc(list, func(a, b Usage) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Presence, b.Presence))
	})
	return slices.CompactFunc(list, func(a, b Usage) bool { return a.Tenant == b.Tenant && a.Presence == b.Presence })
}

// appendUsage looks at some tenants, and reports whether there are more.
func (r *Registry) appendUsage(list []Usage, w *walk) (_ []Usage, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range stepSize {
		t := w.nextTenant(r)
		if t == nil {
			return list, false
		}
		for _, c := range t.crowds {
			list = append(list, Usage{c.presence, t.name, c.members})
		}
	}
	return list, true
}
