package client

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// The times of the way back to WebTransport (docs/decisions/0018-suspicion.md).
const (
	backAfter   = 4 * time.Minute // at least, and half of it more, at random
	backLongest = time.Hour
	backLater   = 10 * time.Second // when there is something else to do
	backOnline  = 2 * time.Second  // after a change of the network, at most
)

// wayBack plans attempts to change from WebSocket to WebTransport, which is preferred.
// It is the loop's.
type wayBack struct {
	at       time.Time // of the next attempt; zero: none is planned
	failures int       // in a row
	trying   bool
	soon     bool // the network has changed since the last attempt
}

// wantsBack reports whether the client prefers WebTransport to what it has.
func (c *Client) wantsBack() bool {
	if c.current == nil || c.current.transport != WebSocket || !secure(c.current.edge) {
		return false
	}
	at := slices.Index(c.s.Transports, WebTransport)
	return at >= 0 && at < slices.Index(c.s.Transports, WebSocket)
}

// planBack plans the next attempt, if one makes sense and none is planned.
func (c *Client) planBack() {
	switch {
	case !c.wantsBack():
		c.back.at = time.Time{}
		c.back.soon = c.back.soon && c.current == nil
	case c.back.trying:
	case c.back.soon:
		c.back.soon = false
		c.back.at = time.Now().Add(rand.N(backOnline))
	case c.back.at.IsZero():
		c.back.at = time.Now().Add(backIn(c.back.failures, rand.Float64()))
	}
}

// backIn is the pause before the next attempt; at is a number of [0, 1).
func backIn(failures int, at float64) time.Duration {
	step := backAfter + time.Duration(at*float64(backAfter)/2)
	return min(step<<min(failures, 4), backLongest)
}

// tryBack tries WebTransport at the same edge. Nobody is told if it does not come up, or
// does not get all subscriptions.
func (c *Client) tryBack(now time.Time) {
	c.back.at = time.Time{}
	if !c.wantsBack() {
		return
	}
	if !c.steady(c.current) || c.suspicion != nil {
		c.back.at = now.Add(backLater)
		return
	}
	c.back.trying = true
	from := c.current
	c.group.Go(func() { // ends with c.ctx
		conn, err := c.hunter.over(c.ctx, from.edge, WebTransport)
		c.hand(conn, func() { c.foundBack(from, conn, err) })
	})
}

// over connects to an edge over one transport.
func (h *hunter) over(ctx context.Context, origin string, t Transport) (*conn, error) {
	token, err := h.tokens.get(ctx, "")
	if err != nil {
		return nil, err
	}
	return h.one(ctx, origin, token.Token, []Transport{t}, 0)
}

func (c *Client) foundBack(from, conn *conn, err error) {
	c.back.trying = false
	switch {
	case err != nil:
		c.back.failures++
	case c.over || !c.steady(from) || c.suspicion != nil:
		conn.link.abort()
		if c.wantsBack() {
			c.back.at = time.Now().Add(backLater)
		}
		return
	default:
		c.beginMove(ReasonTransport)
		c.move.tentative = true
		c.move.retry.told = 1
		c.foundSecond(&c.move.search, conn, nil)
		return
	}
	c.planBack()
}

// giveBackUp ends a move that nobody was told of, as its second connection has died.
func (c *Client) giveBackUp(second *conn) {
	c.move.stop()
	c.move = nil
	c.router.stay()
	c.hunter.edges.remember(c.current.edge, c.current.transport)
	if !second.aborted { // else noteTransport has counted it
		c.back.failures++
	}
	c.goOn()
}

// noteTransport minds what a connection that is left, lost or replaced says of its
// transport: some paths let the handshake of WebTransport pass, and swallow what is longer.
func (c *Client) noteTransport(old *conn) {
	switch {
	case old.transport != WebTransport:
	case !old.young(time.Now()):
		c.back.failures = 0
	case old.aborted, c.trail != nil && c.trail.conn == old:
		c.back.failures++
		c.hunter.edges.prefer(old.edge, WebSocket)
	}
}
