package client

import "time"

// The times of a suspicion (docs/decisions/0018-suspicion.md).
const (
	suspectPause   = 500 * time.Millisecond // between the transports
	suspectEvery   = 50 * time.Millisecond  // to look whether the first has brought something
	secondPatience = 3 * time.Second        // of a second connection that says nothing
	holeTime       = 2 * time.Minute        // a WebTransport connection lives that works
)

// suspicion is a search for a connection beside the one that leads, which may be dead:
// whichever brings something first, the old one a byte or the new one all subscriptions,
// goes on. The router holds back what the second brings, as in a move. It is the loop's.
type suspicion struct {
	search
	heard  time.Time // from the first, the last time
	lookAt time.Time
}

// suspect begins a suspicion.
func (c *Client) suspect() {
	first := c.current
	now := time.Now()
	first.usual = first.unusual()
	c.suspicion = &suspicion{
		search: search{from: first.edge, pause: suspectPause},
		heard:  first.link.heard(), lookAt: now.Add(suspectEvery),
	}
	c.notifier.tell(Suspect{first.edge, first.transport})
	c.gate.hold()
	c.router.begin(time.Minute)
	c.suspicion.retry.at = now
	if first.young(now) {
		c.hunter.edges.prefer(first.edge, WebSocket)
	}
}

// young reports whether it is a WebTransport connection that has yet to show that the
// path lets it work.
func (c *conn) young(now time.Time) bool {
	return c.transport == WebTransport && now.Sub(c.since) < holeTime
}

// lookAtSuspect looks whether the first connection has woken.
func (c *Client) lookAtSuspect(now time.Time) {
	c.suspicion.lookAt = now.Add(suspectEvery)
	if c.woken() {
		c.stay()
	}
}

// woken reports whether the suspect connection has brought something, and not its last
// word.
func (c *Client) woken() bool {
	first := c.current
	return first.lastErr == nil && !first.aborted && first.link.heard().After(c.suspicion.heard)
}

// stay ends a suspicion, as the first connection has woken.
func (c *Client) stay() {
	first := c.current
	if len(first.pings) > 0 {
		first.doubts++
		mistime(first.pings[1:]) // one sample of this silence is enough
	}
	first.wokeAt = time.Now()
	c.dropSecond()
	c.endSuspicion()
	c.router.stay()
	c.hunter.edges.remember(first.edge, first.transport)
	c.gate.open(first)
	c.releaseFlushes()
	c.notifier.tell(Recovered{first.edge, first.transport, 0})
	c.goOn()
}

// takeOver ends a suspicion, as the second connection has all subscriptions.
func (c *Client) takeOver() {
	if c.woken() {
		c.stay()
		return
	}
	old, heard := c.current, c.suspicion.heard
	handled := old.out.published() <= old.confirmed
	c.confirmSecond()
	c.endSuspicion()
	c.endTrail(true)
	c.router.takeOver()
	c.current, c.second = c.second, nil
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
	c.notifier.tell(Recovered{c.current.edge, c.current.transport, max(0, time.Since(heard))})
	c.tellLink()
	c.goOn()
}

// goOn does what was put off while the client was suspect.
func (c *Client) goOn() {
	if c.current.draining {
		c.startMove(ReasonDrain)
		return
	}
	c.planRenewal()
	c.planBack()
}

// suspectDied goes on when the first connection has ended. A second one leads at once,
// although it has yet to subscribe: nobody else delivers what it has brought.
func (c *Client) suspectDied(first *conn, err *Error) {
	second := c.second
	if second == nil {
		c.disconnected(first, err)
		return
	}
	c.endSuspicion()
	c.failFlushes(ErrDisconnected)
	c.noteTransport(first)
	c.confirmSecond()
	c.current, c.second = second, nil
	c.place.Store(&place{second.edge, second.transport})
	c.router.lead(second)
	c.gate.open(second)
	c.restoring = true
	c.notifier.tell(Disconnected{first.edge, first.transport, err})
	c.tellLink()
	c.goOn()
}

// dropSecond closes a second connection that is not needed.
func (c *Client) dropSecond() {
	second := c.second
	if second == nil {
		return
	}
	c.second = nil
	second.dead = true
	second.fail(ErrDisconnected)
	second.shut(&c.group)
}

// endSuspicion ends the search.
func (c *Client) endSuspicion() {
	c.suspicion.stop()
	c.suspicion = nil
}

// secondSilentAt is when a second connection that answers no SUB is given up for
// another one; zero: it may take its time. Some paths let handshakes pass, and swallow
// what is longer.
func (c *Client) secondSilentAt() time.Time {
	if c.second == nil || c.second.ready || c.second.aborted || c.second.unacked == 0 && c.second.hasPostponed() || c.current == nil ||
		c.suspicion == nil && c.move.reason != ReasonTransport {
		return time.Time{}
	}
	return later(later(c.heard(c.second), c.second.since), c.second.repeated).Add(secondPatience + time.Duration(c.second.out.queued())*slowest)
}
