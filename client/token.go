package client

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// tokenSource gives the token to connect with. Safe for concurrent use; one call of
// the provider runs at a time.
type tokenSource struct {
	s    *settings
	run  func(func())  // starts a goroutine for the provider, which may call Close
	lock chan struct{} // holds one while the provider is asked

	mu       sync.Mutex
	current  AccessToken
	obtained time.Time
	early    float64 // in [0,1): see renewAt
	have     bool
}

func newTokenSource(s *settings, run func(func())) *tokenSource {
	t := &tokenSource{s: s, run: run, lock: make(chan struct{}, 1)}
	if s.Token != "" {
		t.current, t.have = AccessToken{Token: s.Token}, true
	}
	return t
}

// get returns the token. The provider is asked if there is none, if it has
// expired, and if it is the stale one, which an edge did not accept.
func (t *tokenSource) get(ctx context.Context, stale string) (AccessToken, error) {
	if err := t.wait(ctx); err != nil {
		return AccessToken{}, err
	}
	t.mu.Lock()
	current := t.current
	good := t.have && current.Token != stale &&
		(current.ExpiresAt.IsZero() || time.Now().Before(current.ExpiresAt))
	t.mu.Unlock()
	if good || t.s.TokenProvider == nil {
		<-t.lock
		return current, nil
	}
	return t.ask(ctx)
}

// wait takes the lock.
func (t *tokenSource) wait(ctx context.Context) error {
	select {
	case t.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx, "the token provider gives no token")
	}
}

// renew asks the provider, also if there is a token.
func (t *tokenSource) renew(ctx context.Context) (AccessToken, error) {
	if err := t.wait(ctx); err != nil {
		return AccessToken{}, err
	}
	return t.ask(ctx)
}

// ask asks the provider, which gives the lock back when it returns: perhaps later
// than ask, if it ignores its context.
func (t *tokenSource) ask(ctx context.Context) (AccessToken, error) {
	ctx, cancel := context.WithTimeout(ctx, t.s.ConnectTimeout)
	defer cancel()
	type answer struct {
		given AccessToken
		err   error
	}
	answers := make(chan answer, 1)
	t.run(func() {
		defer func() { <-t.lock }()
		given, err := t.s.TokenProvider(ctx)
		if err == nil {
			err = checkToken(given.Token)
		}
		if err == nil {
			t.mu.Lock()
			t.current, t.have, t.obtained, t.early = given, true, time.Now(), rand.Float64()
			t.mu.Unlock()
		}
		answers <- answer{given, err}
	})
	select {
	case a := <-answers:
		if a.err != nil {
			return AccessToken{}, &Error{Code: CodeTokenProvider, Text: "the token provider gave no token", Err: a.err}
		}
		return a.given, nil
	case <-ctx.Done():
		return AccessToken{}, &Error{Code: CodeTokenProvider, Text: "the token provider gave no token in time", Err: ctx.Err()}
	}
}

// leastRenewal is the shortest time between two calls of a provider that gives
// tokens which end soon, or have ended.
const leastRenewal = time.Second

// renewal returns the current token and when to ask for the next; zero: never.
// It does not wait.
func (t *tokenSource) renewal() (token string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.TokenProvider == nil || !t.have {
		return "", time.Time{}
	}
	at = renewAt(t.obtained, t.current.ExpiresAt, t.early)
	if soonest := t.obtained.Add(leastRenewal); !at.IsZero() && at.Before(soonest) {
		at = soonest
	}
	return t.current.Token, at
}

// renewAt is when to ask for the next token: when nine tenths of the time that is
// left have passed, but at least 5 s before the end if there is that much; and earlier
// than that by up to a tenth of it, since many clients may have got their tokens at
// once. Zero: never.
func renewAt(now, expires time.Time, early float64) time.Time {
	if expires.IsZero() {
		return time.Time{}
	}
	left := expires.Sub(now)
	if left <= 0 {
		return now
	}
	wait := left / 10 * 9
	if early := left - 5*time.Second; early > 0 {
		wait = min(wait, early)
	}
	return now.Add(max(0, wait-time.Duration(early*float64(left)/10)))
}
