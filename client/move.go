package client

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// The times of a move (docs/decisions/0008-clients.md).
const (
	settleTime   = 250 * time.Millisecond // other edges learn of a subscription a moment later
	behindTime   = 500 * time.Millisecond // for a first connection that is behind the second
	behindEvery  = 50 * time.Millisecond  // to look again whether it is
	leaveTime    = 2 * time.Second        // for the first connection to end all subscriptions
	publishPause = 2 * time.Second        // for the first edge to have handled what was sent
)

// move is a change from one connection to another, which the router carries out
// for messages. It is the loop's.
type move struct {
	search
	reason Reason
	// tentative: it is given up if the second connection does not get all subscriptions,
	// and nobody is told of it before.
	tentative bool

	publishBy time.Time // publishes wait until then; zero: they do not wait
	switched  bool      // publishes go on the second connection
	settled   time.Time // when to ask the first connection for the end; zero: not yet, or done
	settledBy time.Time // when to do so at the latest, though it is behind
	leaveBy   time.Time // when to leave it at the latest
}

// startMove opens a second connection to leave the first.
func (c *Client) startMove(reason Reason) {
	if c.move != nil || c.suspicion != nil || c.current == nil || c.over {
		return
	}
	c.beginMove(reason)
	c.notifier.tell(Moving{c.current.edge, c.current.transport, reason})
	c.move.retry.at = time.Now()
}

func (c *Client) beginMove(reason Reason) {
	c.move = &move{reason: reason, search: search{
		from: c.current.edge, stays: reason != ReasonDrain && !c.current.draining, pause: c.s.FallbackAfter,
	}}
	c.router.begin(noteLife)
}

// secondReady goes on when the second connection has all subscriptions.
func (c *Client) secondReady() {
	m := c.move
	now := time.Now()
	if c.current == nil { // it has died meanwhile
		c.leave()
		return
	}
	if m.tentative {
		m.tentative = false
		c.notifier.tell(Moving{c.current.edge, c.current.transport, m.reason})
	}
	m.settled = now.Add(settleTime)
	m.settledBy = m.settled.Add(behindTime)
	if m.switched || !m.publishBy.IsZero() {
		return // a further subscription has come meanwhile
	}
	m.publishBy = now.Add(publishPause)
	c.gate.hold()
	second := c.second
	c.current.ping(true, func(error) { // an error: it has died
		if c.move == m && c.second == second {
			c.publishOnSecond()
		}
	})
}

// publishOnSecond ends the pause of publishes.
func (c *Client) publishOnSecond() {
	m := c.move
	if m.switched || c.second == nil {
		return
	}
	m.publishBy, m.switched = time.Time{}, true
	c.gate.open(c.second)
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

// settle asks the first connection for the end, unless it has yet to deliver what the
// second has: then it may also have to deliver what the second was too late for.
func (c *Client) settle(now time.Time) {
	if m := c.move; c.router.behind() && now.Before(m.settledBy) {
		m.settled = now.Add(behindEvery)
		return
	}
	c.askToLeave()
}

// askToLeave asks the first connection for the end of everything.
func (c *Client) askToLeave() {
	m := c.move
	m.settled = time.Time{}
	m.leaveBy = time.Now().Add(leaveTime)
	topics := c.router.all()
	left, first, second := len(topics)+1, c.current, c.second
	answered := func() {
		if left--; left == 0 && c.move == m && c.second == second {
			c.leave()
		}
	}
	for _, t := range topics {
		first.sub(wire.VerbUnsub, t.key, func(Code) { answered() })
	}
	first.unsubbed = true
	first.endPostponed()
	first.ping(true, func(err error) {
		if err == nil {
			answered()
		}
	})
}

// leave makes the second connection the first.
func (c *Client) leave() {
	m, old := c.move, c.current
	c.publishOnSecond()
	c.confirmSecond()
	c.router.leave()
	c.current, c.second, c.move = c.second, nil, nil
	c.place.Store(&place{c.current.edge, c.current.transport})
	if old != nil {
		old.dead = true
		old.fail(ErrDisconnected)
		old.shut(&c.group)
		c.noteTransport(old)
	}
	c.restored() // the first may not have got so far
	if !m.tentative {
		c.notifier.tell(Moved{c.current.edge, c.current.transport, m.reason})
	}
	c.tellLink()
	c.goOn()
}

// firstDied goes on with the second connection alone. If that has yet to
// subscribe, messages are lost until it has, which the application is told.
func (c *Client) firstDied(first *conn, err *Error) {
	c.publishOnSecond()
	c.confirmSecond()
	if c.second.ready {
		c.leave()
		return
	}
	c.restoring = true
	c.notifier.tell(Disconnected{first.edge, first.transport, err})
}

// secondDied opens another second connection.
func (c *Client) secondDied(second *conn, err *Error) {
	if err.Code == Code(wire.CodeTokenExpired) || err.Code == codeUnauthorized {
		c.searching().retry.stale = second.token
	}
	if second.aborted {
		c.noteTransport(second)
	}
	c.router.part(c.current.unsubbed)
	if c.suspicion != nil {
		c.againSecond(0)
		return
	}
	m := c.move
	if m.tentative {
		c.giveBackUp(second)
		return
	}
	m.settled, m.leaveBy, m.publishBy = time.Time{}, time.Time{}, time.Time{}
	if c.current.unsubbed {
		c.resubscribe()
	}
	m.switched = false
	c.gate.open(c.current)
	c.releaseFlushes()
	c.againSecond(0)
}

// resubscribe takes the first connection back, which was asked for the end of
// everything.
func (c *Client) resubscribe() {
	c.current.unsubbed = false
	c.router.onFirstAgain()
	c.restore(c.current)
}

// endSearch gives a move or a suspicion up: there is no connection left.
func (c *Client) endSearch() {
	s := c.searching()
	if s == nil {
		return
	}
	s.stop()
	c.move, c.suspicion, c.second = nil, nil, nil
	c.failFlushes(ErrDisconnected)
}
