package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// racers run at the same time, each with tokens of its own.
const racers = 8

// racingCaddyfile trusts loopback with the client's address: so that each
// attempt comes from another one, or the many refusals would give 429.
var racingCaddyfile = strings.Replace(defaultCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.0/8
		trusted_proxies_strict
	}`, 1)

// from is a handshake from the n-th address.
func from(n int64, token string) handshake {
	return handshake{Token: token, Header: http.Header{
		"X-Forwarded-For": {fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)},
	}}
}

// race runs f so often, by several racers; and more often as long as it has not met
// both outcomes, if met is given.
func (c *stage) race(times int, met func() bool, f func(c *stage, n int64)) {
	c.t.Helper()
	const tries = 1000 // for both outcomes: below that, none is to be given up
	goOn := func(n int64) bool {
		return !c.t.Failed() && (n <= int64(times) || met != nil && n <= tries && !met())
	}
	var started atomic.Int64
	c.run("racers", func(c *stage) { // ends when all of them have
		for i := range racers {
			c.run(fmt.Sprint(i+1), func(c *stage) {
				c.t.Parallel()
				for n := started.Add(1); goOn(n); n = started.Add(1) {
					f(c, n)
				}
			})
		}
	})
}

// tryRevoke revokes a token; for any goroutine.
func (e *edge) tryRevoke(token string) error {
	a, err := e.try(call{Method: "DELETE", URL: "/v1/revoke-token", Token: e.master, Body: []byte(`{"token":"` + token + `"}`)})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("revoke: %d %s", a.Status, a.Body)
	}
	return err
}

// A token that was revoked has no open socket, whenever in its handshakes the
// revocation came.
func revokeRacesHandshake(c *stage) {
	var opened, refused atomic.Int64
	// How long a handshake waits for the revocation to get ahead, in ns; below
	// zero, the revocation for the handshake. It homes in on the moment at which
	// the revocation takes effect.
	var delay atomic.Int64
	step := int64(50*time.Millisecond) / int64(c.races)
	both := func() bool { return opened.Load() > 0 && refused.Load() > 0 }
	c.race(c.races, both, func(c *stage, n int64) {
		token := c.room()
		lead := delay.Load()
		wait := func(d int64) { time.Sleep(time.Duration(rand.Int64N(2*max(0, d) + 1))) }
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			wait(-lead)
			revoked <- c.tryRevoke(token)
		}()
		wait(lead)
		s, refusal := c.open(from(n, token))
		if err := <-revoked; err != nil {
			c.t.Fatal(err)
		}
		ended := time.Now()
		if s == nil {
			refused.Add(1)
			delay.Add(-step)
			refusal.problem(c.t, http.StatusUnauthorized, "unauthorized")
			return
		}
		opened.Add(1)
		delay.Add(step)
		_, message, err := s.read()
		if err == nil && string(message) == "ERR:token_revoked" {
			s.expectClose(wire.CloseForbidden)
		} else if end := new(closed); !errors.As(err, &end) || end.code != wire.CloseForbidden || !c.codeAlone {
			c.t.Fatalf("got %q, %v; want ERR:token_revoked and close code %d", message, err, wire.CloseForbidden)
		}
		if took := time.Since(ended); took > promptly {
			c.t.Errorf("the socket stayed open for %v after the revocation, want at most a second", took)
		}
	})
	if !both() {
		c.t.Errorf("%d handshakes were accepted and %d refused: that was no race", opened.Load(), refused.Load())
	}
	c.t.Logf("%d handshakes were accepted and then closed, %d refused", opened.Load(), refused.Load())
	awaitConnections(c.edge, 0)
}

// Revoked wins over a refresh at the same time, whichever comes first.
func revokeRacesRefresh(c *stage) {
	var first atomic.Int64
	times := c.races * 2 / 5
	c.race(times, nil, func(c *stage, n int64) {
		token := c.issue(allowAll("room"))
		s := c.mustOpen(from(n, token.Token))
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			revoked <- c.tryRevoke(token.Token)
		}()
		refreshed := c.refresh(c.master, token.TokenID, in(2*time.Hour))
		if err := <-revoked; err != nil {
			c.t.Fatal(err)
		}
		if refreshed.Status == http.StatusOK {
			first.Add(1)
		} else {
			refreshed.problem(c.t, http.StatusConflict, "token_revoked")
		}
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
		_, refusal := c.open(from(n, token.Token))
		refusal.problem(c.t, http.StatusUnauthorized, "unauthorized")
		c.refresh(c.master, token.TokenID, in(time.Hour)).problem(c.t, http.StatusConflict, "token_revoked")
	})
	c.t.Logf("%d of %d refreshes came before the revocation", first.Load(), times)
}
