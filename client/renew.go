package client

import (
	"context"
	"time"
)

// RenewToken asks the token provider at once, or a second after its last answer: when
// the rights of the user have changed, for example. It returns when the token has come. If it
// is another one, the client then moves to a new connection, for the reason token. When no
// connection has been found yet, the next attempt uses it.
//
// The errors are ErrBadOption if the client has no provider, ErrTokenProvider,
// ErrLoggedOut, after which the client has ended, ErrTimeout or that of ctx, and what the client
// ended with, or ErrClosed. The provider must not call it.
func (c *Client) RenewToken(ctx context.Context) error {
	if c.s.TokenProvider == nil {
		return badOption("the client has a token, and no token provider that could give another one")
	}
	if c.ctx.Err() != nil {
		return c.closedError()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	_, err := c.searcher.tokens.renew(ctx)
	if c.ctx.Err() != nil && (err == nil || contextError(err).Code != CodeLoggedOut) {
		return c.closedError()
	}
	c.post(func() {
		if c.over {
			return
		}
		if err == nil {
			c.renewals = 0
			c.planRenewal()
		} else {
			c.emitProviderError(contextError(err))
		}
	})
	return err
}

// Retry tries to reconnect now, if the client waits for its next attempt; the pauses
// then start over. Otherwise it does nothing. It never fails, and does not wait.
func (c *Client) Retry() {
	c.post(func() {
		if c.over || c.retry.at.IsZero() {
			return
		}
		c.retry.at, c.retry.attempt = time.Now(), 1 // the first attempt after a loss has none before
	})
}

// loggedOut ends the client, as the token provider wants it.
func (c *Client) loggedOut(err *Error) { c.post(func() { c.end(err) }) }

// emitProviderError reports a token provider that fails, if that is what err is.
func (c *Client) emitProviderError(err *Error) {
	if err.Code == CodeTokenProvider {
		c.events.emit(EdgeError{Code: err.Code, Detail: err.Text, Err: err.Err})
	}
}

// planRenewal says when to ask the token provider again, and moves if there is
// another token than that of the connection.
func (c *Client) planRenewal() {
	token, at := c.searcher.tokens.renewal()
	if !c.renewing {
		c.renewAt = at
	}
	if c.current != nil && token != "" && token != c.current.token {
		c.startMove(ReasonToken)
	}
}

// renew asks the token provider.
func (c *Client) renew() {
	c.renewAt, c.renewing = time.Time{}, true
	c.group.Go(func() { // ends with c.ctx
		_, err := c.searcher.tokens.renew(c.ctx)
		c.post(func() { c.renewed(err) })
	})
}

func (c *Client) renewed(err error) {
	if c.over {
		return
	}
	c.renewing = false
	if err == nil {
		c.renewals = 0
		c.planRenewal()
		return
	}
	c.renewals++
	c.renewAt = time.Now().Add(max(c.s.MinBackOff, c.s.backOff(c.renewals, 0)))
	c.emitProviderError(contextError(err))
}
