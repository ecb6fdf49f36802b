package client

import "github.com/millrace/millrace/wire"

// missingHistories returns the interests with a history that the current connection does not have
// and is to have.
func (c *Client) missingHistories() (list []*interest) {
	for _, in := range c.router.all() {
		if in.history != nil && !c.router.isPaused(in) && !c.router.isFrom(in, c.current) {
			list = append(list, in)
		}
	}
	return list
}

// resumeHistories asks the current connection for the interests with a history, each
// behind what it has brought last.
func (c *Client) resumeHistories() {
	for _, in := range c.missingHistories() {
		in.history.forbidden, in.history.unwanted = false, false
		c.sendHistory(c.current, in)
	}
}

// sendHistory asks a connection for an interest with a history. It waits until the edge has
// said what it knows, and until an earlier subscription to the same pattern has ended:
// what comes of that is not this one's.
func (c *Client) sendHistory(conn *conn, in *interest) {
	if conn != c.current || in.draining {
		return // it is asked when it is
	}
	if conn.asks || conn.pendingUnsub(in.key) {
		conn.postponed[in] = &postponedSub{open: true, waits: true}
		return
	}
	h := in.history
	plain := !conn.histories || h.unwanted
	from := c.router.openHistory(in, conn, plain)
	h.lossy = in.acked && from.Origin == wire.OriginNow // what it had last had no position
	switch {
	case plain:
		h.lossy = in.acked || from.Origin != wire.OriginNow
		conn.sub(wire.VerbSub, in.key, func(code Code) { c.resumed(conn, in, code) })
		return
	case h.forbidden:
		from, h.lossy = wire.From{}, true
	}
	h.asked = from.Origin
	conn.rsub(in.key, from, func(code Code) { c.resumed(conn, in, code) })
}

// sendPostponedHistories asks for the interests with a history that had to wait, if key is
// theirs; nil: all of them.
func (c *Client) sendPostponedHistories(conn *conn, only *key) {
	for in, p := range conn.postponed {
		if p.waits && p.open && (only == nil || in.key == *only) {
			delete(conn.postponed, in)
			if c.router.has(in) && !c.router.isPaused(in) {
				c.sendHistory(conn, in)
			}
		}
	}
	c.checkReady(conn)
}

// resumed takes the answer to an RSUB, or to the SUB in place of it. OK:RSUB says by
// itself whether something is missing: see handleReach.
func (c *Client) resumed(from *conn, in *interest, code Code) {
	h := in.history
	switch {
	case !c.router.has(in):
		return // the application has left it
	case code == Code(wire.CodePermissionDenied) && h.asked != wire.OriginNow && from.histories:
		h.forbidden = true
	case code == Code(wire.CodeNoHistory) && in.acked: // it had one, on another edge or before a reload
		h.unwanted = true
	default:
		if c.subscribed(from, in, code); code == "" && h.lossy {
			c.gap(from, in)
		}
		return
	}
	c.sendHistory(from, in)
}

// historyBegun notes the first message of an interest with a history.
func (c *Client) historyBegun(in *interest) {
	if !c.over && c.router.has(in) && !in.acked {
		in.confirm()
	}
}

// handleReach takes OK:RSUB, AT or GAP, whose position the router has noted. gap says whether it
// reports one.
func (c *Client) handleReach(from *conn, l wire.ServerLine, gap bool) {
	if c.over {
		return // end has reported the gap
	}
	if gap { // whatever has become of the connection: the next one goes on behind it
		c.events.emit(c.router.untoldGap())
	}
	if from.dead || from != c.current {
		return
	}
	if l.Kind == wire.KindOKRsub {
		from.answered(wire.VerbRsub, key{l.Tenant, l.Pattern}, "")
	}
	c.gaps = c.gaps || gap
	c.checkReady(from)
}

// gap tells that messages of a subscription with a history may be missing, as a connection gives none
// of the past.
func (c *Client) gap(from *conn, in *interest) {
	c.gaps = true
	g := Gap{Tenant: in.key.tenant, Pattern: in.key.pattern, Reason: GapUnknown}
	switch {
	case in.history.forbidden:
		g.Code, g.Reason = Code(wire.CodePermissionDenied), GapNoRight
	case in.history.unwanted, !from.histories:
		g.Code, g.Reason = Code(wire.CodeNoHistory), GapNoHistory
	}
	c.events.emit(g)
}

// historyUnavailable takes the word of an edge that its history is out of reach: the
// answer comes when it is back, and nothing else waits for that.
func (c *Client) historyUnavailable(from *conn, k key) {
	for _, a := range from.acks[k] {
		if a.verb == wire.VerbRsub && !a.late {
			a.late = true
			from.unacked--
			c.gaps = true // so far it is not known that nothing is missing
			break
		}
	}
	c.events.emit(EdgeError{Code: Code(wire.CodeHistoryUnavailable), Detail: wire.VerbRsub.String() + ":" + k.tenant + ":" + k.pattern})
	c.checkReady(from)
}

// pauseHistories leaves at the edge what the full queues of subscriptions with a history have
// no room for, and goes on with those that were read since.
func (c *Client) pauseHistories() {
	full, read := c.overflow.takePaused()
	for _, s := range full {
		if in := c.router.of(s); in != nil && c.current != nil {
			c.sendUnsub(c.current, in.key, func() {})
		}
	}
	for _, s := range read {
		if in := c.router.of(s); in != nil && c.router.unpause(in) && c.current != nil {
			c.sendHistory(c.current, in)
		}
	}
}

// sendUnsub sends UNSUB. When it is answered, the edge can be asked for the pattern again,
// with a history.
func (c *Client) sendUnsub(conn *conn, k key, done func()) {
	conn.sub(wire.VerbUnsub, k, func(Code) {
		if conn.forgetRsub(k) {
			c.gaps = true // nobody says any more whether nothing was missing
		}
		done()
		if !conn.dead && !c.over {
			c.sendPostponedHistories(conn, &k)
		}
	})
}
