package client

import "time"

// loop owns the client's state until the client ends.
func (c *Client) loop() {
	defer c.cancel()
	if w := c.s.watch; w != nil {
		w.join(&c.signals)
		defer w.leave(&c.signals)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var full time.Time // when to look at the queues that overflowed
	for !c.over {
		set := time.Now()
		next := later(earliest(c.deadline(), full), set)
		timer.Reset(next.Sub(set))
		var do func()
		select {
		case do = <-c.calls:
		case <-c.overflow.wake:
			do = func() { full = c.emitQueueFull() }
		case <-c.signals.woke:
			do = func() { c.woke(time.Now()) }
		case <-c.signals.network:
			do = func() { c.networkChanged() }
		case <-c.signals.active: // it is to be asked earlier, perhaps
			do = func() {}
		case <-timer.C:
			do = func() {
				now := time.Now()
				if !full.IsZero() && !now.Before(full) {
					full = c.emitQueueFull()
				}
				c.tick(now)
			}
		}
		started := c.checkLate(next)
		do()
		c.addDelayed()
		c.checkLate(started)
	}
}

// checkLate looks whether the loop comes so late that it must have slept, before anything
// counts as due that it slept through. It returns the time.
func (c *Client) checkLate(due time.Time) time.Time {
	now := time.Now()
	if now.Sub(due) >= wokeLate && !c.over {
		c.woke(now)
	}
	return now
}

func (c *Client) emitQueueFull() (next time.Time) {
	c.endQueueFull()
	c.pauseHistories()
	c.giveCredits()
	events, next := c.overflow.tell(time.Now())
	for _, e := range events {
		c.events.emit(e)
	}
	return next
}

// earliest returns the first of the times that are not zero, an hour from now if
// none is.
func earliest(times ...time.Time) time.Time {
	first := time.Now().Add(time.Hour)
	for _, t := range times {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

// deadline is when tick has something to do.
func (c *Client) deadline() time.Time {
	times := []time.Time{c.renewAt, c.retry.at, c.upgrade.at, c.nextSilentAt()}
	for _, conn := range c.conns() {
		times = append(times, c.askAt(conn), c.suspectAt(conn), c.lostAt(conn), conn.probeAt(), conn.repeatAt())
	}
	if s := c.searching(); s != nil {
		times = append(times, s.retry.at)
	}
	if c.move != nil {
		times = append(times, c.move.settled, c.move.leaveBy, c.move.publishBy)
	}
	if c.suspicion != nil {
		times = append(times, c.suspicion.checkAt)
	}
	if c.trail != nil {
		times = append(times, c.trail.checkAt)
	}
	return earliest(times...)
}

// tick does what is due. Each step may change what the next one finds.
func (c *Client) tick(now time.Time) {
	due := func(at time.Time) bool { return !c.over && !at.IsZero() && !now.Before(at) }
	if due(c.renewAt) {
		c.renew()
	}
	if due(c.retry.at) {
		c.reconnect()
	}
	if c.suspicion != nil && due(c.suspicion.checkAt) {
		c.checkSuspect(now)
	}
	if c.trail != nil && due(c.trail.checkAt) {
		c.checkTrail(now)
	}
	for _, conn := range c.conns() {
		c.tickConn(conn, now, due)
	}
	if due(c.nextSilentAt()) {
		c.lose(c.next)
	}
	if s := c.searching(); s != nil && due(s.retry.at) {
		c.searchNext(s)
	}
	if c.move != nil && due(c.move.publishBy) {
		c.publishOnNext()
	}
	if c.move != nil && due(c.move.settled) {
		c.settle(now)
	}
	if c.move != nil && due(c.move.leaveBy) {
		c.promote()
	}
	if due(c.upgrade.at) {
		c.tryUpgrade(now)
	}
}

// tickConn looks after one connection that lives.
func (c *Client) tickConn(conn *conn, now time.Time, due func(time.Time) bool) {
	if due(c.lostAt(conn)) {
		c.lose(conn)
	}
	if due(c.suspectAt(conn)) {
		c.suspect()
	}
	if due(c.askAt(conn)) {
		conn.ping(true, nil)
	}
	if due(conn.probeAt()) {
		conn.probed = now
		conn.link.probe()
	}
	if due(conn.repeatAt()) {
		c.repeatSubs(conn, now)
	}
}

// conns returns the connections that live.
func (c *Client) conns() []*conn {
	var list []*conn
	if c.current != nil {
		list = append(list, c.current)
	}
	if c.next != nil {
		list = append(list, c.next)
	}
	return list
}

// end ends the client. err is nil if the application closed it.
func (c *Client) end(err error) {
	if c.over {
		return
	}
	c.over = true
	c.err = err
	closed := c.closedError()
	c.gate.close(closed)
	conns, s, suspect := c.conns(), c.searching(), c.suspicion != nil
	c.endTrail(true)
	c.current, c.next, c.move, c.suspicion = nil, nil, nil, nil // what waits for answers must not go on with the move
	for _, conn := range conns {
		conn.dead = true
		if err == nil {
			conn.leaveAll()
		}
		if err != nil || suspect && conn == conns[0] {
			c.reportUnread(conn)
		}
		conn.fail(closed)
		conn.shut(&c.group)
	}
	if s != nil {
		s.stop()
	}
	c.failFlushes(closed)
	c.router.setCurrent(nil)
	c.router.forgetTrail()
	close(c.done) // before anybody can learn of the end in another way, and call Close
	for _, in := range c.router.all() {
		for _, s := range c.router.clear(in) {
			s.end(err, err == nil)
		}
		in.answer(asError(closed))
	}
	c.overflow.told = nil
	thrown, _ := c.overflow.tell(time.Now())
	for _, e := range thrown {
		c.events.emit(e)
	}
	c.endStandings(err)
	for gap := c.router.untoldGap(); gap != nil; gap = c.router.untoldGap() { // who has what is behind it may go on there
		c.events.emit(gap)
	}
	c.events.emit(Closed{err})
}
