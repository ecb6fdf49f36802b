package client

import "time"

// The times of a suspicion (docs/decisions/0018-suspicion.md).
const (
	suspectPause = 500 * time.Millisecond // between the transports
	suspectEvery = 50 * time.Millisecond  // to look whether the first has brought something
	nextTimeout  = 3 * time.Second        // of a second connection that says nothing
	holeTime     = 2 * time.Minute        // a WebTransport connection lives that works
)

// suspicion is a search for a connection beside the one that leads, which may be dead:
// whichever brings something first, the old one a byte or the new one all subscriptions,
// goes on. The router holds back what the second brings, as in a move. It is the loop's.
type suspicion struct {
	search
	heard   time.Time // from the first, the last time
	checkAt time.Time
}

// suspect begins a suspicion.
func (c *Client) suspect() {
	first := c.current
	now := time.Now()
	first.usual = first.unusual()
	c.suspicion = &suspicion{
		search: search{from: first.edge, pause: suspectPause},
		heard:  first.link.heard(), checkAt: now.Add(suspectEvery),
	}
	c.events.emit(Suspect{first.edge, first.transport})
	c.gate.hold()
	c.router.beginMerge(time.Minute)
	c.suspicion.retry.at = now
	if first.young(now) {
		c.searcher.edges.prefer(first.edge, WebSocket)
	}
}

// young reports whether it is a WebTransport connection that has yet to show that the
// path lets it work.
func (c *conn) young(now time.Time) bool {
	return c.transport == WebTransport && now.Sub(c.since) < holeTime
}

// checkSuspect looks whether the first connection has woken.
func (c *Client) checkSuspect(now time.Time) {
	c.suspicion.checkAt = now.Add(suspectEvery)
	if c.woken() {
		c.keepCurrent()
	}
}

// woken reports whether the suspect connection has brought something, and not its last
// word.
func (c *Client) woken() bool {
	first := c.current
	return first.lastErr == nil && !first.aborted && first.link.heard().After(c.suspicion.heard)
}

// keepCurrent ends a suspicion, as the first connection has woken.
func (c *Client) keepCurrent() {
	first := c.current
	if len(first.pings) > 0 {
		first.doubts++
		mistime(first.pings[1:]) // one sample of this silence is enough
	}
	first.wokeAt = time.Now()
	c.dropNext()
	c.endSuspicion()
	c.router.keepCurrent()
	c.searcher.edges.remember(first.edge, first.transport)
	c.gate.open(first)
	c.releaseFlushes()
	c.events.emit(Recovered{first.edge, first.transport, 0})
	c.resume()
}

// takeOver ends a suspicion, as the second connection has all subscriptions.
func (c *Client) takeOver() {
	if c.woken() {
		c.keepCurrent()
		return
	}
	old, heard := c.current, c.suspicion.heard
	handled := old.out.published() <= old.confirmed
	c.confirmNext()
	c.endSuspicion()
	c.endTrail(true)
	c.router.takeOver()
	c.current, c.next = c.next, nil
	c.place.Store(&place{c.current.edge, c.current.transport})
	c.gate.open(c.current)
	if handled {
		c.startTrail(old, heard, errReplaced)
		c.releaseFlushes()
	} else { // what flushes wait for may be lost
		c.startTrail(old, heard, ErrDisconnected)
		c.failFlushes(ErrDisconnected)
	}
	c.noteTransport(old)
	c.events.emit(Recovered{c.current.edge, c.current.transport, max(0, time.Since(heard))})
	c.emitLink()
	c.resume()
}

// resume does what was put off while the client was suspect.
func (c *Client) resume() {
	if c.current.draining {
		c.startMove(ReasonDrain)
		return
	}
	c.planRenewal()
	c.planUpgrade()
}

// suspectDied goes on when the first connection has ended. A second one leads at once,
// although it has yet to subscribe: nobody else delivers what it has brought.
func (c *Client) suspectDied(first *conn, err *Error) {
	second := c.next
	if second == nil {
		c.disconnected(first, err)
		return
	}
	c.endSuspicion()
	c.failFlushes(ErrDisconnected)
	c.noteTransport(first)
	c.confirmNext()
	c.current, c.next = second, nil
	c.place.Store(&place{second.edge, second.transport})
	c.router.setCurrent(second)
	c.gate.open(second)
	c.restoring = true
	c.events.emit(Disconnected{first.edge, first.transport, err})
	c.emitLink()
	c.resume()
}

// dropNext closes a second connection that is not needed.
func (c *Client) dropNext() {
	second := c.next
	if second == nil {
		return
	}
	c.next = nil
	second.dead = true
	second.fail(ErrDisconnected)
	second.shut(&c.group)
}

// endSuspicion ends the search.
func (c *Client) endSuspicion() {
	c.suspicion.stop()
	c.suspicion = nil
}

// nextSilentAt is when a second connection that answers no SUB is given up for
// another one; zero: it may take its time. Some paths let handshakes pass, and swallow
// what is longer.
func (c *Client) nextSilentAt() time.Time {
	if c.next == nil || c.next.ready || c.next.aborted || c.next.unacked == 0 && c.next.hasPostponed() || c.current == nil ||
		c.suspicion == nil && c.move.reason != ReasonTransport {
		return time.Time{}
	}
	return later(later(c.heard(c.next), c.next.since), c.next.repeated).Add(nextTimeout + time.Duration(c.next.out.queued())*slowest)
}
