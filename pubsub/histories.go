package pubsub

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// HistoryReader is [Rights] that can allow a client to read what was published before it
// subscribed. Invalid rights allow nobody to; RSUB … now needs none.
type HistoryReader interface {
	// CanReadHistory reports whether the client may read all that a pattern matches.
	CanReadHistory(tenant string, p pattern.Pattern) bool
}

// histories are the current ones, with the store that keeps them. They do not change.
type histories struct {
	set     *history.Set
	store   history.Store
	storeID uint64 // grows with each other store
	scopes  map[string]history.Scope

	// of a store that other edges share
	shared     history.Shared // nil: the store is this hub's alone
	follower   *follower
	configured *history.Set // by this edge
	defined    bool         // set is what the store says
}

// SetHistories puts histories into effect, in place of those before, and defines them in the
// store; nil and nil: there are none. The hub calls the store until SetHistories is
// called with another one, or the hub is closed; the caller closes it after that, and a
// call that is under way then fails.
//
// Subscriptions with positions that no history contains any more, and those in another
// store, end with ERR:no_history.
//
// A [history.Shared] store has definitions of its own: set is in effect until the store has
// told them, and what is no longer in set, or is retired there, is retired.
func (h *Hub) SetHistories(set *history.Set, store history.Store) error {
	next := &histories{set: set, store: store, configured: set}
	next.shared, _ = store.(history.Shared)
	var definitions []history.Definition
	if next.shared != nil { // first: their channels may go to others
		definitions = append(definitions, set.Retired()...)
	}
	for _, each := range set.All() {
		definitions = append(definitions, each.Definition)
	}
	for _, d := range definitions {
		if err := store.Define(d); err != nil {
			return fmt.Errorf("history %s: %w", d.Name, err)
		}
	}
	old, err := h.replaceHistories(next)
	if err != nil {
		return err
	}
	if old != nil && old.follower != next.follower {
		old.follower.stop()
	}
	if next.shared == nil {
		return nil
	}
	if old == nil || old.follower != next.follower {
		next.shared.Join(next.follower)
		return nil
	}
	for _, name := range old.configured.Names() {
		if !slices.Contains(next.configured.Names(), name) {
			if err := next.shared.Retire(name); err != nil {
				return fmt.Errorf("history %s: %w", name, err)
			}
		}
	}
	return nil
}

// stopFollowing returns when a shared store starts nothing any more.
func (h *Hub) stopFollowing() {
	if hs := h.histories.Load(); hs != nil && hs.follower != nil {
		hs.follower.stop()
		h.sequencers.setting.Lock() // Defined may be under way
		defer h.sequencers.setting.Unlock()
	}
}

// replaceHistories puts histories in the place of those before, and returns these.
func (h *Hub) replaceHistories(next *histories) (old *histories, err error) {
	h.sequencers.setting.Lock()
	defer h.sequencers.setting.Unlock()
	if old = h.histories.Load(); old != nil {
		next.storeID = old.storeID
		if old.store != next.store {
			next.storeID++
		}
	}
	switch {
	case next.shared == nil:
		if err := next.setScopes(old); err != nil {
			return nil, err
		}
		if len(next.set.All()) == 0 {
			if old == nil {
				return nil, nil
			}
			next.set, next.store = nil, nil
		}
	case old != nil && old.store == next.store:
		next.follower = old.follower
		if old.defined {
			next.set, next.scopes, next.defined = old.set, old.scopes, true
		}
	default:
		next.follower = &follower{hub: h, storeID: next.storeID}
	}
	h.putInForce(next)
	return old, nil
}

// putInForce makes histories the current ones. The caller holds sequencers.setting.
func (h *Hub) putInForce(next *histories) {
	old := h.histories.Swap(next)
	for _, q := range h.sequencers.list() {
		q.applyDefinition(next)
	}
	if next.shared != nil || old != nil && old.shared != nil {
		h.Go(h.refollow) // not here: the store may be the caller, and is not to be called then
	}
}

