package sdks

import (
	"maps"
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

// When a token is revoked its client ends, and says why.
func revocation(s *stage) {
	token := s.Token()
	c, bystander := s.Connect(sdk.Options{Token: token}), s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "#")
	s.revoke(token)
	if err := c.Ended("token_revoked"); err != nil && err.CloseCode != int(wire.CloseForbidden) {
		s.T.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseForbidden)
	}
	sub.WantEnd("token_revoked")
	c.Never("reconnecting", "moving")
	if _, err := c.Try(sdk.Command{Cmd: "flush"}); err == nil {
		s.T.Error("a client that has ended flushes")
	}
	bystander.Flush()
}

func (s *stage) revoke(token string) {
	s.T.Helper()
	s.Edges[0].Revoke(s.Edges[0].Master, token).Decode(s.T, http.StatusOK, new(harness.Object))
}

// disconnect has the edge end the connections of a token.
func (s *stage) disconnect(token string) {
	s.T.Helper()
	which := harness.Object{"token_id": strings.Split(token, "_")[1]}
	s.Edges[0].AdminCall("POST", "/pubsub/connections/disconnect", which).Decode(s.T, http.StatusOK, new(harness.Object))
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
	first.Token = s.Token()
	c, err := provided(s, first)
	if err != nil {
		s.T.Fatal(err)
	}
	f := s.flow(s.Connect(sdk.Options{}), c)
	happens(c)
	give(c, sdk.Command{Token: s.Token()})
	s.told(c, "moving", "token", s.Edges[0].HttpsURL(""), s.Kind.Transport, f.say)
	s.told(c, "moved", "token", s.Edges[0].HttpsURL(""), s.Kind.Transport, f.say)
	s.revoke(first.Token) // which the client has left
	f.say()
	f.wantAll()
	c.Never("disconnected", "reconnecting")
	return c
}

// With a token provider the client moves to the next token before the first expires. A provider
// that fails is asked again; at the start it is the reason.
func provider(s *stage) {
	_, err := provided(s, failure)
	saysWhy(s, err, "token_provider")
	renewed(s, sdk.Command{ExpiresAt: harness.In(6 * time.Second)}, func(c *sdk.Client) { give(c, failure) })
}

// A client that is told that the rights have changed asks for the next token at once, also where
// it would never do so by itself.
func renewsNow(s *stage) {
	var id int
	renew := func(c *sdk.Client) { id = c.Tell(sdk.Command{Cmd: "renewToken"}) }
	c := renewed(s, sdk.Command{}, renew)
	if r := c.Answer(id, "renewToken"); r.Error != nil {
		s.T.Errorf("renewing: %v", r.Error)
	}
	renew(c)
	give(c, failure)
	saysWhy(s, c.Answer(id, "renewToken").Error, "token_provider")
}

// A provider may say for how long a token is good. That counts, whatever time it gives as well.
func expiresIn(s *stage) {
	renewed(s, sdk.Command{ExpiresAt: harness.In(time.Hour), ExpiresIn: 6000}, func(*sdk.Client) {})
}

// A provider that says that there will be no token any more ends the client.
func loggedOut(s *stage) {
	c, err := provided(s, sdk.Command{Token: s.Token(), ExpiresIn: 6000, ExpiresAt: harness.In(6 * time.Second)})
	if err != nil {
		s.T.Fatal(err)
	}
	sub := c.Subscribe(s.Tenant, "#")
	give(c, sdk.Command{Text: failure.Text, LoggedOut: true})
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
	text := c.Must(admin(sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 7200})).ExpiresAt
	if at, err := time.Parse(time.RFC3339, text); err != nil || time.Until(at) > 2*time.Hour+time.Second || time.Until(at) < time.Hour {
		s.T.Errorf("the token expires at %s, want in two hours (%v)", text, err)
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
	if want := map[string]string{issued[0].TokenID: "revoked", issued[1].TokenID: "valid", issued[2].TokenID: "valid"}; !maps.Equal(status, want) {
		s.T.Errorf("got %v, want %v", status, want)
	}
	err := c.Refused(admin(sdk.Command{Cmd: "revoke", Token: unknownToken}), "unknown_token")
	if err.Status != http.StatusNotFound || strings.Contains(err.Text, unknownToken) {
		s.T.Errorf("got %+v, want the status 404, and no secret", err)
	}
}
