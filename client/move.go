package client

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// The times of a move (docs/decisions/0008-clients.md).
const (
	settleTime   = 250 * time.Millisecond // other edges learn of a subscription a moment later
	behindTime   = 500 * time.Millisecond // for the current connection that is behind the next one
	behindEvery  = 50 * time.Millisecond  // to look again whether it is
	syncTime     = 2 * time.Second        // and for the next one to say who is present
	leaveTime    = 2 * time.Second        // for the current connection to end all subscriptions
	publishPause = 2 * time.Second        // for the first edge to have handled what was sent
)

// move is a change from one connection to another, which the router carries out
// for messages. It is the loop's.
type move struct {
	search
	reason Reason
	// tentative: it is given up if the next connection does not get all subscriptions,
	// and nobody is notified of it before.
	tentative bool

	publishBy time.Time // publishes wait until then; zero: they do not wait
	switched  bool      // publishes go on the next connection
	settled   time.Time // when to ask the current connection for the end; zero: not yet, or done
	settledBy time.Time // when to do so at the latest, though it is behind
	leaveBy   time.Time // when to leave it at the latest
}

// startMove opens the next connection to leave the current one.
func (c *Client) startMove(reason Reason) {
	if c.move != nil || c.suspicion != nil || c.current == nil || c.over {
		return
	}
	c.beginMove(reason)
	c.events.emit(Moving{c.current.edge, c.current.transport, reason})
	c.move.retry.at = time.Now()
}

func (c *Client) beginMove(reason Reason) {
	c.move = &move{reason: reason, search: search{
		from: c.current.edge, stays: reason != ReasonDrain && !c.current.draining, pause: c.s.FallbackAfter,
	}}
	c.router.beginMerge(noteLife)
}

// nextReady goes on when the next connection has all subscriptions.
func (c *Client) nextReady() {
	m := c.move
	now := time.Now()
	if c.current == nil { // it has died meanwhile
		c.promote()
		return
	}
	if m.tentative {
		m.tentative = false
		c.events.emit(Moving{c.current.edge, c.current.transport, m.reason})
	}
	m.settled = now.Add(settleTime)
	m.settledBy = m.settled.Add(behindTime)
	if m.switched || !m.publishBy.IsZero() {
		return // a further subscription has come meanwhile
	}
	m.publishBy = now.Add(publishPause)
	c.gate.hold()
	next := c.next
	c.current.ping(true, func(error) { // an error: it has died
		if c.move == m && c.next == next {
			c.publishOnNext()
		}
	})
}

// publishOnNext ends the pause of publishes.
func (c *Client) publishOnNext() {
	m := c.move
	if m.switched || c.next == nil {
		return
	}
	m.publishBy, m.switched = time.Time{}, true
	c.gate.open(c.next)
	c.releaseFlushes()
}

func (c *Client) releaseFlushes() {
	waiting := c.flushes
	c.flushes = nil
	for _, done := range waiting {
		c.flush(done)
	}
}

func (c *Client) failFlushes(err error) {
	waiting := c.flushes
	c.flushes = nil
	for _, done := range waiting {
		done <- err
	}
}

// settle asks the current connection for the end, unless it has yet to deliver what the
// next one has: then it may also have to deliver what the next one was too late for. The next
// one is also given time to say who is present.
func (c *Client) settle(now time.Time) {
	m := c.move
	if c.router.behind() && now.Before(m.settledBy) || c.isUnsynced(c.next) && now.Before(m.settledBy.Add(syncTime)) {
		m.settled = now.Add(behindEvery)
		return
	}
	c.unsubscribeCurrent()
}

// unsubscribeCurrent asks the current connection for the end of everything.
func (c *Client) unsubscribeCurrent() {
	m := c.move
	m.settled = time.Time{}
	m.leaveBy = time.Now().Add(leaveTime)
	interests := c.router.all()
	left, current, next := 2, c.current, c.next // for PONG, and the answers to publishes
	answered := func() {
		if left--; left == 0 && c.move == m && c.next == next {
			c.promote()
		}
	}
	for _, in := range interests {
		if in.history == nil { // one with a history goes on behind the last message that comes here
			left++
			current.sub(wire.VerbUnsub, in.key, func(Code) { answered() })
		}
	}
	current.confirms.whenNone(answered)
	current.unsubbed = true
	current.endPostponed()
	current.ping(true, func(err error) {
		if err == nil {
			answered()
		}
	})
}

// promote makes the next connection the current one.
func (c *Client) promote() {
	m, old := c.move, c.current
	c.publishOnNext()
	c.confirmNext()
	c.router.promote()
	c.current, c.next, c.move = c.next, nil, nil
	c.place.Store(&place{c.current.edge, c.current.transport})
	if old != nil {
		old.dead = true
		c.reportUnread(old)
		c.unfeed(old)
		old.fail(ErrDisconnected)
		old.shut(&c.group)
		c.noteTransport(old)
	}
	c.resumeHistories()
	if c.restoring && (c.current.unacked > 0 || c.current.hasPostponed() || c.current.hasUnasked()) {
		c.current.ready = false // until the histories are there, too
	} else {
		c.restored() // the current one may not have got so far
	}
	if !m.tentative {
		c.events.emit(Moved{c.current.edge, c.current.transport, m.reason})
	}
	c.emitLink()
	c.resume()
}

// currentDied goes on with the next connection alone. If that has yet to
// subscribe, messages are lost until it has, which the application is told.
func (c *Client) currentDied(current *conn, err *Error) {
	c.publishOnNext()
	c.confirmNext()
	if c.next.ready {
		c.promote()
		return
	}
	c.restoring, c.gaps = true, false
	c.events.emit(Disconnected{current.edge, current.transport, err})
}

// nextDied opens another next connection.
func (c *Client) nextDied(next *conn, err *Error) {
	if err.Code == Code(wire.CodeTokenExpired) || err.Code == codeUnauthorized {
		c.searching().retry.stale = next.token
	}
	if next.aborted {
		c.noteTransport(next)
	}
	c.router.dropNext(c.current.unsubbed)
	if c.suspicion != nil {
		c.retryNext(0)
		return
	}
	m := c.move
	if m.tentative {
		c.abandonUpgrade(next)
		return
	}
	m.settled, m.leaveBy, m.publishBy = time.Time{}, time.Time{}, time.Time{}
	if c.current.unsubbed {
		c.resubscribe(next, err)
	}
	m.switched = false
	c.gate.open(c.current)
	c.releaseFlushes()
	c.retryNext(0)
}

// resubscribe takes the current connection back, which was asked for the end of everything,
// as the next one has died. What is published until the edge has the subscriptions again
// is lost, which the application is told; those with a history have not been ended.
func (c *Client) resubscribe(next *conn, err *Error) {
	c.current.unsubbed = false
	c.router.allOnCurrent()
	if c.router.hasPlain() {
		c.away(next) // it brought everything until then
		c.restoring, c.gaps, c.current.ready = true, false, false
		c.events.emit(Disconnected{next.edge, next.transport, err})
	}
	c.restore(c.current)
}

// endSearch abandons a move or a suspicion: there is no connection left.
func (c *Client) endSearch() {
	s := c.searching()
	if s == nil {
		return
	}
	s.stop()
	c.move, c.suspicion, c.next = nil, nil, nil
	c.failFlushes(ErrDisconnected)
}
