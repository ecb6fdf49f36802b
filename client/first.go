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
	var last *Error // what came before the end of ctx
	for attempt := 1; ; attempt++ {
		conn, f := c.searcher.begin(ctx)
		if f != nil && (last == nil || ctx.Err() == nil) {
			last = f.err
		}
		switch {
		case f == nil:
			c.retry = retry{}
			return conn, nil
		case f.err.Code == CodeClosed: // ctx was cancelled
			return nil, f.err.Err
		case ctx.Err() != nil && last != f.err:
			return nil, tooLate(ctx, last)
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
			return nil, tooLate(ctx, last)
		}
	}
}

// tooLate is the error of a context that ended while Connect tried again, with why the last attempt failed.
func tooLate(ctx context.Context, last *Error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	text := "no edge could be reached in time"
	if last.Code == CodeTokenProvider {
		text = "no token came in time"
	}
	return &Error{Code: CodeTimeout, Text: text, Err: fmt.Errorf("%w; the last attempt: %w", ctx.Err(), last)}
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