// setScopes finds out since when each history keeps what it does. What was published while
// it was in no configuration, or kept other channels, was not kept.
func (hs *histories) setScopes(old *histories) error {
	store, before := hs.store, map[string]history.Scope(nil)
	if old != nil && old.store != nil && (store == nil || old.store == store) {
		store, before = old.store, old.scopes
	}
	keeper, keeps := store.(history.ScopeKeeper)
	if keeps {
		var err error
		if before, err = keeper.Scopes(); err != nil {
			return err
		}
	}
	hs.scopes = hs.set.NextScopes(before, time.Now())
	if keeps && !maps.Equal(before, hs.scopes) {
		return keeper.SetScopes(hs.scopes)
	}
	return nil
}

// currentHistories returns the current histories, or nil.
func (h *Hub) currentHistories() *histories {
	if hs := h.histories.Load(); hs != nil && hs.set != nil {
		return hs
	}
	return nil
}

// keptTenant is the histories of the tenant that a session published to last.
type keptTenant struct {
	histories *histories
	tenant    string
	division  uint64
	owner     string // see history.Message
	list      []*history.History
}

// keeping returns the history that keeps a channel, or nil. The reader calls it.
func (s *Session) keeping(hs *histories, tenant, channel []byte) *history.History {
	k, division := &s.keptTenant, s.hub.division()
	if k.histories != hs || k.tenant != string(tenant) || k.division != division {
		name := string(tenant)
		*k = keptTenant{hs, name, division, s.hub.sharedOwnerOf(name, s.token.issuerName), hs.set.OfTenant(name)}
	}
	for _, h := range k.list {
		if h.Keeps(channel) {
			return h
		}
	}
	return nil
}

// mayReadHistory reports whether the token allows to read the past of a pattern.
func (s *Session) mayReadHistory(tenant string, p pattern.Pattern) bool {
	return s.allows(func(r Rights) bool {
		reader, ok := r.(HistoryReader)
		return ok && reader.CanReadHistory(tenant, p)
	})
}

// sequencers are those in use.
type sequencers struct {
	setting sync.Mutex // held while histories are put into effect

	mu        sync.Mutex // guards the rest
	byID      map[sequencerID]*sequencer
	stopWatch chan struct{} // ends tellPositions; nil: it does not run
}

type sequencerID struct {
	storeID         uint64
	history, tenant string
}

// acquire returns the sequencer of a tenant in a history, and counts one more user of it,
// who calls release.
func (h *Hub) acquireSequencer(hs *histories, of *history.History, tenant string) (*sequencer, error) {
	id := sequencerID{hs.storeID, of.Name, tenant}
	g := &h.sequencers
	g.mu.Lock()
	q := g.byID[id]
	if q == nil {
		q = g.make(h, hs, of, id)
	}
	q.users++
	g.mu.Unlock()
	if err := q.begin(); err != nil { // with no lock held: the store may hold one of its own while it calls back
		q.release()
		return nil, err
	}
	return q, nil
}

// make makes a sequencer. The caller holds g.mu.
func (g *sequencers) make(h *Hub, hs *histories, of *history.History, id sequencerID) *sequencer {
	q := &sequencer{hub: h, id: id, store: hs.store, shared: hs.shared}
	q.definition.Store(of)
	if g.byID == nil {
		g.byID = map[sequencerID]*sequencer{}
	}
	g.byID[id] = q
	return q
}

// release counts one user less, and forgets a sequencer without users: it has handed on
// all that there is.
func (q *sequencer) release() {
	g := &q.hub.sequencers
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(g.byID, q.id)
		g.unwatchIfIdle()
	}
}

func (g *sequencers) list() (all []*sequencer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.byID {
		all = append(all, q)
	}
	return all
}

// applyDefinition puts a new definition into effect, and ends the subscriptions that it does
// not contain.
func (q *sequencer) applyDefinition(hs *histories) {
	var of *history.History
	if hs.set != nil && hs.storeID == q.id.storeID {
		of = hs.set.Find(q.id.history)
	}
	if of != nil {
		q.definition.Store(of)
	}
	for _, m := range q.members() {
		if of == nil || !of.HasTenant(q.id.tenant) || !of.Contains(m.sub.resumable.pattern) {
			m.session.endResumable(m.sub)
		}
	}
}

// endResumable ends a subscription with positions whose history is gone.
func (s *Session) endResumable(sub *subscription) {
	key := sub.resumable.key
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	if s.subscriptions[key] != sub {
		return
	}
	s.removeResumable(key, sub)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscriptions, key)
	s.pushErrInOrder(wire.CodeNoHistory, key)
}
