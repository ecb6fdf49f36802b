package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// searcher finds a connection. Safe for concurrent use.
type searcher struct {
	s      *settings
	edges  *edges
	tokens *tokenSource
	group  *sync.WaitGroup // of the goroutines that dial
}

// failure is why a round found no connection.
type failure struct {
	err   *Error
	final bool          // the token is no good; there is no sense in another round
	asked time.Duration // how long an edge asks to wait

	noEdge bool // no address is that of an edge: something else answers
}

// round tries each edge once, in order. stale is a token that an edge did not
// accept; pause is that between transports. The failure is nil when there is a connection.
func (h *searcher) round(ctx context.Context, order []string, stale string, pause time.Duration) (*conn, *failure) {
	token, err := h.tokens.get(ctx, stale)
	if err != nil {
		return nil, &failure{err: contextError(err)}
	}
	c, f := h.try(ctx, order, token.Token, pause)
	if f == nil || f.err.Code != codeUnauthorized || h.s.TokenProvider == nil || token.Token == stale {
		return c, f
	}
	// The token may have expired since the provider gave it.
	fresh, err := h.tokens.get(ctx, token.Token)
	if err != nil {
		return nil, &failure{err: contextError(err)}
	}
	if fresh.Token == token.Token {
		return nil, f
	}
	return h.try(ctx, order, fresh.Token, pause)
}

func (h *searcher) try(ctx context.Context, order []string, token string, pause time.Duration) (*conn, *failure) {
	f := &failure{final: true, noEdge: true}
	var least time.Duration = -1
	for _, origin := range order {
		c, err := h.one(ctx, origin, token, h.edges.transports(origin), pause)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return nil, &failure{err: contextError(ended(ctx, "no edge answered in time"))}
		}
		e := asError(err)
		v := judge(err)
		switch {
		case f.err == nil, v != tryTransport && (f.err.Status == 0 || judge(f.err) == noEdge), e.Code == codeUnauthorized:
			f.err = e // what an edge says, rather than that none answers
		}
		if v == giveUp {
			return nil, &failure{err: e, final: true}
		}
		f.final = f.final && (v == notHere || v == notThis)
		f.noEdge = f.noEdge && v == noEdge
		if least < 0 || e.RetryAfter < least {
			least = e.RetryAfter
		}
	}
	if f.err == nil {
		f.err, f.final, f.noEdge = &Error{Code: CodeUnreachable, Text: "there is no edge to try"}, false, false
	}
	f.final = f.final || f.err.Code == codeUnauthorized
	f.asked = max(0, least)
	return nil, f
}

const codeUnauthorized Code = "unauthorized"

// one tries transports of one edge, with a pause between.
func (h *searcher) one(ctx context.Context, origin, token string, transports []Transport, pause time.Duration) (*conn, error) {
	if len(transports) == 0 {
		return nil, &Error{Code: CodeBadOption, Text: "WebTransport needs an address that begins with https://"}
	}
	ctx, cancel := context.WithTimeout(ctx, h.s.ConnectTimeout)
	defer cancel()
	l, t, err := race(ctx, transports, pause, h.group, func(ctx context.Context, t Transport) (link, error) {
		return h.s.dial(ctx, origin, t, token)
	})
	if err != nil {
		return nil, err
	}
	return newConn(l, origin, t, token, h.s.features()), nil
}

// contextError makes an *Error of what ended may give.
func contextError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeClosed, Text: "the attempt was given up", Err: err}
}
