package client

import "time"

// piledDelivery is a message of the next connection that waits for the current one, or of
// a trailing one and waits for the current one.
type piledDelivery struct {
	delivery
	to []string // patterns; of the next connection those that the current one has, too
	of digest
}

func newPiled(d *delivery, to []string, of digest) *piledDelivery {
	p := &piledDelivery{*d, to, of}
	p.payload = append([]byte{}, d.payload...)
	return p
}

// size is what it costs, in bytes.
func (p *piledDelivery) size() int { return len(p.payload) + 256 }

// beginMerge starts a move from the current connection, or the search for another one beside
// a suspect one. Its notes expire after life.
func (r *router) beginMerge(life time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.merger, r.next = newMerger[*piledDelivery](life), nil
	for _, in := range r.interests {
		in.onCurrent = true
	}
}

// keepCurrent ends a suspicion, or a move that was abandoned: the current connection
// stays, and delivers what the next one has brought.
func (r *router) keepCurrent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if early := r.merger.early; len(early.order) > 0 { // the pile could not hold everything back
		r.late, r.until = early, time.Now().Add(trailTime)
	}
	r.next, r.merger = nil, nil
}

// allOnCurrent says that the current connection has every interest.
func (r *router) allOnCurrent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.interests {
		in.onCurrent = true
	}
}

// setNext says which is the next connection. The pile of the one before it is kept if the
// current one may not deliver the same.
func (r *router) setNext(c *conn, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.next = c
	r.merger.nextBegins(now)
	if keep {
		r.merger.nextReplaced(now)
	} else {
		r.merger.nextJoined()
	}
}

// behind reports whether the current connection has yet to deliver what the next one has.
func (r *router) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.merger.at) > 0
}

// dropNext forgets the next connection, which has died. The current one delivers what the
// next one did, unless it dies, too. With leaving, the current connection was asked for
// the end of everything, and may not deliver any more what the next one has.
func (r *router) dropNext(leaving bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = nil
	if leaving {
		now := time.Now()
		r.giveHeld(now, r.merger.release(now))
	}
}

// giveHeld gives what was held back, but not what the trailing connection has
// brought meanwhile.
func (r *router) giveHeld(now time.Time, held []*piledDelivery) (crowd bool) {
	for _, p := range held {
		if r.trail == nil || r.trail.merger.fromCurrent(now, p.of) {
			crowd = r.give(p) || crowd
		}
	}
	return crowd
}

// promote makes the next connection the current one.
func (r *router) promote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	due, late, until := r.merger.left(now)
	r.current, r.next, r.merger = r.next, nil, nil
	r.late, r.until = late, until
	r.giveHeld(now, due)
}

// setCurrent makes c the current connection, with no move. nil: there is none. What a move
// has held back until now is given: nobody else delivers it. If c was the next one, it may
// yet bring what the current one has delivered.
func (r *router) setCurrent(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	var due []*piledDelivery
	var late *notes
	var until time.Time
	if r.merger != nil {
		due, late, until = r.merger.left(now)
	}
	if c == nil || c != r.next {
		late = nil
	}
	r.current, r.next, r.merger = c, nil, nil
	r.late, r.until = late, until
	r.giveHeld(now, due)
}
