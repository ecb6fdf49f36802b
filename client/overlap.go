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

// begin starts a move from the first connection, or the search for another one beside
// a suspect one. Its notes are good for life.
func (r *router) begin(life time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.move, r.second = newMover[*piledDelivery](life), nil
	for _, t := range r.topics {
		t.onFirst = true
	}
}

// stay makes an end of a suspicion, or of a move that is given up: the first connection leads on, and delivers what
// the second has brought.
func (r *router) stay() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if early := r.move.early; len(early.order) > 0 { // the pile could not hold everything back
		r.late, r.until = early, time.Now().Add(trailTime)
	}
	r.second, r.move = nil, nil
}

// onFirstAgain says that the first connection has every topic.
func (r *router) onFirstAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.topics {
		t.onFirst = true
	}
}

// join says which is the second connection. The pile of the one before it is kept if the
// first may not deliver the same.
func (r *router) join(c *conn, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.second = c
	if keep {
		r.move.secondReplaced(time.Now())
	} else {
		r.move.secondJoined()
	}
}

// behind reports whether the first connection has yet to deliver what the second has.
func (r *router) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.move.at) > 0
}

// part forgets the second connection, which has died. The first delivers what the
// second did, unless it dies, too. With leaving, the first connection was asked for
// the end of everything, and may not deliver any more what the second has.
func (r *router) part(leaving bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.second = nil
	if leaving {
		now := time.Now()
		r.giveHeld(now, r.move.release(now))
	}
}

// giveHeld gives what was held back, but not what the connection that trails has
// brought meanwhile.
func (r *router) giveHeld(now time.Time, held []*piledDelivery) (crowd bool) {
	for _, p := range held {
		if r.trail == nil || r.trail.mover.first(now, p.of) {
			crowd = r.give(p) || crowd
		}
	}
	return crowd
}

// leave makes the second connection the first.
func (r *router) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	due, late := r.move.left()
	r.first, r.second, r.move = r.second, nil, nil
	r.late, r.until = late, now.Add(noteLife)
	r.giveHeld(now, due)
}

// lead makes c the first connection, with no move. nil: there is none. What a move
// has held back until now is given: nobody else delivers it. If c was the second, it may
// yet bring what the first has delivered.
func (r *router) lead(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	var due []*piledDelivery
	var late *notes
	if r.move != nil {
		due, late = r.move.left()
	}
	if c == nil || c != r.second {
		late = nil
	}
	r.first, r.second, r.move = c, nil, nil
	r.late, r.until = late, now.Add(noteLife)
	r.giveHeld(now, due)
}
