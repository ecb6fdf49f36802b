package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// tokenSource gives the token to connect with. Safe for concurrent use; one call of
// the provider runs at a time.
type tokenSource struct {
	s         *settings
	run       func(func())  // starts a goroutine for the provider, which may call Close
	loggedOut func(*Error)  // is called with ErrLoggedOut
	lock      chan struct{} // holds one while the provider is asked

	ended time.Time   // when the provider returned last; whoever holds the lock reads and writes it
	last  tokenAnswer // likewise: what it returned

	mu       sync.Mutex
	begun    int // calls of the provider
	current  AccessToken
	obtained time.Time
	early    float64 // in [0,1): see renewAt
	have     bool
}

// tokenAnswer is what a call of the provider gave.
type tokenAnswer struct {
	call  int // its number, from 1
	given AccessToken
	err   *Error
}

func newTokenSource(s *settings, run func(func()), loggedOut func(*Error)) *tokenSource {
	t := &tokenSource{s: s, run: run, loggedOut: loggedOut, lock: make(chan struct{}, 1)}
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

// renew asks the provider, also if there is a token. What was asked before may be older
// than the reason to renew, so only a call that begins later will do; those who wait at
// the same time share it.
func (t *tokenSource) renew(ctx context.Context) (AccessToken, error) {
	t.mu.Lock()
	before := t.begun
	t.mu.Unlock()
	if err := t.wait(ctx); err != nil {
		return AccessToken{}, err
	}
	if last := t.last; last.call > before {
		<-t.lock
		return last.result()
	}
	return t.ask(ctx)
}

// ask asks the provider, which gives the lock back when it returns: perhaps later
// than ask, if it ignores its context.
func (t *tokenSource) ask(ctx context.Context) (AccessToken, error) {
	if err := t.pause(ctx); err != nil {
		<-t.lock
		return AccessToken{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.s.ConnectTimeout)
	defer cancel()
	t.mu.Lock()
	t.begun++
	call := t.begun
	t.mu.Unlock()
	answers := make(chan tokenAnswer, 1)
	t.run(func() {
		defer func() { <-t.lock }()
		a := tokenAnswer{call: call}
		a.given, a.err = t.call(ctx)
		t.ended, t.last = time.Now(), a
		answers <- a
	})
	select {
	case a := <-answers:
		return a.result()
	case <-ctx.Done():
		return AccessToken{}, &Error{Code: CodeTokenProvider, Text: "the token provider gave no token in time", Err: ctx.Err()}
	}
}

// call calls the provider, and notes the token.
func (t *tokenSource) call(ctx context.Context) (AccessToken, *Error) {
	given, err := t.s.TokenProvider(ctx)
	if err == nil {
		err = checkToken(given.Token)
	}
	if err == nil && given.ExpiresIn < 0 {
		err = badOption("ExpiresIn must not be negative")
	}
	if errors.Is(err, ErrLoggedOut) {
		out := &Error{Code: CodeLoggedOut, Text: "the token provider says that there will be no token", Err: err}
		t.loggedOut(out)
		return AccessToken{}, out
	}
	if err != nil {
		return AccessToken{}, &Error{Code: CodeTokenProvider, Text: "the token provider gave no token", Err: err}
	}
	now := time.Now()
	left := given.ExpiresIn
	if left == 0 && !given.ExpiresAt.IsZero() {
		left = given.ExpiresAt.Sub(now)
	}
	given.ExpiresAt = time.Time{} // for one in the past: this machine's clock is wrong, and the edge knows better
	if left > 0 {
		given.ExpiresAt = now.Add(left) // with the monotonic clock
	}
	t.mu.Lock()
	t.current, t.have, t.obtained, t.early = given, true, now, rand.Float64()
	t.mu.Unlock()
	return given, nil
}

func (a tokenAnswer) result() (AccessToken, error) {
	if a.err != nil {
		return AccessToken{}, a.err
	}
	return a.given, nil
}

// pause waits until the provider may be asked again.
func (t *tokenSource) pause(ctx context.Context) error {
	if t.ended.IsZero() {
		return nil
	}
	timer := time.NewTimer(time.Until(t.ended.Add(leastRenewal)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, "the token provider was not asked: it was a moment ago")
	}
}

// leastRenewal is the shortest time from the end of a call of a provider to the next one.
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
