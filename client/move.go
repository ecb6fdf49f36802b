package client

import (
	"context"
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
	reason Reason
	from   string // edge
	retry  retry  // of the second connection
	cancel context.CancelFunc

	publishBy time.Time // publishes wait until then; zero: they do not wait
	switched  bool      // publishes go on the second connection
	settled   time.Time // when to ask the first connection for the end; zero: not yet, or done
	settledBy time.Time // when to do so at the latest, though it is behind
	leaveBy   time.Time // when to leave it at the latest
}

// startMove opens a second connection to leave the first.
func (c *Client) startMove(reason Reason) {
	if c.move != nil || c.current == nil || c.over {
		return
	}
	c.move = &move{reason: reason, from: c.current.edge}
	c.notifier.tell(Moving{c.current.edge, c.current.transport, reason})
	c.router.begin()
	c.move.retry.at = time.Now()
}

// huntSecond looks for the second connection.
func (c *Client) huntSecond() {
	m := c.move
	m.retry.at = time.Time{}
	m.retry.told++
	again, reason, from, stale := m.retry.told > 1, m.reason, m.from, m.retry.stale
	ctx, cancel := context.WithCancel(c.ctx)
	m.cancel = cancel
	c.group.Go(func() { // ends with ctx
		defer cancel()
		defer c.hunter.edges.http.CloseIdleConnections()
		if again {
			_ = c.hunter.edges.resolve(ctx) // what is known will do
		}
		order := c.hunter.edges.order(from)
		if last := len(order) - 1; reason == ReasonToken && last > 0 && order[last] == from {
			order = append([]string{from}, order[:last]...) // nothing is wrong with this edge
		}
		conn, f := c.hunter.round(ctx, order, stale)
		c.hand(conn, func() { c.foundSecond(m, conn, f) })
	})
}

func (c *Client) foundSecond(m *move, conn *conn, f *failure) {
	switch {
	case c.over || c.move != m:
		if conn != nil {
			conn.link.abort()
		}
	case f == nil:
		c.second = conn
		c.router.join(conn)
		c.restore(conn)
		conn.start(&c.group, c)
		c.checkReady(conn)
	case f.final:
		c.end(f.err)
	default:
		c.againSecond(f.asked)
	}
}

// againSecond plans another attempt at the second connection.
func (c *Client) againSecond(asked time.Duration) {
	r := &c.move.retry
	r.attempt++
	r.at = time.Now().Add(c.s.backOff(r.attempt, asked))
}

// secondReady goes on when the second connection has all subscriptions.
func (c *Client) secondReady() {
	m := c.move
	now := time.Now()
	if c.current == nil { // it has died meanwhile
		c.leave()
		return
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
	}
	c.restored() // the first may not have got so far
	c.notifier.tell(Moved{c.current.edge, c.current.transport, m.reason})
	c.tellLink()
	if c.current.draining {
		c.startMove(ReasonDrain)
		return
	}
	c.planRenewal()
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
	m := c.move
	c.router.part(c.current.unsubbed)
	m.settled, m.leaveBy, m.publishBy = time.Time{}, time.Time{}, time.Time{}
	if err.Code == Code(wire.CodeTokenExpired) || err.Code == codeUnauthorized {
		m.retry.stale = second.token
	}
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

// endMove gives a move up: there is no connection left.
func (c *Client) endMove() {
	m := c.move
	if m == nil {
		return
	}
	if m.cancel != nil {
		m.cancel()
	}
	c.move, c.second = nil, nil
	for _, done := range c.flushes {
		done <- ErrDisconnected
	}
	c.flushes = nil
}
