package nats

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// maxChannels bounds the channels that are remembered, and those that others ask
// about: a client may publish to ever new ones. Tenants share them; see fits.
const maxChannels = 10_000

// responders are the edges that have a subscriber for a channel and said so when
// they were asked, by tenant and channel; see queries.go. A tenant's lock is held
// while one of its messages is sent, or handed to the hub, so that their order is kept, but
// not while those go that have waited for answers; no other tenant waits for it.
type responders struct {
	mu           sync.Mutex
	tenants      map[string]*tenantResponders
	waitingBytes int            // of all tenants
	waitingOf    map[string]int // of these, by the issuer of who published, if there is one

	// of all tenants
	channels        atomic.Int64
	pendingChannels atomic.Int64 // channels in tenantResponders.pending
}

// tenantResponders are those of one tenant.
type tenantResponders struct {
	name         string
	owner        string     // whose the tenant was when another edge asked last
	mu           sync.Mutex // guards the rest
	removed      bool       // from responders.tenants
	channels     map[string]*channelResponders
	pending      map[string]pendingQueries // by channel: queries that this edge answered with no
	waitingBytes int                       // in all channels
}

// channelResponders are those of one channel.
type channelResponders struct {
	complete   bool                // all edges have answered once, or their time is over
	edges      []edgeID            // that have answered yes
	unanswered map[edgeID]struct{} // edges that have not answered the last query
	queriedAt  time.Time
	stale      bool // there is an edge that was not asked
	usedAt     time.Time
	waiting    []waitingMessage // until complete, in order
	flushed    chan struct{}    // not nil: flushWaiting sends these, and closes it then
}

func (r *responders) init() {
	r.tenants, r.waitingOf = map[string]*tenantResponders{}, map[string]int{}
}

// addWaiting counts a message that is to wait for answers, if there is room for one more of its tenant, and
// of the issuer of who published it, who can have any number of tenants: see fits. The caller holds t.mu.
func (r *responders) addWaiting(t *tenantResponders, issuer string, size, limit int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fits(size, t.waitingBytes, r.waitingBytes, limit) || issuer != "" && !fits(size, r.waitingOf[issuer], r.waitingBytes, limit) {
		return false
	}
	r.countWaiting(t, issuer, size)
	return true
}

// removeWaiting counts it no more. The caller holds t.mu.
func (r *responders) removeWaiting(t *tenantResponders, issuer string, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countWaiting(t, issuer, -size)
}

// countWaiting is for those two. The caller holds r.mu.
func (r *responders) countWaiting(t *tenantResponders, issuer string, n int) {
	t.waitingBytes += n
	r.waitingBytes += n
	if issuer == "" {
		return
	}
	if r.waitingOf[issuer] += n; r.waitingOf[issuer] == 0 {
		delete(r.waitingOf, issuer)
	}
}

// lock returns what is known of a tenant, locked. Where nothing is known, it
// returns nil, unless create is set.
func (r *responders) lock(name []byte, create bool) *tenantResponders {
	for {
		r.mu.Lock()
		t := r.tenants[string(name)]
		if t == nil {
			if !create {
				r.mu.Unlock()
				return nil
			}
			t = &tenantResponders{
				name: string(name), channels: map[string]*channelResponders{}, pending: map[string]pendingQueries{},
			}
			r.tenants[t.name] = t
		}
		r.mu.Unlock()
		t.mu.Lock()
		if !t.removed {
			return t
		}
		t.mu.Unlock()
	}
}

// lockChannel is lock for who publishes a message, and returns what is known of its channel, or nil, when all has
// been sent that waited for answers about it: what came before goes before.
func (r *responders) lockChannel(m *pubsub.Message) (*tenantResponders, *channelResponders) {
	for {
		t := r.lock(m.Tenant, true)
		c := t.channels[string(m.Channel)]
		if c == nil || c.flushed == nil {
			return t, c
		}
		flushed := c.flushed
		r.unlock(t)
		<-flushed
	}
}

// unlock unlocks a tenant, and forgets one without content.
func (r *responders) unlock(t *tenantResponders) {
	if len(t.channels)+len(t.pending) == 0 && !t.removed {
		t.removed = true
		r.mu.Lock()
		delete(r.tenants, t.name)
		r.mu.Unlock()
	}
	t.mu.Unlock()
}

// list returns all tenants.
func (r *responders) list() []*tenantResponders {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.tenants))
}

// retain drops all edges but those that are known.
func (r *responders) retain(known []edgeID) {
	for _, t := range r.list() {
		t.mu.Lock()
		for _, c := range t.channels {
			c.edges = slices.DeleteFunc(c.edges, func(id edgeID) bool { return !slices.Contains(known, id) })
		}
		t.mu.Unlock()
	}
}

// requeryAll has the next message to each channel ask about it again: there is
// another edge.
func (r *responders) requeryAll() {
	for _, t := range r.list() {
		t.mu.Lock()
		for _, c := range t.channels {
			c.stale = true // answers to the last query still count
		}
		t.mu.Unlock()
	}
}
