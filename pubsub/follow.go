package pubsub

import (
	"slices"
	"sync"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// maxHandingBytes bounds what waits to be handed on of one tenant in a shared history. What
// comes beyond is not delivered: subscriptions with positions fall behind and read it
// from the history, and plain ones miss it.
const maxHandingBytes = 4 << 20

// follower is what a shared store hands on to, as long as the hub uses it.
type follower struct {
	hub     *Hub
	storeID uint64

	mu      sync.RWMutex // held while a call is under way
	stopped bool
}

// stop waits for the calls under way, and lets no other one begin.
func (f *follower) stop() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
}

func (f *follower) isStopped() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.stopped
}

// Received implements [history.Follower].
func (f *follower) Received(name, tenant string, m history.Kept) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.stopped {
		return
	}
	if q := f.hub.receivingSequencer(sequencerID{f.storeID, name, tenant}); q != nil {
		e := &handing{tenant: tenant, channel: []byte(m.Channel), payload: m.Payload, sender: m.Sender, at: f.hub.now(), position: m.Position}
		if m.Mark != 0 {
			e.own = f.hub.ownMarks.find(m.Mark, channelHash([]byte(tenant), e.channel))
		}
		q.push(e)
	}
}

// Skipped implements [history.Follower].
func (f *follower) Skipped(name string, to wire.Position) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.stopped {
		return
	}
	for _, q := range f.hub.sequencers.acquireAll(f.storeID, name) {
		q.push(&handing{position: to, skipped: true})
	}
}

// Reach implements [history.Follower].
func (f *follower) Reach(name string, is bool) {
	if f.isStopped() { // not to be held: who waits for a session here must not hold up Received
		return
	}
	for _, q := range f.hub.sequencers.acquireAll(f.storeID, name) {
		for _, m := range q.members() {
			m.session.tellReach(m.sub.resumable, is)
		}
		q.release()
	}
}

// tellReach tells the client that the history of a live subscription is out of reach, once until it is back.
// One that reads from the history finds out by itself (replayFailed).
func (s *Session) tellReach(r *resumable, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case is:
		r.outSaid = false
	case r.live && !r.ended && !r.outSaid && s.closing == nil:
		r.outSaid = true
		s.pushErrInOrder(wire.CodeHistoryUnavailable, r.key)
	}
}

// Defined implements [history.Follower].
func (f *follower) Defined(set *history.Set, since map[string]uint64) {
	h := f.hub
	h.sequencers.setting.Lock()
	defer h.sequencers.setting.Unlock()
	now := h.histories.Load()
	if now.follower != f || f.isStopped() { // not to be held: who waits for a session here must not hold up Received
		return
	}
	next := *now
	next.set, next.defined = set, true
	next.scopes = map[string]history.Scope{}
	for name, ms := range since {
		next.scopes[name] = history.Scope{Since: ms}
	}
	h.putInForce(&next)
}

// receivingSequencer returns the sequencer of a message that was received, and counts one
// more user of it; nil: the edge has nobody who may get the message.
func (h *Hub) receivingSequencer(id sequencerID) *sequencer {
	g := &h.sequencers
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.byID[id]
	if q == nil {
		if h.tenant([]byte(id.tenant)) == nil {
			return nil
		}
		hs := h.currentHistories()
		if hs == nil {
			return nil
		}
		of := hs.set.Find(id.history)
		if of == nil {
			return nil
		}
		q = g.make(h, hs, of, id)
	}
	q.users++
	return q
}

// acquireAll returns the sequencers of a history, and counts one more user of each.
func (g *sequencers) acquireAll(storeID uint64, name string) (list []*sequencer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, q := range g.byID {
		if id.storeID == storeID && id.history == name {
			q.users++
			list = append(list, q)
		}
	}
	return list
}

// follows are the histories that are followed for a subscription.
type follows struct {
	store history.Shared // nil: none
	names []string
}

// followsOf returns what has to be followed for a pattern of a tenant.
func (hs *histories) followsOf(tenant string, p pattern.Pattern) (f follows) {
	if hs == nil || hs.shared == nil {
		return f
	}
	for _, h := range hs.set.OfTenant(tenant) {
		if h.Intersects(p) {
			f.store, f.names = hs.shared, append(f.names, h.Name)
		}
	}
	return f
}

// begin follows, and calls ready once for each history.
func (f follows) begin(ready func()) {
	for _, name := range f.names {
		f.store.Follow(name, ready)
	}
}

// end takes it back.
func (f follows) end() {
	for _, name := range f.names {
		f.store.Unfollow(name)
	}
}

func (f follows) equal(o follows) bool { return f.store == o.store && slices.Equal(f.names, o.names) }

// refollow follows for all plain subscriptions what the current histories ask for.
func (h *Hub) refollow() {
	h.tenantsMu.RLock()
	all := make([]*tenant, 0, len(h.tenants))
	for _, t := range h.tenants {
		all = append(all, t)
	}
	h.tenantsMu.RUnlock()
	for _, t := range all {
		t.mu.Lock()
		hs := h.currentHistories()
		for in := range t.tree.All() {
			next := hs.followsOf(t.name, in.pattern)
			if old := in.follows; !next.equal(old) {
				next.begin(func() {})
				in.follows = next
				old.end()
			}
		}
		t.mu.Unlock()
	}
}
