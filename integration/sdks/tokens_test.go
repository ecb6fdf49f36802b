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
	if err := c.Refused(s.Connecting(s.Kind, sdk.Options{Token: unknownToken}), "unauthorized"); strings.Contains(err.Text, unknownToken[3:]) {
		s.T.Errorf("the error holds the token: %v", err)
	}
	c.Never("connected", "reconnecting")
}

// When a token is revoked its client ends, and says why.
func revocation(s *stage) {
	token := s.Token()
	c := s.Connect(sdk.Options{Token: token})
	sub := c.Subscribe(s.Tenant, "#")
	s.revoke(token)
	if err := c.Ended("token_revoked"); err != nil && err.CloseCode != int(wire.CloseForbidden) {
		s.T.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseForbidden)
	}
	sub.WantEnd("token_revoked")
	c.Never("reconnecting", "moving")
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
func provided(s *stage, token sdk.Command) *sdk.Client {
	s.T.Helper()
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	give(c, token)
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatalf("%s: %v", s.Kind, r.Error)
	}
	return c
}

// renewed is a client that moves from its first token, which the provider describes so, to the
// next one, and loses nothing. The provider is asked for that after something has happened.
func renewed(s *stage, first sdk.Command, happens func(*sdk.Client)) *sdk.Client {
	s.T.Helper()
	first.Token = s.Token()
	c := provided(s, first)
	f := s.flow(s.Connect(sdk.Options{}), c)
	happens(c)
	give(c, sdk.Command{Token: s.Token()})
	s.told(c, "moving", "token", s.Edges[0].HttpsURL(""), s.Kind.Transport, f.say)
	s.told(c, "moved", "token", s.Edges[0].HttpsURL(""), s.Kind.Transport, f.say)
	s.revoke(first.Token) // which the client has left
	f.say()
	f.want(0)
	c.Never("disconnected", "reconnecting")
	return c
}

// With a token provider the client moves to the next token before the first expires. A provider
// that fails is asked again.
func provider(s *stage) {
	failure := sdk.Command{Text: "the backend is down"}
	renewed(s, sdk.Command{ExpiresAt: harness.In(6 * time.Second)}, func(c *sdk.Client) { give(c, failure) })
}

// A client that is told that the rights have changed asks for the next token at once, also where
// it would never do so by itself.
func renewsNow(s *stage) {
	var id int
	c := renewed(s, sdk.Command{}, func(c *sdk.Client) { id = c.Tell(sdk.Command{Cmd: "renewToken"}) })
	if r := c.Answer(id, "renewToken"); r.Error != nil {
		s.T.Errorf("renewing: %v", r.Error)
	}
}

// A provider may say for how long a token is good. That counts, whatever time it gives as well.
func expiresIn(s *stage) {
	renewed(s, sdk.Command{ExpiresAt: harness.In(time.Hour), ExpiresIn: 6000}, func(*sdk.Client) {})
}

// A provider that still gives a token that has expired is asked again, until it has another one.
func staleToken(s *stage) {
	issued := s.Edges[0].IssueAnywhere(harness.Object{"tenant_ids": []string{s.Tenant}})
	stale := sdk.Command{Token: issued.Token}
	c := provided(s, stale)
	s.Edges[0].Refresh(s.Edges[0].Master, issued.TokenID, harness.In(2*time.Second)).Decode(s.T, http.StatusOK, new(harness.Object))
	c.Event("disconnected")
	for range 3 {
		give(c, stale)
	}
	c.Never("ended")
	give(c, sdk.Command{Token: s.Token()})
	c.Event("reconnected")
}

// A provider that says that there will be no token any more ends the client.
func loggedOut(s *stage) {
	const why = "nobody is logged in"
	c := provided(s, sdk.Command{Token: s.Token(), ExpiresIn: 6000, ExpiresAt: harness.In(6 * time.Second)})
	give(c, sdk.Command{Text: why, LoggedOut: true})
	if err := c.Ended("logged_out"); err == nil || err.Cause == nil || !strings.Contains(err.Cause.Text, why) {
		s.T.Errorf("%s: got %+v, want the cause %s", s.Kind, err, why)
	}
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
	at, err := time.Parse(time.RFC3339, text)
	if left := time.Until(at); err != nil || left > 2*time.Hour+time.Second || left < time.Hour {
		s.T.Errorf("the token expires at %s, want in two hours (%v)", text, err)
	}
	live := s.Connect(sdk.Options{Token: issued[0].Token})
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
	c.Refused(admin(sdk.Command{Cmd: "revoke", Token: unknownToken}), "unknown_token")
}
