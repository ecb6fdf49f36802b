package client

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// topic is a subscription on the wire, and those of the application that share
// it. Its list is guarded by the router, the rest is the loop's.
type topic struct {
	key
	subs    []*Subscription
	onFirst bool            // in a move: the first connection has it, too; after it: had it
	onTrail bool            // the connection that trails has it
	waiting []chan<- *Error // Subscribe calls, until it is acknowledged
	acked   bool            // once
}

// router gives messages to subscriptions. Readers of connections call deliver;
// the loop calls the rest. Its lock also makes the moments of a move exact.
type router struct {
	full func(*Subscription) // is told of dropped messages; must not wait
	over func(*Subscription) // is told that one has ended as its queue was full; must not wait

	mu     sync.Mutex
	topics map[key]*topic
	last   *topic                 // found last
	first  *conn                  // whose messages are for the application
	second *conn                  // in a move; nil: not yet
	move   *mover[*piledDelivery] // nil: no move
	late   *notes                 // after a move: what the first connection delivered
	until  time.Time              // of late
	trail  *trailing              // nil: no connection trails
}

func newRouter() *router { return &router{topics: map[key]*topic{}} }

// deliver gives a message to the subscriptions. It is called by the reading
// goroutine of c, and nothing of d is kept.
func (r *router) deliver(c *conn, d *delivery) {
	r.mu.Lock()
	var crowd bool
	if c == r.first && r.move == nil && r.late == nil && r.trail == nil {
		crowd = r.dispatch(d, d.patterns, nil)
	} else {
		crowd = r.sift(c, d)
	}
	r.mu.Unlock()
	if crowd {
		runtime.Gosched() // who reads the queue may need this processor
	}
}

// sift decides about a message while the client moves, suspects its connection or has
// one that trails, and for a while after.
func (r *router) sift(c *conn, d *delivery) (crowd bool) {
	now := time.Now()
	switch {
	case c == r.first:
		of := digestOf(d.tenant, d.channel, d.payload)
		copied := r.late != nil && now.Before(r.until) && r.late.use(now, of)
		if r.late != nil && !now.Before(r.until) {
			r.late = nil
		}
		if r.trail != nil && !copied {
			copied = !r.trail.mover.first(now, of)
		}
		onFirst, others := r.split(d)
		switch {
		case r.move != nil: // what it delivers for a topic that it should not have is older than that
			return r.move.first(now, of) && !copied && r.dispatch(d, onFirst, nil)
		case copied: // the connection before may not have had all of the patterns
			return r.dispatch(d, others, nil)
		}
		return r.dispatch(d, d.patterns, nil)
	case c == r.second:
		onFirst, others := r.split(d)
		crowd = r.dispatch(d, others, nil)
		of := digestOf(d.tenant, d.channel, d.payload)
		if len(onFirst) == 0 || r.move.known(now, of) {
			return crowd
		}
		kept := newPiled(d, onFirst, of)
		return r.giveHeld(now, r.move.second(now, of, kept.size(), kept)) || crowd
	case r.trail != nil && c == r.trail.conn:
		return r.siftTrail(now, d)
	}
	return false // of a connection that was left
}

func (r *router) give(p *piledDelivery) (crowd bool) { return r.dispatch(&p.delivery, p.to, p.payload) }

// split parts the patterns of a message into those that the first connection of
// the move has, too, and the others.
func (r *router) split(d *delivery) (onFirst, others []string) {
	for i, p := range d.patterns {
		if t := r.topics[key{d.tenant, p}]; t != nil && !t.onFirst {
			if others == nil {
				onFirst = slices.Clone(d.patterns[:i])
			}
			others = append(others, p)
		} else if others != nil {
			onFirst = append(onFirst, p)
		}
	}
	if others == nil {
		return d.patterns, nil
	}
	return onFirst, others
}

// dispatch gives a message to the queues of these patterns. payload is a copy, or
// nil.
func (r *router) dispatch(d *delivery, patterns []string, payload []byte) (crowd bool) {
	for _, p := range patterns {
		t := r.last
		if t == nil || t.tenant != d.tenant || t.pattern != p {
			if t = r.topics[key{d.tenant, p}]; t == nil {
				continue // the application has left it
			}
			r.last = t
		}
		for _, s := range t.subs {
			if payload == nil {
				payload = append(make([]byte, 0, len(d.payload)), d.payload...)
			}
			m := Message{Tenant: d.tenant, Channel: d.channel, Pattern: p, Patterns: d.patterns, Payload: payload, Late: d.late}
			switch s.queue.push(m) {
			case queued:
			case crowded:
				crowd = true
			case dropped:
				crowd = true
				s.dropped.Add(1)
				if s.flagged.CompareAndSwap(false, true) {
					r.full(s)
				}
			case full:
				err := &Error{Code: CodeQueueFull, Text: "the application does not read in time", Tenant: d.tenant, Pattern: p}
				s.end(err, false)
				r.over(s)
			}
		}
	}
	return crowd
}

// add puts a subscription in, and reports whether its topic is new.
func (r *router) add(s *Subscription, onFirst bool) (t *topic, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t = r.topics[s.key]
	if t == nil {
		t, isNew = &topic{key: s.key, onFirst: onFirst}, true
		r.topics[s.key] = t
	}
	t.subs = append(t.subs[:len(t.subs):len(t.subs)], s)
	return t, isNew
}

// remove takes a subscription out, and its topic if it was the last one.
func (r *router) remove(s *Subscription) (t *topic, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t = r.topics[s.key]
	if t == nil {
		return nil, false
	}
	var rest []*Subscription
	for _, other := range t.subs {
		if other != s {
			rest = append(rest, other)
		}
	}
	if len(rest) == len(t.subs) {
		return nil, false
	}
	if t.subs = rest; len(rest) > 0 {
		return t, false
	}
	r.drop(t)
	return t, true
}

// clear takes a topic out, and returns its subscriptions.
func (r *router) clear(t *topic) []*Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(t)
	subs := t.subs
	t.subs = nil
	return subs
}

func (r *router) drop(t *topic) {
	if r.topics[t.key] == t {
		delete(r.topics, t.key)
	}
	if r.last == t {
		r.last = nil
	}
}

// has reports whether the application still subscribes to a topic.
func (r *router) has(t *topic) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.topics[t.key] == t
}

// all returns the topics.
func (r *router) all() []*topic {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*topic, 0, len(r.topics))
	for _, t := range r.topics {
		list = append(list, t)
	}
	return list
}
