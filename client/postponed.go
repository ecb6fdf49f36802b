package client

import (
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// postponedSub is a SUB for a subscription that was confirmed before, on an earlier
// connection or on the one beside it, and that the edge answered with try_later: it is
// repeated until the edge answers otherwise. It is the loop's.
type postponedSub struct {
	attempt int       // for back-off
	at      time.Time // when to send SUB again; zero: SUB has no answer yet, or there is no more to do
	open    bool      // the edge has yet to confirm it; else it is kept since the application was told
	waits   bool      // of an RSUB: it was not sent, see sendHistory
}

// postpone plans to repeat a SUB. The connection is not ready until the edge confirms it.
func (c *Client) postpone(conn *conn, in *interest) {
	if conn.unsubbed {
		return // it is about to be left, or subscribes again
	}
	p := conn.postponed[in]
	if p == nil {
		p = &postponedSub{}
		conn.postponed[in] = p
		c.events.emit(SubscriptionError{Tenant: in.tenant, Pattern: in.pattern, Code: Code(wire.CodeTryLater), Text: reasons[wire.CodeTryLater]})
	}
	if !p.open {
		p.open, p.attempt = true, 0
	}
	p.attempt++ // 0 would mean no pause
	p.at = time.Now().Add(c.s.backOff(p.attempt, 0))
	conn.ready = false
}

// repeatSubs sends the postponed SUBs, JOINs and WHOs that are due.
func (c *Client) repeatSubs(conn *conn, now time.Time) {
	for t, p := range conn.postponed {
		if !p.at.IsZero() && !now.Before(p.at) {
			p.at, conn.repeated = time.Time{}, now
			c.sendSub(conn, t)
		}
	}
	for s, h := range conn.holds {
		if h.state == holdPostponed && !now.Before(h.at) {
			conn.repeated = now
			c.ask(conn, s, h)
		}
	}
}

// forgetPostponed forgets the postponed SUBs of an interest that has ended. A connection that
// waited for nothing else is ready with the answer to UNSUB.
func (c *Client) forgetPostponed(in *interest) {
	for _, conn := range c.conns() {
		delete(conn.postponed, in)
	}
}

// repeatAt is when to repeat the first of the postponed SUBs; zero: none waits.
func (c *conn) repeatAt() (first time.Time) {
	for _, p := range c.postponed {
		if !p.at.IsZero() && (first.IsZero() || p.at.Before(first)) {
			first = p.at
		}
	}
	for _, h := range c.holds {
		if h.state == holdPostponed && (first.IsZero() || h.at.Before(first)) {
			first = h.at
		}
	}
	return first
}

// hasPostponed reports whether the edge has yet to confirm a postponed SUB.
func (c *conn) hasPostponed() bool {
	for _, p := range c.postponed {
		if p.open {
			return true
		}
	}
	for _, h := range c.holds {
		if h.state == holdPostponed {
			return true
		}
	}
	return false
}

// confirm takes the edge's OK for an interest, whose SUB may have been postponed.
func (c *conn) confirm(in *interest) {
	if p := c.postponed[in]; p != nil && !p.waits { // else it is about one that has ended since
		p.open, p.at = false, time.Time{}
	}
}

// endPostponed abandons all postponed SUBs, since the connection is about to be left.
func (c *conn) endPostponed() {
	for _, p := range c.postponed {
		p.open, p.at = false, time.Time{}
	}
	for s, h := range c.holds {
		if h.state == holdPostponed {
			delete(c.holds, s)
		}
	}
}

// isLeaving reports whether an edge has yet to end an earlier subscription to a pattern that
// has none now: what comes until then is of that one.
func (c *Client) isLeaving(k key) bool {
	return !c.router.hasKey(k) && slices.ContainsFunc(c.conns(), func(conn *conn) bool { return conn.pendingUnsub(k) })
}

// addDelayed adds the subscriptions that need not wait any more.
func (c *Client) addDelayed() {
	delayed := c.delayed
	c.delayed = nil
	for _, add := range delayed {
		add()
	}
}
