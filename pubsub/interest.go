package pubsub

import (
	"sync"
	"sync/atomic"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// tenant holds the subscriptions of one tenant on this edge. Publishers read it
// without a lock. Each change of a session's subscriptions ends by increasing
// Hub.subsVersion, under the session's mutex, together with the OK line
// (Session.bumpSubsVersion). A publisher notes the version before it looks for
// subscribers. So when it comes to a session that has changed since, it knows, and
// the session's own list decides (Session.rematch).
type tenant struct {
	name    string
	tree    pattern.Tree[*interest]
	removed atomic.Bool // emptied and taken out of the hub
	account atomic.Pointer[cpuAccount]
	owner   owner
	mu      sync.Mutex // held while something changes

	shapes treeShapes // of its patterns; guarded by mu
}

// interest is one distinct pattern of a tenant with its local subscribers.
type interest struct {
	pattern     pattern.Pattern
	patterns    [1]string // its text
	shape       pattern.Shape
	token       *tokenState // that had it first
	subscribers atomic.Pointer[members]
	follows     follows // guarded by tenant.mu
	confirmation
}

// confirmation says whether an interest is confirmed: by the broker, and by the store of each
// shared history that it may get messages of. Each of them does so once.
type confirmation struct {
	mu        sync.Mutex
	missing   int // how many have yet to confirm; set before any of them is asked
	confirmed bool
	waiting   []func()
}

// confirm is called by the broker and the store.
func (c *confirmation) confirm() {
	c.mu.Lock()
	if c.missing--; c.missing > 0 {
		c.mu.Unlock()
		return
	}
	waiting := c.waiting
	c.confirmed, c.waiting = true, nil
	c.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// whenConfirmed calls f, at once if all have confirmed.
func (c *confirmation) whenConfirmed(f func()) {
	c.mu.Lock()
	if !c.confirmed {
		c.waiting = append(c.waiting, f)
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	f()
}

// subscription is one session's place in an interest.
type subscription struct {
	interest   *interest  // nil: it is a resumable
	resumable  *resumable // of an RSUB; nil: of a SUB
	index      int        // in interest.subscribers, or those of the resumable's feed
	lane       *lane      // of its own; nil: the session's main lane
	pendingOKs int        // OK:SUB lines, until the interest is confirmed; guarded by the session's mutex, as the next two
	metered    bool       // it takes no message to one connection without credit
	credit     int32      // how many it takes
}

// isResumable reports whether a subscription is of an RSUB; nil is not.
func (s *subscription) isResumable() bool { return s != nil && s.resumable != nil }

// addSubscription adds a subscriber, with a stream of its own or without, or returns the
// code of a refusal. The subscription receives what this edge accepts at once, and what
// other edges accept, or store in a shared history, once its interest is confirmed.
func (h *Hub) addSubscription(name string, p pattern.Pattern, s *Session, own bool) (*subscription, wire.Code) {
	t := h.lockTenant(name)
	defer t.mu.Unlock()
	defer h.removeIfEmpty(t)
	t.owner.use(h, name, s.token.issuerName)
	in, known := t.tree.Get(p)
	if !known {
		in = &interest{pattern: p, patterns: [1]string{p.String()}, shape: p.Shape()}
		in.subscribers.Store(new(members))
		if !h.hasPatternRoom(t.tree.Len(), &t.shapes, in.shape, s.token, &t.owner) {
			return nil, wire.CodeTooManyPatterns
		}
	}
	var l *lane
	if own {
		if l = s.openLane(wire.AppendOK(nil, wire.VerbSub, name, p.String())); l == nil {
			return nil, wire.CodeTooManySubscriptions
		}
	}
	all := in.subscribers.Load()
	sub := &subscription{interest: in, index: all.len(), lane: l}
	in.subscribers.Store(all.with(member{s, l, sub}))
	if !known {
		t.tree.Insert(p, in)
		in.token = s.token
		h.countPattern(&t.shapes, in.shape, s.token)
		in.follows = h.currentHistories().followsOf(name, p)
		in.missing = 1 + len(in.follows.names)
		in.follows.begin(in.confirm)
		h.broker.Subscribe(name, p.String(), in.confirm)
	}
	return sub, ""
}

// removeSubscription removes a subscriber.
func (h *Hub) removeSubscription(name string, sub *subscription) {
	t := h.lockTenant(name)
	defer t.mu.Unlock()
	in := sub.interest
	left, moved := in.subscribers.Load().without(sub.index)
	moved.index = sub.index
	in.subscribers.Store(left)
	if left.len() > 0 {
		return
	}
	t.tree.Delete(in.pattern)
	h.uncountPattern(&t.shapes, in.shape, in.token)
	in.follows.end()
	h.broker.Unsubscribe(name, in.pattern.String())
	h.removeIfEmpty(t)
}

// removeIfEmpty takes a tenant without subscriptions out of the hub. The caller holds
// t.mu.
func (h *Hub) removeIfEmpty(t *tenant) {
	if t.tree.Len() == 0 {
		h.tenantsMu.Lock()
		defer h.tenantsMu.Unlock()
		t.removed.Store(true)
		delete(h.tenants, t.name)
	}
}

// lockTenant returns the tenant, locked for changes, and makes it if there is none.
func (h *Hub) lockTenant(name string) *tenant {
	for {
		h.tenantsMu.Lock()
		t := h.tenants[name]
		if t == nil {
			t = &tenant{name: name}
			h.tenants[name] = t
		}
		h.tenantsMu.Unlock()
		t.mu.Lock()
		if !t.removed.Load() {
			return t
		}
		t.mu.Unlock()
	}
}

// tenant returns the tenant of a name, or nil if it has no subscriptions.
func (h *Hub) tenant(name []byte) *tenant {
	h.tenantsMu.RLock()
	defer h.tenantsMu.RUnlock()
	return h.tenants[string(name)]
}

// is reports whether t is the tenant of this name.
func (t *tenant) is(name []byte) bool {
	return t != nil && t.name == string(name) && !t.removed.Load()
}
