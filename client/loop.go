package client

import (
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// loop owns the client's state until the client ends.
func (c *Client) loop() {
	defer c.cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var full time.Time // when to look at the queues that overflowed
	for !c.over {
		timer.Reset(time.Until(earliest(c.deadline(), full)))
		select {
		case f := <-c.calls:
			f()
		case <-c.crowded.wake:
			full = c.tellFull()
		case <-timer.C:
			if now := time.Now(); !full.IsZero() && !now.Before(full) {
				full = c.tellFull()
			}
			c.tick(time.Now())
		}
	}
}

func (c *Client) tellFull() (next time.Time) {
	c.endQueueFull()
	events, next := c.crowded.tell(time.Now())
	for _, e := range events {
		c.notifier.tell(e)
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
	times := []time.Time{c.renewAt, c.retry.at}
	for _, conn := range c.conns() {
		times = append(times, c.aliveUntil(conn), conn.probeAt())
	}
	if c.move != nil {
		times = append(times, c.move.retry.at, c.move.settled, c.move.leaveBy, c.move.publishBy)
	}
	return earliest(times...)
}

// tick does what is due.
func (c *Client) tick(now time.Time) {
	due := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	if due(c.renewAt) {
		c.renew()
	}
	if due(c.retry.at) {
		c.hunt()
	}
	for _, conn := range c.conns() {
		if due(c.aliveUntil(conn)) {
			c.checkAlive(conn)
		}
		if due(conn.probeAt()) {
			conn.probed = now
			conn.link.probe()
		}
	}
	if c.move != nil && due(c.move.retry.at) {
		c.huntSecond()
	}
	if c.move != nil && due(c.move.publishBy) {
		c.publishOnSecond()
	}
	if c.move != nil && due(c.move.settled) {
		c.settle(now)
	}
	if c.move != nil && due(c.move.leaveBy) {
		c.leave()
	}
}

// conns returns the connections that live.
func (c *Client) conns() []*conn {
	var list []*conn
	if c.current != nil {
		list = append(list, c.current)
	}
	if c.second != nil {
		list = append(list, c.second)
	}
	return list
}

// slowest is how long an edge may take for a byte that was sent before a PING:
// the lowest ingress cap is 1 KiB a second.
const slowest = time.Second / 1024

// aliveUntil is when to ask whether a connection lives, or, if that has been
// asked, when it counts as lost.
func (c *Client) aliveUntil(conn *conn) time.Time {
	if conn.aborted {
		return time.Time{}
	}
	heard := conn.link.heard()
	if len(conn.pings) > 0 {
		oldest := conn.pings[0]
		if oldest.sent.After(heard) {
			heard = oldest.sent
		}
		return heard.Add(c.s.PongTimeout + time.Duration(oldest.bytes)*slowest)
	}
	if c.s.KeepAlive < 0 {
		return time.Time{}
	}
	return heard.Add(c.s.KeepAlive)
}

// probeEvery is how often a connection is probed whose PING has no answer.
const probeEvery = time.Second

// probeAt is when to probe a connection next; zero: no PING waits.
func (c *conn) probeAt() time.Time {
	if c.aborted || len(c.pings) == 0 {
		return time.Time{}
	}
	last := c.pings[0].sent
	for _, t := range []time.Time{c.probed, c.link.heard()} {
		if t.After(last) {
			last = t
		}
	}
	return last.Add(probeEvery)
}

func (c *Client) checkAlive(conn *conn) {
	if len(conn.pings) == 0 {
		conn.ping(true, nil)
		return
	}
	conn.lastErr = &Error{Code: CodeTimeout, Text: "the edge does not answer"}
	conn.aborted = true
	conn.link.abort() // lost comes behind what was received
}

// handleLine takes a line of an edge.
func (c *Client) handleLine(from *conn, l wire.ServerLine) {
	if from.dead || c.over {
		return
	}
	switch l.Kind {
	case wire.KindOK:
		from.answered(l.Verb, key{l.Tenant, l.Pattern}, "")
		c.checkReady(from)
	case wire.KindPong:
		c.handlePong(from)
	case wire.KindReconnect:
		from.draining = true
		if from == c.current {
			c.startMove(ReasonDrain)
		}
	case wire.KindFeatures:
		from.asks = false
		c.tellLink()
	case wire.KindLink:
		from.linkDown = !l.Up
		c.tellLink()
	case wire.KindErr:
		c.handleErr(from, Code(l.Code), l.Detail)
	}
}

// tellLink tells of a change of the link that the first connection's edge has to others.
func (c *Client) tellLink() {
	if c.current == nil || c.current.asks || c.current.linkDown == c.linkDown {
		return
	}
	c.linkDown = c.current.linkDown
	if c.linkDown {
		c.notifier.tell(LinkDown{c.current.edge})
	} else {
		c.notifier.tell(LinkUp{c.current.edge})
	}
}

func (c *Client) handlePong(from *conn) {
	if len(from.pings) == 0 {
		return
	}
	p := from.pings[0]
	from.pings = from.pings[1:]
	if p.asked {
		rtt := time.Since(p.sent)
		c.rtt.Store(int64(rtt))
		c.notifier.tell(RoundTrip{rtt})
	}
	if p.done != nil {
		p.done(nil)
	}
}

// lastWord is the error of an ERR line after which the edge closes; nil: it does not.
func lastWord(code Code, detail string) *Error {
	switch wire.Code(code) {
	case wire.CodeForbidden:
		code = Code(detail + "_not_allowed")
	case wire.CodeTokenExpired, wire.CodeTokenRevoked, wire.CodeUnauthorized, wire.CodeTokenUnverifiable, wire.CodeInternal:
	default:
		return nil
	}
	return &Error{Code: code, Text: "the edge ended the connection"}
}

// handleErr takes an ERR line.
func (c *Client) handleErr(from *conn, code Code, detail string) {
	switch wire.Code(code) {
	case wire.CodeBadRequest:
		if from.asks { // an edge of an earlier version
			from.asks = false
			c.tellLink()
			return
		}
	case wire.CodeSlowConsumer:
		n, _ := strconv.Atoi(detail)
		c.notifier.tell(SlowConsumer{n})
		return
	case wire.CodeEgressLimited:
		n, _ := strconv.Atoi(detail)
		c.notifier.tell(EgressLimited{time.Duration(n) * time.Second})
		return
	}
	if last := lastWord(code, detail); last != nil {
		from.lastErr = last
		return // the close follows
	}
	verb, rest, _ := strings.Cut(detail, ":")
	tenant, name, ok := strings.Cut(rest, ":")
	switch {
	case ok && verb == "PUB":
		c.notifier.tell(PublishError{tenant, name, code})
	case ok && verb == wire.VerbSub.String():
		from.answered(wire.VerbSub, key{tenant, name}, code)
		c.checkReady(from)
	case ok && verb == wire.VerbUnsub.String():
		from.answered(wire.VerbUnsub, key{tenant, name}, code)
	default:
		c.notifier.tell(EdgeError{code, detail})
	}
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
	conns, m := c.conns(), c.move
	c.current, c.second, c.move = nil, nil, nil // what waits for answers must not go on with the move
	for _, conn := range conns {
		conn.dead = true
		conn.fail(closed)
		conn.shut(&c.group)
	}
	if m != nil && m.cancel != nil {
		m.cancel()
	}
	for _, f := range c.flushes {
		f <- closed
	}
	c.router.lead(nil)
	close(c.done) // before anybody can learn of the end in another way, and call Close
	for _, t := range c.router.all() {
		for _, s := range c.router.clear(t) {
			s.end(err, err == nil)
		}
		t.answer(asError(closed))
	}
	c.notifier.tell(Closed{err})
}
