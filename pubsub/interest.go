package pubsub

import (
	"sync"

	"github.com/millrace/millrace/pubsub/pattern"
)

// tenant holds the subscriptions of one tenant on this edge. Publishers hold mu
// for reading until the last queue has its frame: so once join or leave return,
// everything published before has been queued, and an OK line queued after them
// stands at the right place.
type tenant struct {
	mu   sync.RWMutex
	tree pattern.Tree[*interest]
	dead bool // emptied and taken out of the hub
}

// interest is one distinct pattern of a tenant with its local subscribers.
type interest struct {
	pattern     pattern.Pattern
	subscribers []*subscription
}

// subscription is one session's place in an interest.
type subscription struct {
	session  *Session
	interest *interest
	index    int   // in interest.subscribers
	lane     *lane // of its own; nil: the session's default one
}

// join adds a subscriber. The error is the broker's: the subscription works
// for what this edge accepts all the same.
func (h *Hub) join(name string, p pattern.Pattern, s *Session, l *lane) (*subscription, error) {
	t := h.lockTenant(name)
	defer t.mu.Unlock()
	in, known := t.tree.Get(p)
	if !known {
		in = &interest{pattern: p}
		t.tree.Insert(p, in)
	}
	sub := &subscription{session: s, interest: in, index: len(in.subscribers), lane: l}
	in.subscribers = append(in.subscribers, sub)
	if known {
		return sub, nil
	}
	return sub, h.broker.Subscribe(name, p.String())
}

// leave removes a subscriber.
func (h *Hub) leave(name string, sub *subscription) {
	t := h.lockTenant(name)
	defer t.mu.Unlock()
	in := sub.interest
	last := len(in.subscribers) - 1
	moved := in.subscribers[last]
	in.subscribers[sub.index], moved.index = moved, sub.index
	in.subscribers[last] = nil
	in.subscribers = in.subscribers[:last]
	if last > 0 {
		return
	}
	t.tree.Delete(in.pattern)
	h.broker.Unsubscribe(name, in.pattern.String())
	if t.tree.Len() == 0 {
		h.tenantsMu.Lock()
		defer h.tenantsMu.Unlock()
		t.dead = true
		delete(h.tenants, name)
	}
}

// lockTenant returns the tenant, made if there is none, locked for writing.
func (h *Hub) lockTenant(name string) *tenant {
	for {
		h.tenantsMu.Lock()
		t := h.tenants[name]
		if t == nil {
			t = new(tenant)
			h.tenants[name] = t
		}
		h.tenantsMu.Unlock()
		t.mu.Lock()
		if !t.dead {
			return t
		}
		t.mu.Unlock()
	}
}

// readTenant returns the tenant locked for reading, or nil if nobody
// subscribes there.
func (h *Hub) readTenant(name []byte) *tenant {
	h.tenantsMu.RLock()
	t := h.tenants[string(name)]
	h.tenantsMu.RUnlock()
	if t != nil {
		t.mu.RLock()
	}
	return t
}
