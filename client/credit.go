package client

import "github.com/millrace/millrace/wire"

// giveCredits gives credit to the subscriptions that have room again.
func (c *Client) giveCredits() {
	for _, s := range c.overflow.takeRoom() {
		s.hasRoom.Store(false)
		if in := c.router.ofKey(s.key); in != nil {
			c.giveCredit(in)
		}
	}
}

// giveCredit lets the edges give a subscription as many messages to one connection as it has room for. In a
// move both connections may: so its queue may have twice as many.
func (c *Client) giveCredit(in *interest) {
	for _, conn := range c.conns() {
		c.giveCreditOn(conn, in)
	}
}

func (c *Client) giveCreditOn(conn *conn, in *interest) {
	if !conn.workQueue || conn.unsubbed || in.history != nil {
		return
	}
	if n := c.router.credit(conn, in); n > 0 {
		conn.out.unanswered(wire.AppendCredit(nil, in.tenant, in.pattern, uint64(n)))
	}
}

// beginCredit says that a SUB is sent, which has no credit yet.
func (r *router) beginCredit(c *conn, in *interest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.credit[in] = 0
}

// credit returns how much more an edge is to get, if that is worth a line: half of the smallest queue.
func (r *router) credit(c *conn, in *interest) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	unused, asked := c.credit[in]
	if !asked || in.draining || len(in.subs) == 0 {
		return 0
	}
	limit, free := in.subs[0].queue.limit, in.subs[0].queue.limit
	for _, s := range in.subs {
		limit, free = min(limit, s.queue.limit), min(free, s.queue.limit-s.queue.openJobs())
	}
	n := free - unused
	if n < (limit+1)/2 {
		return 0
	}
	c.credit[in] += n
	return n
}

// deliverToOne gives a message that no other connection gets, so nothing is a copy of it.
func (r *router) deliverToOne(c *conn, d *delivery) (crowd bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range d.patterns {
		if in := r.interests[key{d.tenant, p}]; in != nil {
			c.credit[in]--
		}
	}
	crowd = r.dispatch(d, d.patterns, nil)
	for _, p := range d.patterns {
		in := r.interests[key{d.tenant, p}]
		if in == nil {
			continue
		}
		for _, s := range in.subs {
			if s.queue.openJobs()+c.credit[in] <= s.queue.half() {
				s.tellRoom()
			}
		}
	}
	return crowd
}

// ofKey returns the interest in a pattern; nil: none.
func (r *router) ofKey(k key) *interest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interests[k]
}

// tellRoom has the loop give more credit. It does not wait.
func (s *Subscription) tellRoom() {
	if s.hasRoom.CompareAndSwap(false, true) {
		s.client.overflow.addRoom(s)
	}
}

// tellDropped has the loop report a message that the queue had no room for. It does not wait.
func (s *Subscription) tellDropped() {
	s.dropped.Add(1)
	s.tellLost()
}

// tellDiscarded has the loop report messages to one connection that were thrown away. It does not wait.
func (s *Subscription) tellDiscarded(n int) {
	if n > 0 {
		s.discarded.Add(int64(n))
		s.tellLost()
	}
}

func (s *Subscription) tellLost() {
	if s.flagged.CompareAndSwap(false, true) {
		s.client.overflow.add(s)
	}
}
