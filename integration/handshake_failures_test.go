package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client that guesses tokens is limited; a client with a token is not, whatever its
// address.
func TestHandshakeFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := startEdge(t, handshakeCaddyfile)
	token := e.issue(allowAll("room")).Token
	guess := upgrade{Peer: "203.0.113.77", Header: []string{bearer("AT_x")}}
	good := upgrade{TLS: true, Header: []string{bearer(token)}}

	held, failures := guessUntilLimited(t, func() answer { return e.upgrade(guess) })
	if failures < 20 {
		t.Errorf("held up after %d failures, want 20 to be answered", failures)
	}
	held.problem(t, http.StatusTooManyRequests, "too_many_failures")
	if got := held.Header.Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q, want 1", got)
	}
	good.Peer = "203.0.113.78"
	if got := e.upgrade(good); got.Status != http.StatusSwitchingProtocols {
		t.Errorf("another address got %d %s, want 101", got.Status, got.Body)
	}
	good.Peer = guess.Peer
	guessUntilLimited(t, func() answer { return e.upgrade(guess) }) // a second may have passed
	if got := e.upgrade(good); got.Status != http.StatusSwitchingProtocols {
		t.Fatalf("a valid token from where somebody guesses got %d %s, want 101", got.Status, got.Body)
	}
	e.poll("the address to be heard again", func() bool { return e.upgrade(guess).Status == http.StatusUnauthorized })
}

// Clients that keep trying a revoked token do not affect other clients.
func TestHandshakeRetriesDisturbNobody(t *testing.T) {
	t.Parallel()
	e := startEdge(t, handshakeCaddyfile)
	valid, revoked := e.issue(allowAll("room")).Token, e.issue(allowAll("room")).Token
	e.revoke(e.master, revoked).decode(t, http.StatusOK, new(object))
	const peer = "203.0.113.79"
	for range 40 {
		for range 3 { // 120 in all, far more than may fail in a second
			got := e.upgrade(upgrade{Peer: peer, Header: []string{bearer(revoked)}})
			got.problem(t, http.StatusUnauthorized, "unauthorized")
		}
		if got := e.upgrade(upgrade{TLS: true, Peer: peer, Header: []string{bearer(valid)}}); got.Status != http.StatusSwitchingProtocols {
			t.Fatalf("a valid token got %d %s, want 101", got.Status, got.Body)
		}
	}
}

// Guessing master tokens is limited in the same way.
func TestMasterTokenFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	guess := "MT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)
	held, failures := guessUntilLimited(t, func() answer { return e.rest("GET", "/v1/tokens", guess, nil) })
	held.problem(t, http.StatusTooManyRequests, "too_many_failures")
	if failures < 20 || held.Header.Get("Retry-After") != "1" {
		t.Errorf("held up after %d failures with Retry-After %q, want 20 to be answered, and 1", failures, held.Header.Get("Retry-After"))
	}
	if got := e.rest("GET", "/v1/tokens", e.master, nil); got.Status != http.StatusOK {
		t.Errorf("a valid master token just after it got %d %s, want 200", got.Status, got.Body)
	}
}

// guessUntilLimited guesses until a guess is limited. It returns that answer, and how many
// guesses were answered before. The guesses are concurrent: a busy machine makes too few
// in a second if they are sequential.
func guessUntilLimited(t *testing.T, guess func() answer) (held answer, failures int) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); held.Status == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d failures were answered, want 429", failures)
		}
		answers := make(chan answer, 60)
		var all sync.WaitGroup
		for range cap(answers) {
			all.Go(func() { answers <- guess() })
		}
		all.Wait()
		close(answers)
		for a := range answers {
			switch a.Status {
			case http.StatusTooManyRequests:
				held = a
			case http.StatusUnauthorized:
				failures++
			default:
				t.Fatalf("a guess got %d %s, want 401 or 429", a.Status, a.Body)
			}
		}
	}
	return held, failures
}
