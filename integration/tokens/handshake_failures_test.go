package tokens

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A client that guesses tokens is limited; a client with a token is not, whatever its
// address.
func TestHandshakeFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	guess := harness.Upgrade{Peer: "203.0.113.77", Header: []string{harness.Bearer("AT_x")}}
	good := harness.Upgrade{TLS: true, Header: []string{harness.Bearer(token)}}

	held, failures := harness.GuessUntilLimited(t, func() harness.Answer { return e.Upgrade(guess) })
	if failures < 20 {
		t.Errorf("held up after %d failures, want 20 to be answered", failures)
	}
	held.Problem(t, http.StatusTooManyRequests, "too_many_failures")
	if got := held.Header.Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q, want 1", got)
	}
	good.Peer = "203.0.113.78"
	if got := e.Upgrade(good); got.Status != http.StatusSwitchingProtocols {
		t.Errorf("another address got %d %s, want 101", got.Status, got.Body)
	}
	good.Peer = guess.Peer
	harness.GuessUntilLimited(t, func() harness.Answer { return e.Upgrade(guess) }) // a second may have passed
	if got := e.Upgrade(good); got.Status != http.StatusSwitchingProtocols {
		t.Fatalf("a valid token from where somebody guesses got %d %s, want 101", got.Status, got.Body)
	}
	e.Poll("the address to be heard again", func() bool { return e.Upgrade(guess).Status == http.StatusUnauthorized })
}

// Clients that keep trying a revoked token do not affect other clients.
func TestHandshakeRetriesDisturbNobody(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	valid, revoked := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	e.Revoke(e.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	const peer = "203.0.113.79"
	for range 40 {
		for range 3 { // 120 in all, far more than may fail in a second
			got := e.Upgrade(harness.Upgrade{Peer: peer, Header: []string{harness.Bearer(revoked)}})
			got.Problem(t, http.StatusUnauthorized, "unauthorized")
		}
		if got := e.Upgrade(harness.Upgrade{TLS: true, Peer: peer, Header: []string{harness.Bearer(valid)}}); got.Status != http.StatusSwitchingProtocols {
			t.Fatalf("a valid token got %d %s, want 101", got.Status, got.Body)
		}
	}
}

// Guessing master tokens is limited in the same way.
func TestMasterTokenFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	guess := "MT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)
	held, failures := harness.GuessUntilLimited(t, func() harness.Answer { return e.Rest("GET", "/v1/tokens", guess, nil) })
	held.Problem(t, http.StatusTooManyRequests, "too_many_failures")
	if failures < 20 || held.Header.Get("Retry-After") != "1" {
		t.Errorf("held up after %d failures with Retry-After %q, want 20 to be answered, and 1", failures, held.Header.Get("Retry-After"))
	}
	if got := e.Rest("GET", "/v1/tokens", e.Master, nil); got.Status != http.StatusOK {
		t.Errorf("a valid master token just after it got %d %s, want 200", got.Status, got.Body)
	}
}
