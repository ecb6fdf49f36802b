package client

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// interest is a subscription on the wire, and those of the application that share
// it. Its list is guarded by the router, the rest is the loop's.
type interest struct {
	key
	subs      []*Subscription
	onCurrent bool            // in a move: the current connection has it, too; after it: had it
	onTrail   bool            // the trailing connection has it
	waiting   []chan<- *Error // Subscribe calls, until it is acknowledged
	acked     bool            // once
	draining  bool            // it is about to end; guarded by the router
	history   *history        // nil: of a subscription without one
}

// router gives messages to subscriptions. Readers of connections call deliver;
// the loop calls the rest. Its lock also makes the moments of a move exact.
type router struct {
	over func(*Subscription) // is told that one has ended as its queue was full; must not wait
	// paused is told that the queue of one with a history is full; must not wait.
	paused func(*Subscription)

	mu        sync.Mutex
	interests map[key]*interest
	leaving   map[key]*Subscription // that the application has left, and the edge has not heard of it
	own       own
	last      *interest               // found last
	current   *conn                   // whose messages are for the application
	next      *conn                   // in a move; nil: not yet
	merger    *merger[*piledDelivery] // nil: no move
	late      *notes                  // after a move: what the current connection delivered
	until     time.Time               // of late
	trail     *trailing               // nil: no connection trails
	untold    []Gap                   // are told by the loop, at their place among the events
}

func newRouter() *router {
	return &router{interests: map[key]*interest{}, leaving: map[key]*Subscription{}}
}

// deliver gives a message to the subscriptions. It is called by the reading
// goroutine of c, and nothing of d is kept. It returns an interest with a history if
// this is the first message for it on this connection.
func (r *router) deliver(c *conn, d *delivery) (begun *interest) {
	if d.stored {
		begun, crowd := r.deliverStored(c, d)
		if crowd {
			runtime.Gosched()
		}
		return begun
	}
	var crowd bool
	if d.toOne {
		if r.deliverToOne(c, d) {
			runtime.Gosched()
		}
		return nil
	}
	r.mu.Lock()
	if c == r.current && r.merger == nil && r.late == nil && r.trail == nil {
		crowd = r.dispatch(d, d.patterns, nil)
	} else {
		crowd = r.mergeMessage(c, d)
	}
	r.mu.Unlock()
	if crowd {
		runtime.Gosched() // the reader of the queue may need this processor
	}
	return nil
}

// mergeMessage decides about a message while the client moves, suspects its connection or has
// a trailing one, and for a while after.
func (r *router) mergeMessage(c *conn, d *delivery) (crowd bool) {
	now := time.Now()
	switch {
	case c == r.current:
		of := digestOf(d.tenant, d.channel, d.payload)
		copied := r.late != nil && now.Before(r.until) && r.late.use(now, of)
		if r.late != nil && !now.Before(r.until) {
			r.late = nil
		}
		if r.trail != nil && !copied {
			copied = !r.trail.merger.fromCurrent(now, of)
		}
		onCurrent, others := r.split(d)
		switch {
		case r.merger != nil: // what it delivers for an interest that it should not have is older than that
			return r.merger.fromCurrent(now, of) && !copied && r.dispatch(d, onCurrent, nil)
		case copied: // the connection before may not have had all of the patterns
			return r.dispatch(d, others, nil)
		}
		return r.dispatch(d, d.patterns, nil)
	case c == r.next:
		onCurrent, others := r.split(d)
		crowd = r.dispatch(d, others, nil)
		of := digestOf(d.tenant, d.channel, d.payload)
		if len(onCurrent) == 0 || r.merger.known(now, of) {
			return crowd
		}
		kept := newPiled(d, onCurrent, of)
		return r.giveHeld(now, r.merger.fromNext(now, of, kept.size(), kept)) || crowd
	case r.trail != nil && c == r.trail.conn:
		return r.mergeTrail(now, d)
	}
	return false // of a connection that was left
}

func (r *router) give(p *piledDelivery) (crowd bool) { return r.dispatch(&p.delivery, p.to, p.payload) }

