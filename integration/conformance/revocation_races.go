package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// racers run at the same time, each with tokens of its own.
const racers = 8

// RacingCaddyfile trusts loopback with the client's address: so that each
// attempt comes from another one, or the many refusals would give 429.
var RacingCaddyfile = strings.Replace(harness.DefaultCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.0/8
		trusted_proxies_strict
	}`, 1)

// from is a handshake from the n-th address.
func from(n int64, token string) harness.Handshake {
	return harness.Handshake{Token: token, Header: http.Header{
		"X-Forwarded-For": {fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)},
	}}
}

// race runs f so often, by several racers; and more often as long as it has not met
// both outcomes, if met is given.
func race(c *harness.Stage, times int, met func() bool, f func(c *harness.Stage, n int64)) {
	c.T.Helper()
	const tries = 1000 // for both outcomes: below that, none is to be given up
	goOn := func(n int64) bool {
		return !c.T.Failed() && (n <= int64(times) || met != nil && n <= tries && !met())
	}
	var started atomic.Int64
	c.Run("racers", func(c *harness.Stage) { // ends when all of them have
		for i := range racers {
			c.Run(fmt.Sprint(i+1), func(c *harness.Stage) {
				c.T.Parallel()
				for n := started.Add(1); goOn(n); n = started.Add(1) {
					f(c, n)
				}
			})
		}
	})
}

// tryRevoke revokes a token; for any goroutine.
func tryRevoke(e *harness.Edge, token string) error {
	a, err := e.Try(harness.Call{Method: "DELETE", URL: "/v1/revoke-token", Token: e.Master, Body: []byte(`{"token":"` + token + `"}`)})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("revoke: %d %s", a.Status, a.Body)
	}
	return err
}

// A token that was revoked has no open socket, whenever in its handshakes the
// revocation came.
func revokeRacesHandshake(c *harness.Stage) {
	var opened, refused atomic.Int64
	// How long a handshake waits for the revocation to get ahead, in ns; below
	// zero, the revocation for the handshake. It homes in on the moment at which
	// the revocation takes effect.
	var delay atomic.Int64
	step := int64(50*time.Millisecond) / int64(c.Races)
	both := func() bool { return opened.Load() > 0 && refused.Load() > 0 }
	race(c, c.Races, both, func(c *harness.Stage, n int64) {
		token := c.Room()
		lead := delay.Load()
		wait := func(d int64) { time.Sleep(time.Duration(rand.Int64N(2*max(0, d) + 1))) }
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			wait(-lead)
			revoked <- tryRevoke(c.Edge, token)
		}()
		wait(lead)
		s, refusal := c.Open(from(n, token))
		if err := <-revoked; err != nil {
			c.T.Fatal(err)
		}
		ended := time.Now()
		if s == nil {
			refused.Add(1)
			delay.Add(-step)
			refusal.Problem(c.T, http.StatusUnauthorized, "unauthorized")
			return
		}
		opened.Add(1)
		delay.Add(step)
		_, message, err := s.Read()
		if err == nil && string(message) == "ERR:token_revoked" {
			s.ExpectClose(wire.CloseForbidden)
		} else if end := new(harness.Closed); !errors.As(err, &end) || end.Code != wire.CloseForbidden || !c.CodeAlone {
			c.T.Fatalf("got %q, %v; want ERR:token_revoked and close code %d", message, err, wire.CloseForbidden)
		}
		if took := time.Since(ended); took > harness.Promptly {
			c.T.Errorf("the socket stayed open for %v after the revocation, want at most a second", took)
		}
	})
	if !both() {
		c.T.Errorf("%d handshakes were accepted and %d refused: that was no race", opened.Load(), refused.Load())
	}
	c.T.Logf("%d handshakes were accepted and then closed, %d refused", opened.Load(), refused.Load())
	harness.AwaitConnections(c.Edge, 0)
}

// Revoked wins over a refresh at the same time, whichever comes first.
func revokeRacesRefresh(c *harness.Stage) {
	var first atomic.Int64
	times := c.Races * 2 / 5
	race(c, times, nil, func(c *harness.Stage, n int64) {
		token := c.Issue(harness.AllowAll("room"))
		s := c.MustOpen(from(n, token.Token))
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			revoked <- tryRevoke(c.Edge, token.Token)
		}()
		refreshed := c.Refresh(c.Master, token.TokenID, harness.In(2*time.Hour))
		if err := <-revoked; err != nil {
			c.T.Fatal(err)
		}
		if refreshed.Status == http.StatusOK {
			first.Add(1)
		} else {
			refreshed.Problem(c.T, http.StatusConflict, "token_revoked")
		}
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
		_, refusal := c.Open(from(n, token.Token))
		refusal.Problem(c.T, http.StatusUnauthorized, "unauthorized")
		c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_revoked")
	})
	c.T.Logf("%d of %d refreshes came before the revocation", first.Load(), times)
}
