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

// give is what the client's token provider answers when it is asked.
func give(c *sdk.Client, token sdk.Command) {
	c.T.Helper()
	c.Event("tokenWanted")
	token.Cmd = "token"
	c.Must(token)
}

// provided connects a client with a token provider that answers so.
func provided(s *stage, token sdk.Command) (*sdk.Client, *sdk.Error) {
	s.T.Helper()
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	give(c, token)
	return c, c.Answer(id, "connect").Error
}

func expiresAfter(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

// failure is a provider's, and saysWhy requires that an error has this cause.
var failure = sdk.Command{Text: "the backend is down"}

func saysWhy(s *stage, err *sdk.Error, code string) {
	s.T.Helper()
	if err.ErrorCode() != code || err.Cause == nil || !strings.Contains(err.Cause.Text, failure.Text) {
		s.T.Errorf("%s: got %+v, want %s, and why", s.Kind, err, code)
	}
}

// renewed is a client that moves from its first token, which the provider describes so, to the
// next one, and loses nothing. The provider is asked for that after something has happened.
func renewed(s *stage, first sdk.Command, happens func(*sdk.Client)) *sdk.Client {
	s.T.Helper()
	token, next := s.issue(), s.issue()
	first.Token = token.Token
	c, err := provided(s, first)
	if err != nil {
		s.T.Fatal(err)
	}
	m := s.member(c)
	sent, halt := s.publish(s.Edges[0], "n")
	m.reach(10)
	happens(c)
	give(c, sdk.Command{Token: next.Token})
	for _, event := range []string{"moving", "moved"} {
		if e := m.Event(event); e.Reason != "token" {
			s.T.Errorf("got %v, want the reason token", e)
		}
	}
	m.reach(sent() + 20)
	revoke(s, token) // which the client has left
	m.wantAll(halt())
	m.Never("disconnected", "reconnecting")
	return c
}

// With a token provider the client moves to the next token before the first expires. A provider
// that fails is asked again; at the start it is the reason.
func provider(s *stage) {
	_, err := provided(s, failure)
	saysWhy(s, err, "token_provider")
	renewed(s, sdk.Command{ExpiresAt: expiresAfter(6 * time.Second)}, func(c *sdk.Client) { give(c, failure) })
}

// A client that is told that the rights have changed asks for the next token at once, also where
// it would never do so by itself.
func renewsNow(s *stage) {
	var id int
	c := renewed(s, sdk.Command{}, func(c *sdk.Client) { id = c.Tell(sdk.Command{Cmd: "renewToken"}) })
	if r := c.Answer(id, "renewToken"); r.Error != nil {
		s.T.Errorf("renewing: %v", r.Error)
	}
	id = c.Tell(sdk.Command{Cmd: "renewToken"})
	give(c, failure)
	saysWhy(s, c.Answer(id, "renewToken").Error, "token_provider")
	s.Connect(sdk.Options{}).Refused(sdk.Command{Cmd: "renewToken"}, "bad_option") // there is no provider
}

// A provider may say for how long a token is good. That counts, whatever time it gives as well.
func expiresIn(s *stage) {
	renewed(s, sdk.Command{ExpiresAt: expiresAfter(time.Hour), ExpiresIn: 6000}, func(*sdk.Client) {})
}

// A provider that says that there will be no token any more ends the client: when it connects,
// and later.
func loggedOut(s *stage) {
	out := sdk.Command{Text: failure.Text, LoggedOut: true}
	_, err := provided(s, out)
	saysWhy(s, err, "logged_out")
	c, err := provided(s, sdk.Command{Token: s.issue().Token, ExpiresIn: 6000, ExpiresAt: expiresAfter(6 * time.Second)})
	if err != nil {
		s.T.Fatal(err)
	}
	sub := c.Subscribe(s.Tenant, "#")
	give(c, out)
	saysWhy(s, c.Ended("logged_out"), "logged_out")
	sub.WantEnd("logged_out")
	c.Never("disconnected", "reconnecting")
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
