package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// racers run at the same time, each with tokens of its own.
const racers = 8

// racingCaddyfile trusts loopback with the client's address: so that each
// attempt comes from another one, or the many refusals would give 429.
var racingCaddyfile = strings.Replace(defaultCaddyfile, "default_bind 127.0.0.1", `default_bind 127.0.0.1
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

// race runs f so often, by several racers.
func race(t *testing.T, e *edge, times int, f func(e *edge, n int64)) {
	t.Helper()
	var started atomic.Int64
	t.Run("racers", func(t *testing.T) { // ends when all of them have
		for i := range racers {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				t.Parallel()
				for n := started.Add(1); n <= int64(times) && !t.Failed(); n = started.Add(1) {
					f(e.with(t), n)
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
func TestRevokeRacesHandshake(t *testing.T) {
	t.Parallel()
	e := startEdge(t, racingCaddyfile)
	var opened, refused atomic.Int64
	// How long a handshake waits for the revocation to get ahead, in ns. It homes
	// in on the moment at which the revocation takes effect.
	var delay atomic.Int64
	const step = int64(50 * time.Microsecond)
	race(t, e, 1000, func(e *edge, n int64) {
		token := e.issue(allowAll("room")).Token
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			revoked <- e.tryRevoke(token)
		}()
		time.Sleep(time.Duration(rand.Int64N(2*max(0, delay.Load()) + 1)))
		s, refusal := e.open(from(n, token))
		if err := <-revoked; err != nil {
			e.t.Fatal(err)
		}
		both := time.Now()
		if s == nil {
			refused.Add(1)
			delay.Add(-step)
			refusal.problem(e.t, http.StatusUnauthorized, "unauthorized")
			return
		}
		opened.Add(1)
		delay.Add(step)
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
		if took := time.Since(both); took > time.Second {
			e.t.Errorf("the socket stayed open for %v after the revocation, want at most a second", took)
		}
	})
	if opened.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d handshakes were accepted and %d refused: that was no race", opened.Load(), refused.Load())
	}
	t.Logf("%d handshakes were accepted and then closed, %d refused", opened.Load(), refused.Load())
	awaitConnections(e, 0)
}

// Revoked wins over a refresh at the same time, whichever comes first.
func TestRevokeRacesRefresh(t *testing.T) {
	t.Parallel()
	e := startEdge(t, racingCaddyfile)
	var first atomic.Int64
	race(t, e, 400, func(e *edge, n int64) {
		token := e.issue(allowAll("room"))
		s := e.mustOpen(from(n, token.Token))
		revoked := make(chan error, 1)
		go func() { // ends with its call; awaited below
			revoked <- e.tryRevoke(token.Token)
		}()
		refreshed := e.refresh(e.master, token.TokenID, in(2*time.Hour))
		if err := <-revoked; err != nil {
			e.t.Fatal(err)
		}
		if refreshed.Status == http.StatusOK {
			first.Add(1)
		} else {
			refreshed.problem(e.t, http.StatusConflict, "token_revoked")
		}
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
		_, refusal := e.open(from(n, token.Token))
		refusal.problem(e.t, http.StatusUnauthorized, "unauthorized")
		e.refresh(e.master, token.TokenID, in(time.Hour)).problem(e.t, http.StatusConflict, "token_revoked")
	})
	t.Logf("%d of 400 refreshes came before the revocation", first.Load())
}
