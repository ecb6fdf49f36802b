package client

import "time"

// The times of a suspicion (docs/decisions/0018-suspicion.md).
const (
	suspectPause = 500 * time.Millisecond // between the transports
	suspectEvery = 50 * time.Millisecond  // to look whether the current one has brought something
	nextTimeout  = 3 * time.Second        // of the next connection that says nothing
	holeTime     = 2 * time.Minute        // a WebTransport connection lives that works
)

// suspicion is a search for a connection beside the current one, which may be dead:
// whichever brings something first, the old one a byte or the new one all subscriptions,
// goes on. The router holds back what the next one brings, as in a move. It is the loop's.
type suspicion struct {
	search
	heard   time.Time // from the current one, the last time
	checkAt time.Time
}

// suspect begins a suspicion.
func (c *Client) suspect() {
	current := c.current
	now := time.Now()
	current.usual = current.unusual()
	c.suspicion = &suspicion{
		search: search{from: current.edge, pause: suspectPause},
		heard:  current.link.heard(), checkAt: now.Add(suspectEvery),
	}
	c.events.emit(Suspect{current.edge, current.transport})
	c.gate.hold()
	c.router.beginMerge(time.Minute)
	c.suspicion.retry.at = now
	if current.young(now) {
		c.searcher.edges.prefer(current.edge, WebSocket)
	}
}

// young reports whether it is a WebTransport connection that has yet to show that the
// path lets it work.
func (c *conn) young(now time.Time) bool {
	return c.transport == WebTransport && now.Sub(c.since) < holeTime
}

// checkSuspect looks whether the current connection has woken.
func (c *Client) checkSuspect(now time.Time) {
	c.suspicion.checkAt = now.Add(suspectEvery)
	if c.woken() {
		c.keepCurrent()
	}
}

// woken reports whether the suspect connection has brought something, and not its last
// word.
func (c *Client) woken() bool {
	current := c.current
	return current.lastErr == nil && !current.aborted && current.link.heard().After(c.suspicion.heard)
}

// keepCurrent ends a suspicion, as the current connection has woken.
func (c *Client) keepCurrent() {
	current := c.current
	if len(current.pings) > 0 {
		current.doubts++
		mistime(current.pings[1:]) // one sample of this silence is enough
	}
	current.wokeAt = time.Now()
	c.dropNext()
	c.endSuspicion()
	c.router.keepCurrent()
	c.searcher.edges.remember(current.edge, current.transport)
	c.gate.open(current)
	c.releaseFlushes()
	c.events.emit(Recovered{current.edge, current.transport, 0})
	c.resume()
}

// takeOver ends a suspicion, as the next connection has all subscriptions.
func (c *Client) takeOver() {
	if c.woken() {
		c.keepCurrent()
		return
	}
	old, heard := c.current, c.suspicion.heard
	handled := old.out.published() <= old.confirmed
	c.reportUnread(old)
	c.confirmNext()
	c.endSuspicion()
	c.endTrail(true)
	c.router.takeOver()
	c.current, c.next = c.next, nil
	c.place.Store(&place{c.current.edge, c.current.transport})
	c.unfeed(old)
	c.gate.open(c.current)
	c.resumeHistories()
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

// suspectDied goes on when the current connection has ended. The next one becomes current at once,
// although it has yet to subscribe: nobody else delivers what it has brought.
func (c *Client) suspectDied(current *conn, err *Error) {
	next := c.next
	if next == nil {
		c.disconnected(current, err)
		return
	}
	c.endSuspicion()
	c.failFlushes(ErrDisconnected)
	c.noteTransport(current)
	c.confirmNext()
	c.current, c.next = next, nil
	c.place.Store(&place{next.edge, next.transport})
	c.router.setCurrent(next)
	c.gate.open(next)
	c.restoring, c.gaps = true, false
	c.resumeHistories()
	c.events.emit(Disconnected{current.edge, current.transport, err})
	c.emitLink()
	c.resume()
}

// dropNext closes the next connection that is not needed.
func (c *Client) dropNext() {
	next := c.next
	if next == nil {
		return
	}
	c.next = nil
	next.dead = true
	c.unfeed(next)
	next.fail(ErrDisconnected)
	next.shut(&c.group)
}

// endSuspicion ends the search.
func (c *Client) endSuspicion() {
	c.suspicion.stop()
	c.suspicion = nil
}

// nextSilentAt is when the next connection that answers no SUB is given up for
// another one; zero: it may take its time. Some paths let handshakes pass, and swallow
// what is longer.
func (c *Client) nextSilentAt() time.Time {
	if c.next == nil || c.next.ready || c.next.aborted || c.next.unacked == 0 && c.next.hasPostponed() || c.current == nil ||
		c.suspicion == nil && c.move.reason != ReasonTransport {
		return time.Time{}
	}
	return later(later(c.heard(c.next), c.next.since), c.next.repeated).Add(nextTimeout + time.Duration(c.next.out.queued())*slowest)
}
