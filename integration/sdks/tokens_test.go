package sdks

import (
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// unknownToken has the form of a token, and nobody has issued it.
var unknownToken = "AT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)

// A token that no edge accepts is the end, without a retry.
func badToken(s *stage) {
	c := s.Client()
	want := "unauthorized"
	if s.Kind.Blind() {
		want = "refused"
	}
	if err := c.Refused(s.Connecting(s.Kind, sdk.Options{Token: unknownToken}), want); strings.Contains(err.Text, unknownToken[3:]) {
		s.T.Errorf("the error holds the token: %v", err)
	}
	c.Never("connected", "reconnecting")
}

func (s *stage) issue() harness.Issued {
	s.T.Helper()
	return s.Edges[0].Issue(harness.AllowAll(s.Room))
}

// ends has something happen to a token, and requires that its client ends, and says why.
func ends(s *stage, code string, closeCode wire.CloseCode, happens func(harness.Issued)) {
	token := s.issue()
	c, bystander := s.Connect(sdk.Options{Token: token.Token}), s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "#")
	happens(token)
	if err := c.Ended(code); err != nil && err.CloseCode != int(closeCode) {
		s.T.Errorf("got the close code %d, want %d", err.CloseCode, closeCode)
	}
	sub.WantEnd(code)
	c.Never("reconnecting", "moving")
	if _, err := c.Try(sdk.Command{Cmd: "flush"}); err == nil {
		s.T.Error("a client that has ended flushes")
	}
	bystander.Flush()
}

func revocation(s *stage) {
	ends(s, "token_revoked", wire.CloseForbidden, func(token harness.Issued) { revoke(s, token) })
}

func expiry(s *stage) {
	ends(s, "token_expired", wire.CloseUnauthorized, func(token harness.Issued) {
		s.Edges[0].Refresh(s.Edges[0].Master, token.TokenID, harness.In(time.Second)).Decode(s.T, http.StatusOK, new(harness.Object))
	})
}

func revoke(s *stage, token harness.Issued) {
	s.T.Helper()
	s.Edges[0].Revoke(s.Edges[0].Master, token.Token).Decode(s.T, http.StatusOK, new(harness.Object))
}

// With a token provider the client moves to the next token before the first expires, and loses
// nothing. A provider that fails is asked again; at the start it is the reason.
func provider(s *stage) {
	give := func(c *sdk.Client, token sdk.Command) {
		s.T.Helper()
		c.Event("tokenWanted")
		token.Cmd = "token"
		c.Must(token)
	}
	connect := func(token sdk.Command) (*sdk.Client, *sdk.Error) {
		c := s.Client()
		id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
		give(c, token)
		return c, c.Answer(id, "connect").Error
	}
	failure := sdk.Command{Text: "the backend is down"}
	if _, err := connect(failure); err.ErrorCode() != "token_provider" || err.Cause == nil || !strings.Contains(err.Cause.Text, failure.Text) {
		s.T.Errorf("got %+v, want token_provider, and why", err)
	}
	first, next := s.issue(), s.issue()
	expires := time.Now().Add(6 * time.Second).UTC().Format(time.RFC3339Nano)
	c, err := connect(sdk.Command{Token: first.Token, ExpiresAt: expires})
	if err != nil {
		s.T.Fatal(err)
	}
	m := s.member(c)
	sent, halt := s.publish(s.Edges[0], "n")
	m.reach(10)
	give(c, failure)
	give(c, sdk.Command{Token: next.Token})
	for _, event := range []string{"moving", "moved"} {
		if e := m.Event(event); e.Reason != "token" {
			s.T.Errorf("got %v, want the reason token", e)
		}
	}
	m.reach(sent() + 20)
	revoke(s, first) // which the client has left
	m.wantAll(halt())
	m.Never("disconnected", "reconnecting")
}

// A backend issues, refreshes, revokes and lists tokens; a browser must not have a master token.
func tokenAdmin(s *stage) {
	c := s.Client()
	admin := func(command sdk.Command) sdk.Command {
		command.Addresses, command.Master = s.Addresses(s.Edges[0]), s.Edges[0].Master
		return command
	}
	issue := admin(sdk.Command{Cmd: "issue", Tenant: s.Room, Rules: []string{"news.#"}, Seconds: 900})
	if s.Kind.InBrowser() {
		c.Refused(issue, "bad_option")
		return
	}
	issued := []sdk.Report{c.Must(issue), c.Must(issue), c.Must(issue)} // more than a page
	expires := c.Must(admin(sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 7200})).ExpiresAt
	for text, want := range map[string]time.Duration{issued[0].ExpiresAt: 15 * time.Minute, expires: 2 * time.Hour} {
		at, err := time.Parse(time.RFC3339, text)
		if left := time.Until(at); err != nil || left > want+time.Second || left < want-5*time.Minute {
			s.T.Errorf("the token expires at %s, want in %v (%v)", text, want, err)
		}
	}
	live := s.Connect(sdk.Options{Token: issued[0].Token})
	live.Subscribe(s.Tenant, "news.*")
	_, other := live.Subscription("held", s.Tenant, "other", nil)
	live.Refused(other, "permission_denied")
	c.Must(admin(sdk.Command{Cmd: "revoke", Token: issued[0].Token}))
	_ = live.Ended("token_revoked")
	status := map[string]string{}
	for _, token := range c.Must(admin(sdk.Command{Cmd: "list", Tenant: s.Tenant})).Tokens {
		status[token.TokenID] = token.Status
	}
	if len(status) != 3 || status[issued[0].TokenID] != "revoked" || status[issued[1].TokenID] != "valid" {
		s.T.Errorf("got %v, want the three tokens of the tenant, the first revoked", status)
	}
	err := c.Refused(admin(sdk.Command{Cmd: "revoke", Token: unknownToken}), "unknown_token")
	if err.Status != http.StatusNotFound || strings.Contains(err.Text, unknownToken) {
		s.T.Errorf("got %+v, want the status 404, and no secret", err)
	}
}
