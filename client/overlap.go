package client

import "time"

// piledDelivery is a message of the second connection that waits for the first, or of
// one that trails and waits for the one that leads.
type piledDelivery struct {
	delivery
	to []string // patterns; of the second connection those that the first has, too
	of digest
}

func newPiled(d *delivery, to []string, of digest) *piledDelivery {
	p := &piledDelivery{*d, to, of}
	p.payload = append([]byte{}, d.payload...)
	return p
}

// size is what it costs, in bytes.
func (p *piledDelivery) size() int { return len(p.payload) + 256 }

// beginMerge starts a move from the first connection, or the search for another one beside
// a suspect one. Its notes are good for life.
func (r *router) beginMerge(life time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.merger, r.next = newMerger[*piledDelivery](life), nil
	for _, t := range r.interests {
		t.onCurrent = true
	}
}

// keepCurrent makes an end of a suspicion, or of a move that is given up: the first connection leads on, and delivers what
// the second has brought.
func (r *router) keepCurrent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if early := r.merger.early; len(early.order) > 0 { // the pile could not hold everything back
		r.late, r.until = early, time.Now().Add(trailTime)
	}
	r.next, r.merger = nil, nil
}

// allOnCurrent says that the first connection has every interest.
func (r *router) allOnCurrent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.interests {
		t.onCurrent = true
	}
}

// setNext says which is the second connection. The pile of the one before it is kept if the
// first may not deliver the same.
func (r *router) setNext(c *conn, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = c
	if keep {
		r.merger.nextReplaced(time.Now())
	} else {
		r.merger.nextJoined()
	}
}

// behind reports whether the first connection has yet to deliver what the second has.
func (r *router) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.merger.at) > 0
}

// dropNext forgets the second connection, which has died. The first delivers what the
// second did, unless it dies, too. With leaving, the first connection was asked for
// the end of everything, and may not deliver any more what the second has.
func (r *router) dropNext(leaving bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = nil
	if leaving {
		now := time.Now()
		r.giveHeld(now, r.merger.release(now))
	}
}

// giveHeld gives what was held back, but not what the connection that trails has
// brought meanwhile.
func (r *router) giveHeld(now time.Time, held []*piledDelivery) (crowd bool) {
	for _, p := range held {
		if r.trail == nil || r.trail.merger.fromCurrent(now, p.of) {
			crowd = r.give(p) || crowd
		}
	}
	return crowd
}

// promote makes the second connection the first.
func (r *router) promote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	due, late := r.merger.left()
	r.current, r.next, r.merger = r.next, nil, nil
	r.late, r.until = late, now.Add(noteLife)
	r.giveHeld(now, due)
}

// setCurrent makes c the first connection, with no move. nil: there is none. What a move
// has held back until now is given: nobody else delivers it. If c was the second, it may
// yet bring what the first has delivered.
func (r *router) setCurrent(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	var due []*piledDelivery
	var late *notes
	if r.merger != nil {
		due, late = r.merger.left()
	}
	if c == nil || c != r.next {
		late = nil
	}
	r.current, r.next, r.merger = c, nil, nil
	r.late, r.until = late, now.Add(noteLife)
	r.giveHeld(now, due)
}
