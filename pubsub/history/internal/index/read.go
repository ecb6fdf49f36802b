package index

import (
	"sort"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

const (
	// maxScan is how many messages one step looks at, at most: a store is locked meanwhile.
	maxScan = 512
	// maxFloors is how many channels are looked at for what was removed.
	maxFloors = 16384
)

// Knows implements [history.Store] for one history.
func (h *History) Knows(tenant string, p wire.Position) bool {
	t := h.tenants[tenant]
	if p.Epoch != h.epoch {
		return false
	}
	if t == nil {
		return p == h.Head(tenant)
	}
	if p == t.head {
		return true
	}
	if p.N >= t.head.N || p.T > t.head.T {
		return false
	}
	i := t.search(p.N)
	if i < len(t.entries) && t.entries[i].N == p.N {
		return t.entries[i].T == p.T
	}
	return t.agrees(p) && (i == len(t.entries) || p.T <= t.entries[i].T) && (i == t.first || p.T >= t.entries[i-1].T)
}

// search returns the index of the first entry at n or behind it.
func (t *Tenant) search(n uint64) int {
	rest := t.entries[t.first:]
	return t.first + sort.Search(len(rest), func(i int) bool { return rest[i].N >= n })
}

// Size returns how long the payload of a message is; 0: there is none.
func (h *History) Size(tenant string, n uint64) int {
	t := h.tenants[tenant]
	if t == nil {
		return 0
	}
	if i := t.search(n); i < len(t.entries) && t.entries[i].N == n && t.entries[i].channel != nil {
		return t.entries[i].Size
	}
	return 0
}

// Before implements [history.Store] for one history.
func (h *History) Before(tenant, channel string, n int) (after, removed uint64) {
	t := h.tenants[tenant]
	if t == nil {
		head := h.Head(tenant).N
		return head, head
	}
	c := t.channels[channel]
	if c == nil {
		return t.head.N, t.head.N
	}
	e := c.entries[max(0, len(c.entries)-n)]
	lost, _ := t.lostTo()
	return e.N - 1, max(lost.n, c.floor.n)
}

// Page is [history.Page] with entries in place of messages.
type Page struct {
	Entries []*Entry
	Through wire.Position
	Removed wire.Position
	Why     wire.GapReason
	Long    bool // the search was long: there may be more after Through, and room for it

	raises uint64 // of its tenant, then
}

// read returns a page of a tenant's messages, of one step. Query.MaxChannels is for Count. With a counter of a Tenant's raises, a page goes on from one that was read then, and says
// of the channels' own limits only what they have removed since.
func (h *History) read(q *history.Query, since *uint64) Page {
	t := h.tenants[q.Tenant]
	if t == nil {
		head := h.Head(q.Tenant)
		return Page{Through: head, Removed: head}
	}
	removed, why := t.removedTo(q, since)
	p := &page{Page: Page{Through: t.head, Removed: h.position(removed), Why: why, raises: t.raises}, query: q}
	switch {
	case literal(q.Pattern):
		p.readChannel(t.channels[q.Pattern.String()])
	default:
		p.scan(t)
	}
	return p.Page
}

// literal reports whether a pattern is a channel.
func literal(p pattern.Pattern) bool { return p.Shape() == 0 }

// removedTo is [history.Page].Removed, and why; since is that of read.
func (t *Tenant) removedTo(q *history.Query, since *uint64) (removed place, why wire.GapReason) {
	lost, why := t.lostTo()
	if removed = t.rolledTo(q, since, lost); removed.n > lost.n {
		why = wire.GapExpired
	}
	return removed, why
}

// rolledTo is a place or, if that is behind it, the last one that channels' own limits have removed.
func (t *Tenant) rolledTo(q *history.Query, since *uint64, removed place) place {
	if literal(q.Pattern) {
		if c := t.channels[q.Pattern.String()]; c != nil {
			removed.raise(c.floor)
		}
		return removed
	}
	above := max(q.After, removed.n)
	if since != nil && t.raises-*since <= uint64(len(t.raised)) {
		for i := *since; i != t.raises; i++ {
			if c := t.raised[i%uint64(len(t.raised))]; c.floor.n > above && q.Pattern.Match(c.name) {
				removed.raise(c.floor)
			}
		}
		return removed
	}
	lost, _ := t.rolled.last(q.Pattern, above)
	removed.raise(lost)
	return removed
}

// page is a page that is being filled.
type page struct {
	Page
	query *history.Query
	bytes int
}

// pageBytes is what an entry takes of Query.MaxBytes.
func (e *Entry) pageBytes() int { return e.Size + len(e.channel.name) + len(e.Sender()) }

// add adds an entry, and reports false if the page has no room for it.
func (p *page) add(e *Entry) bool {
	p.bytes += e.pageBytes()
	if len(p.Entries) > 0 && (len(p.Entries) >= p.query.MaxMessages || p.bytes > p.query.MaxBytes) {
		last := p.Entries[len(p.Entries)-1]
		p.Through = p.at(last)
		return false
	}
	p.Entries = append(p.Entries, e)
	return true
}

func (p *page) at(e *Entry) wire.Position {
	return wire.Position{Epoch: p.Through.Epoch, N: e.N, T: e.T}
}

// scan looks through all messages of the tenant.
func (p *page) scan(t *Tenant) {
	for i, scanned := t.search(p.query.After+1), 0; i < len(t.entries); i, scanned = i+1, scanned+1 {
		e := t.entries[i]
		switch {
		case scanned == maxScan:
			p.Through, p.Long = p.at(t.entries[i-1]), true
			return
		case e.channel == nil || p.query.Newest && !e.newest() || !p.query.Pattern.Match(e.channel.name):
		case !p.add(e):
			return
		}
	}
}

// readChannel goes through the messages of one channel; nil: there are none.
func (p *page) readChannel(c *Channel) {
	if c == nil {
		return
	}
	i := sort.Search(len(c.entries), func(i int) bool { return c.entries[i].N > p.query.After })
	if p.query.Newest {
		i = max(i, len(c.entries)-1)
	}
	for _, e := range c.entries[i:] {
		if !p.add(e) {
			return
		}
	}
}

// newest reports whether an entry, which is not removed, is the newest of its channel.
func (e *Entry) newest() bool { return e == e.channel.entries[len(e.channel.entries)-1] }

// Count counts the channels that a query with Newest asks for. It looks at a part of them
// at a time, so that the store can let others have the lock in between. A channel that gets a
// message before it was looked at may not be counted: the limit is for the size of an answer.
type Count struct {
	query    *history.Query
	after    uint64 // as far as it is done
	until    uint64 // the head at the start: no channel is counted twice
	channels int
	begun    bool
}

// NewCount begins to count for a query, or returns nil if that has no limit.
func NewCount(q *history.Query) *Count {
	if !q.Newest || q.MaxChannels == 0 || literal(q.Pattern) {
		return nil
	}
	return &Count{query: q, after: q.After}
}

// Step looks at one part. done: it was the last.
func (c *Count) Step(h *History) (done bool, err error) {
	t, q := h.tenants[c.query.Tenant], c.query
	if t == nil || len(t.channels) <= q.MaxChannels {
		return true, nil
	}
	if !c.begun {
		c.until, c.begun = t.head.N, true
	}
	i := t.search(c.after + 1)
	for _, e := range t.entries[i:min(i+maxScan, len(t.entries))] {
		if e.N > c.until {
			return true, nil
		}
		c.after = e.N
		if e.channel == nil || !e.newest() || !q.Pattern.Match(e.channel.name) {
			continue
		}
		if c.channels++; c.channels > q.MaxChannels {
			return true, history.ErrTooManyChannels
		}
	}
	return i+maxScan >= len(t.entries), nil
}
