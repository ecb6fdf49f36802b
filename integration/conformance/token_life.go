package conformance

import (
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

func revocation(c *harness.Stage) {
	token, other := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	sockets := []*harness.Socket{c.Dial(token.Token), c.DialBrowser(token.Token)}
	bystander := c.Dial(other.Token)

	begin := time.Now()
	c.Revoke(c.Master, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	for _, s := range sockets {
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
	}
	if took := time.Since(begin); took > harness.Promptly {
		c.T.Errorf("the sockets were open for %v after the revocation, want at most a second", took)
	}
	_, refused := c.Open(harness.Handshake{Token: token.Token})
	refused.Problem(c.T, http.StatusUnauthorized, "")
	bystander.Ping()
}

func expiry(c *harness.Stage) {
	request := harness.TokenRequest(harness.AllowAll("room"))
	expires := time.Now().Add(5 * time.Second)
	request["right"].(harness.Object)["expires_at"] = expires.Format(time.RFC3339Nano)
	short, extended := c.IssueAs(c.Master, request), c.IssueAs(c.Master, request)
	closed, kept := c.Dial(short.Token), c.Dial(extended.Token)
	c.Refresh(c.Master, extended.TokenID, harness.In(time.Hour)).Decode(c.T, http.StatusOK, new(harness.Object))

	closed.ExpectText("ERR:token_expired")
	closed.ExpectClose(wire.CloseUnauthorized)
	// The edge keeps whole seconds.
	if early, late := time.Until(expires) > time.Second, time.Since(expires) > harness.Promptly; early || late {
		c.T.Errorf("the socket closed at %v, want within a second of %v", time.Now(), expires)
	}
	kept.Ping()
	c.Poll("the other socket to outlive the old time", func() bool { return time.Now().After(expires.Add(time.Second)) })
	kept.Subscribe("paint.room", "x")
	_, refused := c.Open(harness.Handshake{Token: short.Token})
	refused.Problem(c.T, http.StatusUnauthorized, "")
}

// successor is the token in SUCCESSOR.
var successor = harness.NewMasterToken()

// A master token that is taken out of the Caddyfile is good for nothing at
// once; what it issued lives on, and a successor manages it.
func removedStaticMaster(c *harness.Stage) {
	secondMaster := strings.Replace(harness.DefaultMaster, "MILLRACE_MASTER_TOKEN", "SUCCESSOR", 1)
	token := c.Issue(harness.AllowAll("room"))
	s := c.Dial(token.Token)
	c.Rest("GET", "/v1/tokens", successor, nil).Problem(c.T, http.StatusUnauthorized, "bad_master_token")

	c.Reload(strings.Replace(harness.DefaultCaddyfile, harness.DefaultMaster, secondMaster, 1))
	c.Rest("GET", "/v1/tokens", c.Master, nil).Problem(c.T, http.StatusUnauthorized, "bad_master_token")
	s.Ping()
	c.Dial(token.Token).Ping()
	if got := c.Status(successor, token.TokenID); got != "valid" {
		c.T.Errorf("the successor sees the token as %q, want valid", got)
	}
	c.Revoke(successor, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	s.ExpectText("ERR:token_revoked")
	s.ExpectClose(wire.CloseForbidden)
}