// split parts the patterns of a message into those that the current connection of
// the move has, too, and the others.
func (r *router) split(d *delivery) (onCurrent, others []string) {
	for i, p := range d.patterns {
		if in := r.interests[key{d.tenant, p}]; in != nil && !in.onCurrent {
			if others == nil {
				onCurrent = slices.Clone(d.patterns[:i])
			}
			others = append(others, p)
		} else if others != nil {
			onCurrent = append(onCurrent, p)
		}
	}
	if others == nil {
		return d.patterns, nil
	}
	return onCurrent, others
}

// dispatch gives a message to the queues of these patterns. payload is a copy, or
// nil.
func (r *router) dispatch(d *delivery, patterns []string, payload []byte) (crowd bool) {
	for _, p := range patterns {
		in := r.last
		if in == nil || in.tenant != d.tenant || in.pattern != p {
			if in = r.interests[key{d.tenant, p}]; in == nil {
				if s := r.leaving[key{d.tenant, p}]; d.toOne && s != nil {
					s.tellDiscarded(1)
				}
				continue // the application has left it
			}
			r.last = in
		}
		if in.history != nil && !in.history.plain {
			continue // its messages have positions
		}
		for _, s := range in.subs {
			if d.own && s.noEcho {
				continue
			}
			if payload == nil {
				payload = append(make([]byte, 0, len(d.payload)), d.payload...)
			}
			m := Message{Tenant: d.tenant, Channel: d.channel, Pattern: p, Patterns: d.patterns, Payload: payload, Sender: d.sender, Late: d.late, Own: d.own, Key: d.key, toOne: d.toOne}
			switch s.queue.push(m) {
			case queued:
			case crowded:
				crowd = true
			case dropped:
				crowd = true
				s.tellDropped()
			case behind: // only of messages with positions
			case full:
				s.end(queueFullError(in.key), false)
				r.over(s)
			}
		}
	}
	return crowd
}

func queueFullError(k key) *Error {
	return &Error{Code: CodeQueueFull, Text: "the application does not read in time", Tenant: k.tenant, Pattern: k.pattern}
}

// add puts a subscription in, and reports whether its interest is new.
func (r *router) add(s *Subscription, onCurrent bool) (in *interest, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in = r.interests[s.key]
	if in == nil {
		in, isNew = &interest{key: s.key, onCurrent: onCurrent, history: s.history}, true
		r.interests[s.key] = in
	}
	in.subs = append(in.subs[:len(in.subs):len(in.subs)], s)
	return in, isNew
}

// remove takes a subscription out, and its interest if it was the last one.
func (r *router) remove(s *Subscription) (in *interest, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in = r.interests[s.key]
	if in == nil {
		return nil, false
	}
	var rest []*Subscription
	for _, other := range in.subs {
		if other != s {
			rest = append(rest, other)
		}
	}
	if len(rest) == len(in.subs) {
		return nil, false
	}
	if in.subs = rest; len(rest) > 0 {
		return in, false
	}
	r.drop(in)
	return in, true
}

// clear takes an interest out, and returns its subscriptions.
func (r *router) clear(in *interest) []*Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(in)
	subs := in.subs
	in.subs = nil
	return subs
}

// leave says that the application has left a subscription which the edge has yet to end, and left that it has.
func (r *router) leave(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving[s.key] = s
}

func (r *router) left(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving[s.key] == s {
		delete(r.leaving, s.key)
	}
}

func (r *router) drop(in *interest) {
	if r.interests[in.key] == in {
		delete(r.interests, in.key)
	}
	if r.last == in {
		r.last = nil
	}
}

// isShareable reports whether a subscription may join those of its pattern: one with a
// history has a pattern for itself.
func (r *router) isShareable(s *Subscription) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.interests[s.key]
	return in == nil || in.history == nil && s.history == nil
}

// has reports whether the application still subscribes to an interest.
func (r *router) has(in *interest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interests[in.key] == in
}

// hasKey reports whether the application subscribes to a pattern.
func (r *router) hasKey(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interests[k] != nil
}

// all returns the interests.
func (r *router) all() []*interest {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*interest, 0, len(r.interests))
	for _, in := range r.interests {
		list = append(list, in)
	}
	return list
}
