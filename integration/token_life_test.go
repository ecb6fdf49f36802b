package integration

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestRevocationClosesSockets(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	token, other := e.issue(allowAll("room")), e.issue(allowAll("room"))
	sockets := []*socket{e.dial(token.Token), e.dialBrowser(token.Token)}
	bystander := e.dial(other.Token)

	begin := time.Now()
	e.revoke(e.master, token.Token).decode(t, http.StatusOK, new(object))
	for _, s := range sockets {
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the sockets were open for %v after the revocation, want at most a second", took)
	}
	_, refused := e.open(handshake{Token: token.Token})
	refused.problem(t, http.StatusUnauthorized, "")
	bystander.ping()
}

func TestExpiryClosesSockets(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	request := tokenRequest(allowAll("room"))
	expires := time.Now().Add(3 * time.Second)
	request["right"].(object)["expires_at"] = expires.Format(time.RFC3339Nano)
	short, extended := e.issueAs(e.master, request), e.issueAs(e.master, request)
	closed, kept := e.dial(short.Token), e.dial(extended.Token)
	e.refresh(e.master, extended.TokenID, in(time.Hour)).decode(t, http.StatusOK, new(object))

	closed.expectText("ERR:token_expired")
	closed.expectClose(wire.CloseUnauthorized)
	// The edge keeps whole seconds.
	if early, late := time.Until(expires) > time.Second, time.Since(expires) > time.Second; early || late {
		t.Errorf("the socket closed at %v, want within a second of %v", time.Now(), expires)
	}
	kept.ping()
	e.poll("the other socket to outlive the old time", func() bool { return time.Now().After(expires.Add(time.Second)) })
	kept.subscribe("paint.room", "x")
	_, refused := e.open(handshake{Token: short.Token})
	refused.problem(t, http.StatusUnauthorized, "")
}

// A master token that is taken out of the Caddyfile is good for nothing at
// once; what it issued lives on, and a successor manages it.
func TestRemovedStaticMaster(t *testing.T) {
	successor := newMasterToken()
	second := strings.Replace(defaultMaster, "MILLRACE_MASTER_TOKEN", "SUCCESSOR", 1)
	e := startEdge(t, defaultCaddyfile, withEnv("SUCCESSOR="+successor))
	token := e.issue(allowAll("room"))
	s := e.dial(token.Token)
	e.rest("GET", "/v1/tokens", successor, nil).problem(t, http.StatusUnauthorized, "bad_master_token")

	e.reload(strings.Replace(defaultCaddyfile, defaultMaster, second, 1))
	e.rest("GET", "/v1/tokens", e.master, nil).problem(t, http.StatusUnauthorized, "bad_master_token")
	s.ping()
	e.dial(token.Token).ping()
	if got := e.status(successor, token.TokenID); got != "valid" {
		t.Errorf("the successor sees the token as %q, want valid", got)
	}
	e.revoke(successor, token.Token).decode(t, http.StatusOK, new(object))
	s.expectText("ERR:token_revoked")
	s.expectClose(wire.CloseForbidden)
}

var masterToken = regexp.MustCompile(`MT_([0-9a-f]{32})_[0-9a-f]{32}`)

// createMaster creates a master token with the command, and returns it and its
// id.
func (e *edge) createMaster(flags ...string) (token, id string) {
	e.t.Helper()
	args := append([]string{"pubsub", "master-token", "create", "--address", e.adminAddress()}, flags...)
	out := e.cli("", args...)
	found := masterToken.FindStringSubmatch(out)
	if found == nil {
		e.t.Fatalf("master-token create prints no token: %s", out)
	}
	return found[0], found[1]
}

// The tokens of a deleted or rotated master token live on, unless
// --revoke-tokens ends them.
func TestDeletedAndRotatedMaster(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	for _, verb := range []string{"delete", "rotate"} {
		for _, revoke := range []bool{false, true} {
			name := verb
			if revoke {
				name += " --revoke-tokens"
			}
			t.Run(name, func(t *testing.T) {
				e := e.with(t)
				master, id := e.createMaster("--name", "short-lived", "--tenant-prefix", "paint.")
				token := e.issueAs(master, tokenRequest(allowAll("room")))
				untouched := e.issue(allowAll("room")) // by another master of the same namespace
				s := e.dial(token.Token)

				args := []string{"pubsub", "master-token", verb, "--address", e.adminAddress()}
				if revoke {
					args = append(args, "--revoke-tokens")
				}
				out := e.cli("", append(args, id)...)
				e.rest("GET", "/v1/tokens", master, nil).problem(t, http.StatusUnauthorized, "bad_master_token")
				if verb == "rotate" {
					e.list(masterToken.FindString(out), "")
				}
				if revoke {
					s.expectText("ERR:token_revoked")
					s.expectClose(wire.CloseForbidden)
					_, refused := e.open(handshake{Token: token.Token})
					refused.problem(t, http.StatusUnauthorized, "")
				} else {
					s.ping()
					e.dial(token.Token).ping()
					e.refresh(e.master, token.TokenID, in(time.Hour)).decode(t, http.StatusOK, new(object))
				}
				e.dial(untouched.Token).ping()
			})
		}
	}
}

// What the edge has acknowledged is there after kill -9.
func TestTokensSurviveKill(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	valid, revoked := e.issue(allowAll("room")), e.issue(allowAll("room"))
	e.revoke(e.master, revoked.Token).decode(t, http.StatusOK, new(object))
	e.kill()

	again := startEdge(t, defaultCaddyfile, inDir(e.Dir), withEnv("MILLRACE_MASTER_TOKEN="+e.master))
	again.dial(valid.Token).ping()
	_, refused := again.open(handshake{Token: revoked.Token})
	refused.problem(t, http.StatusUnauthorized, "")
}
