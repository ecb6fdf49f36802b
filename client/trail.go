package client

import (
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// The times of a connection that was replaced since it was suspect
// (docs/decisions/0018-suspicion.md).
const (
	trailTime  = 15 * time.Second       // how long the client listens to it
	trailEvery = 250 * time.Millisecond // to look at it
	shelfTime  = time.Second            // what it brings waits for the current one
)

// trail is the loop's part of a trailing connection.
type trail struct {
	conn    *conn     // nil: it has ended
	heard   time.Time // when it had brought something last before it was replaced
	asked   bool      // to leave, since it was heard again
	until   time.Time // when it ends, or, if it has, when all of it is forgotten
	checkAt time.Time
}

// startTrail listens to a connection that was replaced. err is for those who wait for an
// answer on it.
func (c *Client) startTrail(old *conn, heard time.Time, err error) {
	old.release(err)
	old.out.drop() // publishes that wait for room there go on with the new connection
	now := time.Now()
	c.trail = &trail{conn: old, heard: heard, until: now.Add(trailTime), checkAt: now.Add(trailEvery)}
}

// release tells all that wait for an answer on this connection that none comes, but
// keeps count of the PONGs that are owed: they come before that of a later PING.
func (c *conn) release(err error) {
	owed := len(c.pings)
	c.fail(err)
	for range owed {
		c.pings = append(c.pings, &ping{})
	}
}

// checkTrail does what is due with the trailing connection.
func (c *Client) checkTrail(now time.Time) {
	t := c.trail
	t.checkAt = now.Add(trailEvery)
	c.router.giveLate(now)
	switch {
	case t.conn == nil && !now.Before(t.until):
		c.trail = nil
		c.router.forgetTrail()
	case t.conn != nil && !now.Before(t.until):
		c.endTrail(true)
	case t.conn != nil && !t.asked && t.conn.link.heard().After(t.heard):
		c.askTrail()
	}
}

// askTrail asks a connection that is heard again for the end of everything: the
// current one has it all.
func (c *Client) askTrail() {
	t := c.trail
	t.asked = true
	for _, interest := range c.router.all() {
		t.conn.out.line(wire.AppendLine(nil, wire.VerbUnsub, interest.tenant, interest.pattern))
	}
	t.conn.ping(false, func(err error) {
		if err == nil && c.trail == t && t.conn != nil {
			c.endTrail(false)
		}
	})
}

// trailPong takes a PONG of the trailing connection; its other lines mean nothing.
func (c *Client) trailPong() {
	if from := c.trail.conn; len(from.pings) > 0 {
		p := from.pings[0]
		from.pings = from.pings[1:]
		if p.done != nil {
			p.done(nil)
		}
	}
}

// endTrail closes the trailing connection, if it has not ended. What it has brought
// waits on.
func (c *Client) endTrail(abort bool) {
	t := c.trail
	if t == nil || t.conn == nil {
		return
	}
	old := t.conn
	t.conn, t.until = nil, time.Now().Add(shelfTime)
	old.dead = true
	old.fail(ErrDisconnected) // after conn is nil: nobody waits any more
	old.shut(&c.group)
	if abort {
		old.link.abort()
	}
	c.router.endTrail()
}

// trailing is the router's part of a trailing connection. For its merger the
// trailing connection is the next one, whose pile is the shelf.
type trailing struct {
	conn   *conn // nil: it has ended
	merger *merger[*piledDelivery]
}

// trailLife is how long the router remembers what the current connection has brought:
// the time of the trail and a second more.
const trailLife = trailTime + 2*time.Second

// lateLife is how long the router remembers what was given as late. A longer time would
// drop more messages that only look the same.
const lateLife = 2 * time.Second

// takeOver makes the next connection the current one, and lets the suspect one trail. What
// the next one has brought is given.
func (r *router) takeOver() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.emptyShelf(now)
	merger := newMerger[*piledDelivery](trailLife)
	merger.early.life = lateLife
	r.merger.early.each(func(d digest) { merger.fromCurrent(now, d) }) // did not fit into the pile
	due, late, until := r.merger.left(now)
	for _, p := range due {
		merger.fromCurrent(now, p.of)
	}
	r.giveHeld(now, due) // beside the trail before
	for _, in := range r.interests {
		in.onTrail = in.history == nil
	}
	r.trail = &trailing{r.current, merger}
	r.current, r.next, r.merger = r.next, nil, nil
	r.late, r.until = late, until
}

// mergeTrail decides about a message of the trailing connection.
func (r *router) mergeTrail(now time.Time, d *delivery) (crowd bool) {
	m, of := r.trail.merger, digestOf(d.tenant, d.channel, d.payload)
	if m.known(now, of) {
		return false
	}
	kept := newPiled(d, d.patterns, of)
	kept.late = true
	for _, due := range m.fromNext(now, of, kept.size(), kept) {
		crowd = r.giveOneLate(now, due) || crowd
	}
	return crowd
}

// giveOneLate gives a message that only the trailing connection has brought, to the
// interests that were there before: what it brings for others is older than they are.
func (r *router) giveOneLate(now time.Time, p *piledDelivery) (crowd bool) {
	if r.merger != nil && !r.merger.fromCurrent(now, p.of) {
		return false // the next connection of a move has brought it, and the application has it
	}
	p.to = slices.DeleteFunc(slices.Clone(p.to), func(pattern string) bool {
		in := r.interests[key{p.tenant, pattern}]
		return in == nil || !in.onTrail
	})
	return r.give(p)
}

// giveLate gives what has waited for shelfTime.
func (r *router) giveLate(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trail == nil {
		return
	}
	for _, p := range r.trail.merger.waited(now, shelfTime) {
		r.giveOneLate(now, p)
	}
}

func (r *router) emptyShelf(now time.Time) {
	if r.trail == nil {
		return
	}
	for _, p := range r.trail.merger.release(now) {
		r.giveOneLate(now, p)
	}
}

// endTrail takes nothing more of the trailing connection.
func (r *router) endTrail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trail != nil {
		r.trail.conn = nil
	}
}

// forgetTrail forgets what the current connection has brought beside the trail.
func (r *router) forgetTrail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emptyShelf(time.Now())
	r.trail = nil
}
