package integration

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

func revocation(c *stage) {
	token, other := c.issue(allowAll("room")), c.issue(allowAll("room"))
	sockets := []*socket{c.dial(token.Token), c.dialBrowser(token.Token)}
	bystander := c.dial(other.Token)

	begin := time.Now()
	c.revoke(c.master, token.Token).decode(c.t, http.StatusOK, new(object))
	for _, s := range sockets {
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
	}
	if took := time.Since(begin); took > promptly {
		c.t.Errorf("the sockets were open for %v after the revocation, want at most a second", took)
	}
	_, refused := c.open(handshake{Token: token.Token})
	refused.problem(c.t, http.StatusUnauthorized, "")
	bystander.ping()
}

func expiry(c *stage) {
	request := tokenRequest(allowAll("room"))
	expires := time.Now().Add(5 * time.Second)
	request["right"].(object)["expires_at"] = expires.Format(time.RFC3339Nano)
	short, extended := c.issueAs(c.master, request), c.issueAs(c.master, request)
	closed, kept := c.dial(short.Token), c.dial(extended.Token)
	c.refresh(c.master, extended.TokenID, in(time.Hour)).decode(c.t, http.StatusOK, new(object))

	closed.expectText("ERR:token_expired")
	closed.expectClose(wire.CloseUnauthorized)
	// The edge keeps whole seconds.
	if early, late := time.Until(expires) > time.Second, time.Since(expires) > promptly; early || late {
		c.t.Errorf("the socket closed at %v, want within a second of %v", time.Now(), expires)
	}
	kept.ping()
	c.poll("the other socket to outlive the old time", func() bool { return time.Now().After(expires.Add(time.Second)) })
	kept.subscribe("paint.room", "x")
	_, refused := c.open(handshake{Token: short.Token})
	refused.problem(c.t, http.StatusUnauthorized, "")
}

// successor is the token in SUCCESSOR.
var successor = newMasterToken()

// A master token that is taken out of the Caddyfile is good for nothing at
// once; what it issued lives on, and a successor manages it.
func removedStaticMaster(c *stage) {
	secondMaster := strings.Replace(defaultMaster, "MILLRACE_MASTER_TOKEN", "SUCCESSOR", 1)
	token := c.issue(allowAll("room"))
	s := c.dial(token.Token)
	c.rest("GET", "/v1/tokens", successor, nil).problem(c.t, http.StatusUnauthorized, "bad_master_token")

	c.reload(strings.Replace(defaultCaddyfile, defaultMaster, secondMaster, 1))
	c.rest("GET", "/v1/tokens", c.master, nil).problem(c.t, http.StatusUnauthorized, "bad_master_token")
	s.ping()
	c.dial(token.Token).ping()
	if got := c.status(successor, token.TokenID); got != "valid" {
		c.t.Errorf("the successor sees the token as %q, want valid", got)
	}
	c.revoke(successor, token.Token).decode(c.t, http.StatusOK, new(object))
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
	t.Parallel()
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
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	valid, revoked := e.issue(allowAll("room")), e.issue(allowAll("room"))
	e.revoke(e.master, revoked.Token).decode(t, http.StatusOK, new(object))
	e.kill()

	again := startEdge(t, defaultCaddyfile, inDir(e.Dir), withEnv("MILLRACE_MASTER_TOKEN="+e.master))
	again.dial(valid.Token).ping()
	_, refused := again.open(handshake{Token: revoked.Token})
	refused.problem(t, http.StatusUnauthorized, "")
}
