package client

import (
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// stableAfter is how long a connection must have lived for its loss to be the
// first one: else back-off goes on where it was.
const stableAfter = 10 * time.Second

// retry plans attempts.
type retry struct {
	at       time.Time // of the next attempt; zero: none is planned
	attempt  int       // for back-off
	tries    int       // attempts since the connection was lost
	stale    string    // a token that an edge did not accept
	lostEdge string

	refusals int       // of tokens that the provider has given, in a row
	refused  time.Time // when the first of them came
}

// No edge accepts what the provider gives. That is final if it happens this often in a row, for this
// long: the provider may have a token from a cache.
const (
	enoughRefusals = 5
	refusalTime    = time.Minute
)

// stale reports whether no edge accepts the token of a provider, which may give another one later. It
// tells the application.
func (c *Client) stale(err *Error) bool {
	if err.Code != codeUnauthorized || c.s.TokenProvider == nil {
		return false
	}
	c.events.emit(EdgeError{Code: err.Code, Detail: err.Text})
	return true
}

// mayAccept reports whether an edge may yet accept a token of the provider, if there is one.
func (r *retry) mayAccept(err *Error, hasProvider bool) bool {
	if err.Code != codeUnauthorized || !hasProvider {
		r.refusals = 0
		return false
	}
	if r.refusals++; r.refusals == 1 {
		r.refused = time.Now()
	}
	return r.refusals < enoughRefusals || time.Since(r.refused) < refusalTime
}

// adopt makes a connection the current one.
func (c *Client) adopt(conn *conn) {
	c.current = conn
	c.searcher.edges.remember(conn.edge, conn.transport)
	c.place.Store(&place{conn.edge, conn.transport})
	c.router.setCurrent(conn)
	c.restore(conn)
	conn.start(&c.group, c)
	c.gate.open(conn)
	c.checkReady(conn)
	c.planUpgrade()
}

// restore subscribes to everything on a new connection.
func (c *Client) restore(conn *conn) {
	for _, in := range c.router.all() {
		if in.history == nil {
			c.sendSub(conn, in)
		}
	}
	c.restoreStandings(conn)
	if conn == c.current {
		c.resumeHistories()
	}
}

// checkReady looks whether a connection has everything that it is to restore.
func (c *Client) checkReady(conn *conn) {
	tentative := conn == c.next && (c.move != nil && c.move.tentative || c.router.hasHistory())
	if conn.ready || conn.unacked > 0 || conn.hasPostponed() || conn.hasUnasked() || conn.lastErr != nil || tentative && conn.asks { // it is about to end, or is to say something
		return
	}
	conn.ready = true
	switch {
	case conn == c.next && c.suspicion != nil:
		c.takeOver()
	case conn == c.next:
		c.nextReady()
	case conn == c.current:
		c.restored()
	}
}

// restored tells that the client is back, if it was away.
func (c *Client) restored() {
	if c.restoring {
		c.restoring = false
		complete := !c.gaps && !c.router.hasPlain()
		c.events.emit(Reconnected{c.current.edge, c.current.transport, max(0, time.Since(c.heardLast)), complete})
	}
	c.heardLast = time.Time{}
}

// away notes when the client lost its connection, unless it had been away before
// and has yet to come back.
func (c *Client) away(lost *conn) {
	if c.heardLast.IsZero() {
		c.heardLast = lost.link.heard()
	}
}

// fail tells all that wait for an answer on this connection that none comes.
func (c *conn) fail(err error) {
	c.knowFeatures()
	c.confirms.fail()
	pings := c.pings
	c.pings = nil
	for _, p := range pings {
		if p.done != nil {
			p.done(err)
		}
	}
	acks := c.acks
	c.acks = map[key][]*ack{}
	for _, list := range acks {
		for _, a := range list {
			if ends(a.verb) {
				a.done("")
			} // all others go to the next connection
		}
	}
}

// handleLost takes the end of a connection.
func (c *Client) handleLost(conn *conn, err *Error) {
	if conn.dead || c.over {
		return
	}
	if c.trail != nil && conn == c.trail.conn {
		c.endTrail(false)
		return
	}
	conn.dead = true
	conn.aborted = conn.aborted || timedOut(err)
	if conn.lastErr == nil && err.Close != 0 { // the end of a WebTransport session may overtake its last line, which it repeats
		code, detail, _ := strings.Cut(err.Text, ":")
		conn.lastErr = lastWord(Code(code), detail)
	}
	if conn.lastErr != nil {
		err = &Error{Code: conn.lastErr.Code, Text: conn.lastErr.Text, Close: err.Close}
	}
	if err.Close == int(wire.CloseTooBig) {
		c.refuseLargest(conn)
	}
	isCurrent, isNext := conn == c.current, conn == c.next
	if isCurrent {
		c.current = nil
	}
	if isNext {
		c.next = nil
	}
	c.unfeed(conn)
	conn.shut(&c.group)
	c.reportUnread(conn)
	// The current one may wake, or end in its own way.
	beside := isNext && (c.suspicion != nil || c.current != nil && c.move != nil && c.move.tentative)
	if f := c.fatal(conn, err); (isCurrent || isNext) && !beside && f != nil {
		conn.fail(f)
		c.end(f)
		return
	}
	switch {
	case isCurrent && c.suspicion != nil:
		c.away(conn)
		c.suspectDied(conn, err)
	case isCurrent && c.next != nil:
		c.away(conn)
		c.currentDied(conn, err)
	case isNext && c.current != nil:
		c.nextDied(conn, err)
	case isCurrent, isNext: // if it is the next one, the current one has died before
		c.disconnected(conn, err)
	}
	conn.fail(ErrDisconnected)
}

// fatal returns the error that the loss of a connection ends the client with, or
// nil.
func (c *Client) fatal(conn *conn, err *Error) error {
	switch err.Code {
	case Code(wire.CodeTokenRevoked):
		if token, _ := c.searcher.tokens.renewal(); token != "" && token != conn.token {
			return nil // the provider has given another one since: rotating tokens means to revoke the last one
		}
		return err
	case "ip_not_allowed", "origin_not_allowed", "client_not_allowed":
		return err
	case Code(wire.CodeTokenExpired), codeUnauthorized:
		if c.s.TokenProvider == nil {
			return err
		}
	}
	return nil
}

// disconnected begins to reconnect.
func (c *Client) disconnected(conn *conn, err *Error) {
	c.endSearch()
	c.noteTransport(conn)
	if c.away(conn); time.Since(conn.since) >= stableAfter {
		c.retry.attempt = 0
	}
	c.router.setCurrent(nil)
	c.gate.close(ErrDisconnected)
	c.restoring, c.gaps = true, false
	c.retry.tries, c.retry.refusals, c.retry.lostEdge, c.retry.stale = 0, 0, conn.edge, ""
	if err.Code == Code(wire.CodeTokenExpired) || err.Code == codeUnauthorized {
		c.retry.stale = conn.token
	}
	c.events.emit(Disconnected{conn.edge, conn.transport, err})
	c.planRetry(0)
}

func (c *Client) planRetry(asked time.Duration) {
	delay := c.s.backOff(c.retry.attempt, asked)
	c.retry.attempt++
	c.retry.tries++
	c.retry.at = time.Now().Add(delay)
	c.events.emit(Reconnecting{c.retry.tries, delay})
}

// reconnect looks for a connection.
func (c *Client) reconnect() {
	c.retry.at = time.Time{}
	again, order, stale := c.retry.tries > 1, c.retry.lostEdge, c.retry.stale
	c.group.Go(func() { // ends with c.ctx
		defer c.searcher.edges.http.CloseIdleConnections()
		if again {
			_ = c.searcher.edges.resolve(c.ctx) // what is known will do
		}
		conn, f := c.searcher.round(c.ctx, c.searcher.edges.order(order), stale, c.s.FallbackAfter)
		c.hand(conn, func() { c.found(conn, f) })
	})
}

// hand gives the loop what a hunt has found, or ends the connection if the loop
// has ended.
func (c *Client) hand(conn *conn, f func()) {
	taken := make(chan struct{})
	c.post(func() { close(taken); f() })
	if conn == nil {
		return
	}
	select {
	case <-taken:
		return
	case <-c.done: // what was not taken by then never is
	}
	select {
	case <-taken:
	default:
		conn.link.abort()
	}
}

func (c *Client) found(conn *conn, f *failure) {
	if c.over {
		if conn != nil {
			conn.link.abort()
		}
		return
	}
	if f == nil {
		c.adopt(conn)
		c.planRenewal()
		return
	}
	accepts := c.retry.mayAccept(f.err, c.s.TokenProvider != nil)
	if c.stale(f.err); f.final && !accepts {
		c.end(f.err)
		return
	}
	c.emitProviderError(f.err)
	c.planRetry(f.asked)
}
