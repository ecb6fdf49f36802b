package tokens

import (
	"net/http"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// createMaster creates a master token with the command, and returns it and its
// id.
func createMaster(e *harness.Edge, flags ...string) (token, id string) {
	e.T.Helper()
	args := append([]string{"pubsub", "master-token", "create", "--address", e.AdminAddress()}, flags...)
	out := e.Cli("", args...)
	found := harness.MasterToken.FindStringSubmatch(out)
	if found == nil {
		e.T.Fatalf("master-token create prints no token: %s", out)
	}
	return found[0], found[1]
}

// The tokens of a deleted or rotated master token live on, unless
// --revoke-tokens ends them.
func TestDeletedAndRotatedMaster(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, verb := range []string{"delete", "rotate"} {
		for _, revoke := range []bool{false, true} {
			name := verb
			if revoke {
				name += " --revoke-tokens"
			}
			t.Run(name, func(t *testing.T) {
				e := e.With(t)
				master, id := createMaster(e, "--name", "short-lived", "--tenant-prefix", "paint.")
				token := e.IssueAs(master, harness.TokenRequest(harness.AllowAll("room")))
				untouched := e.Issue(harness.AllowAll("room")) // by another master of the same namespace
				s := e.Dial(token.Token)

				args := []string{"pubsub", "master-token", verb, "--address", e.AdminAddress()}
				if revoke {
					args = append(args, "--revoke-tokens")
				}
				out := e.Cli("", append(args, id)...)
				e.Rest("GET", "/v1/tokens", master, nil).Problem(t, http.StatusUnauthorized, "bad_master_token")
				if verb == "rotate" {
					e.List(harness.MasterToken.FindString(out), "")
				}
				if revoke {
					s.ExpectText("ERR:token_revoked")
					s.ExpectClose(wire.CloseForbidden)
					_, refused := e.Open(harness.Handshake{Token: token.Token})
					refused.Problem(t, http.StatusUnauthorized, "")
				} else {
					s.Ping()
					e.Dial(token.Token).Ping()
					e.Refresh(e.Master, token.TokenID, harness.In(time.Hour)).Decode(t, http.StatusOK, new(harness.Object))
				}
				e.Dial(untouched.Token).Ping()
			})
		}
	}
}

// What the edge has acknowledged is there after kill -9.
func TestTokensSurviveKill(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	valid, revoked := e.Issue(harness.AllowAll("room")), e.Issue(harness.AllowAll("room"))
	e.Revoke(e.Master, revoked.Token).Decode(t, http.StatusOK, new(harness.Object))
	e.Kill()

	again := harness.StartEdge(t, harness.DefaultCaddyfile, harness.InDir(e.Dir), harness.WithEnv("MILLRACE_MASTER_TOKEN="+e.Master))
	again.Dial(valid.Token).Ping()
	_, refused := again.Open(harness.Handshake{Token: revoked.Token})
	refused.Problem(t, http.StatusUnauthorized, "")
}
