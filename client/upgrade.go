package client

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// The times of the way back to WebTransport (docs/decisions/0018-suspicion.md).
const (
	upgradeAfter   = 4 * time.Minute // at least, and half of it more, at random
	upgradeLongest = time.Hour
	upgradeLater   = 10 * time.Second // when there is something else to do
	upgradeOnline  = 2 * time.Second  // after a change of the network, at most
)

// upgrade plans attempts to change from WebSocket to WebTransport, which is preferred.
// It is the loop's.
type upgrade struct {
	at       time.Time // of the next attempt; zero: none is planned
	failures int       // in a row
	trying   bool
	soon     bool // the network has changed since the last attempt
}

// wantsUpgrade reports whether the client prefers WebTransport to what it has.
func (c *Client) wantsUpgrade() bool {
	if c.current == nil || c.current.transport != WebSocket || !c.s.hasHTTP3(c.current.edge) {
		return false
	}
	at := slices.Index(c.s.Transports, WebTransport)
	return at >= 0 && at < slices.Index(c.s.Transports, WebSocket)
}

// planUpgrade plans the next attempt, if one makes sense and none is planned.
func (c *Client) planUpgrade() {
	switch {
	case !c.wantsUpgrade():
		c.upgrade.at = time.Time{}
		c.upgrade.soon = c.upgrade.soon && c.current == nil
	case c.upgrade.trying:
	case c.upgrade.soon:
		c.upgrade.soon = false
		c.upgrade.at = time.Now().Add(rand.N(upgradeOnline))
	case c.upgrade.at.IsZero():
		c.upgrade.at = time.Now().Add(upgradeIn(c.upgrade.failures, rand.Float64()))
	}
}

// upgradeIn is the pause before the next attempt; at is a number of [0, 1).
func upgradeIn(failures int, at float64) time.Duration {
	step := upgradeAfter + time.Duration(at*float64(upgradeAfter)/2)
	return min(step<<min(failures, 4), upgradeLongest)
}

// tryUpgrade tries WebTransport at the same edge. Nobody is told if it does not come up, or
// does not get all subscriptions.
func (c *Client) tryUpgrade(now time.Time) {
	c.upgrade.at = time.Time{}
	if !c.wantsUpgrade() {
		return
	}
	if !c.steady(c.current) || c.suspicion != nil {
		c.upgrade.at = now.Add(upgradeLater)
		return
	}
	c.upgrade.trying = true
	from := c.current
	c.group.Go(func() { // ends with c.ctx
		conn, err := c.searcher.over(c.ctx, from.edge, WebTransport)
		c.hand(conn, func() { c.upgradeFound(from, conn, err) })
	})
}

// over connects to an edge over one transport.
func (h *searcher) over(ctx context.Context, origin string, t Transport) (*conn, error) {
	token, err := h.tokens.get(ctx, "")
	if err != nil {
		return nil, err
	}
	return h.one(ctx, origin, token.Token, []Transport{t}, 0)
}

func (c *Client) upgradeFound(from, conn *conn, err error) {
	c.upgrade.trying = false
	switch {
	case err != nil:
		c.upgrade.failures++
	case c.over || !c.steady(from) || c.suspicion != nil:
		conn.link.abort()
		if c.wantsUpgrade() {
			c.upgrade.at = time.Now().Add(upgradeLater)
		}
		return
	default:
		c.beginMove(ReasonTransport)
		c.move.tentative = true
		c.move.retry.tries = 1
		c.foundNext(&c.move.search, conn, nil)
		return
	}
	c.planUpgrade()
}

// abandonUpgrade ends a move that nobody was notified of, as its next connection has died.
func (c *Client) abandonUpgrade(next *conn) {
	c.move.stop()
	c.move = nil
	c.router.keepCurrent()
	c.searcher.edges.remember(c.current.edge, c.current.transport)
	if !next.aborted { // else noteTransport has counted it
		c.upgrade.failures++
	}
	c.resume()
}

// noteTransport learns from a connection that is left, lost or replaced how well its
// transport works: some paths let the handshake of WebTransport pass, and swallow what is longer.
func (c *Client) noteTransport(old *conn) {
	switch {
	case old.transport != WebTransport:
	case !old.young(time.Now()):
		c.upgrade.failures = 0
	case old.aborted, c.trail != nil && c.trail.conn == old:
		c.upgrade.failures++
		c.searcher.edges.prefer(old.edge, WebSocket)
	}
}
