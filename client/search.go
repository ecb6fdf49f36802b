package client

import (
	"context"
	"time"
)

// search looks for the next connection, for a move or a suspicion. It is the loop's.
type search struct {
	from   string        // edge of the current one
	stays  bool          // nothing is wrong with this edge
	pause  time.Duration // between the transports
	retry  retry
	cancel context.CancelFunc // of the attempt under way; nil: there was none
}

// stop cancels the attempt under way.
func (s *search) stop() {
	if s.cancel != nil {
		s.cancel()
	}
}

// searching returns the search that goes on; nil: none.
func (c *Client) searching() *search {
	switch {
	case c.move != nil:
		return &c.move.search
	case c.suspicion != nil:
		return &c.suspicion.search
	}
	return nil
}

// searchNext looks for the next connection.
func (c *Client) searchNext(s *search) {
	s.retry.at = time.Time{}
	s.retry.tries++
	again, from, stays, pause, stale := s.retry.tries > 1, s.from, s.stays, s.pause, s.retry.stale
	ctx, cancel := context.WithCancel(c.ctx)
	s.cancel = cancel
	c.group.Go(func() { // ends with ctx
		defer cancel()
		defer c.searcher.edges.http.CloseIdleConnections()
		if again {
			_ = c.searcher.edges.resolve(ctx) // what is known will do
		}
		order := c.searcher.edges.order(from)
		if last := len(order) - 1; stays && last > 0 && order[last] == from {
			order = append([]string{from}, order[:last]...)
		}
		conn, f := c.searcher.round(ctx, order, stale, pause)
		c.hand(conn, func() { c.foundNext(s, conn, f) })
	})
}

func (c *Client) foundNext(s *search, conn *conn, f *failure) {
	switch {
	case c.over || c.searching() != s:
		if conn != nil {
			conn.link.abort()
		}
	case f == nil:
		c.next = conn
		c.searcher.edges.remember(conn.edge, conn.transport)
		c.router.setNext(conn, c.suspicion != nil)
		c.restore(conn)
		conn.start(&c.group, c)
		c.checkReady(conn)
	case f.final && c.suspicion == nil && !c.stale(f.err): // else the current one may wake, or end in its own way
		c.end(f.err)
	default:
		c.retryNext(f.asked)
	}
}

// retryNext plans another attempt at the next connection.
func (c *Client) retryNext(asked time.Duration) {
	r := &c.searching().retry
	r.attempt++
	r.at = time.Now().Add(c.s.backOff(r.attempt, asked))
}
