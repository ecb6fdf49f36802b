package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// first finds the first connection. It tries again while that may help.
func (c *Client) first(ctx context.Context) (*conn, error) {
	defer c.searcher.edges.http.CloseIdleConnections()
	for attempt := 1; ; attempt++ {
		conn, f := c.searcher.begin(ctx)
		switch {
		case f == nil:
			c.retry = retry{}
			return conn, nil
		case f.err.Code == CodeClosed: // ctx was cancelled
			return nil, f.err.Err
		case ctx.Err() != nil, c.s.FailFast, c.isHopeless(f):
			return nil, f.err
		}
		delay := c.s.backOff(attempt, f.asked)
		c.events.emit(Connecting{attempt, delay, f.err})
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			if err := ended(ctx, "no edge could be reached in time"); !errors.Is(err, ErrTimeout) {
				return nil, err
			}
			return nil, &Error{Code: CodeTimeout, Text: "no edge could be reached in time", Err: fmt.Errorf("%w; the last attempt: %w", ctx.Err(), f.err)}
		}
	}
}

// isHopeless reports whether another attempt to connect for the first time changes nothing.
func (c *Client) isHopeless(f *failure) bool {
	switch {
	case f.noEdge, f.err.Code == CodeBadOption, f.err.Code == CodeLoggedOut:
		return true
	case f.err.Code == CodeTokenProvider:
		return errors.Is(f.err.Err, ErrBadOption) // it gave something that is no token
	}
	return f.final && !c.retry.mayAccept(f.err, c.s.TokenProvider != nil)
}

// begin tries each edge once.
func (h *searcher) begin(ctx context.Context) (*conn, *failure) {
	if err := h.edges.resolve(ctx); err != nil {
		if ctx.Err() != nil {
			err = ended(ctx, "no list of edges came in time")
		}
		e := contextError(err)
		return nil, &failure{err: e, noEdge: isNoEdge(e), asked: e.RetryAfter}
	}
	h.edges.rank(ctx)
	return h.round(ctx, h.edges.order(""), "", h.s.FallbackAfter)
}
