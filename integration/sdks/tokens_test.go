package sdks

import (
	"net/http"
	"slices"
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

func revocation(s *stage) {
	token := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c, bystander := s.Connect(sdk.Options{Token: token.Token}), s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "#")
	revoke(s, token)
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

func revoke(s *stage, token harness.Issued) {
	s.T.Helper()
	s.Edges[0].Revoke(s.Edges[0].Master, token.Token).Decode(s.T, http.StatusOK, new(harness.Object))
}

// A connection lives as long as its token, of which a backend can change the end.
func expiry(s *stage) {
	token := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c := s.Connect(sdk.Options{Token: token.Token})
	sub := c.Subscribe(s.Tenant, "#")
	refresh := func(life time.Duration) {
		s.T.Helper()
		s.Edges[0].Refresh(s.Edges[0].Master, token.TokenID, harness.In(life)).Decode(s.T, http.StatusOK, new(harness.Object))
	}
	const soon = 8 * time.Second // longer than the next call takes
	refresh(soon)
	first := time.Now().Add(soon)
	refresh(time.Hour)
	s.Edges[0].Poll("the first end to pass", func() bool { return time.Now().After(first.Add(1500 * time.Millisecond)) })
	c.Publish(s.Tenant, "x", "still here")
	sub.Want(s.Tenant, "x", "still here", "#")
	c.Never("disconnected", "moving")

	refresh(time.Second)
	if err := c.Ended("token_expired"); err != nil && err.CloseCode != int(wire.CloseUnauthorized) {
		s.T.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseUnauthorized)
	}
	sub.WantEnd("token_expired")
	c.Never("reconnecting", "moving")
}

const whyNoToken = "the backend is down"

// provided connects a client with a token provider, to which give is the answer.
func provided(s *stage, give func(c *sdk.Client)) *sdk.Client {
	s.T.Helper()
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	c.Event("tokenWanted")
	give(c)
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	return c
}

// expiring gives a token of an hour that the provider says to be good for this time only.
func expiring(token harness.Issued, life time.Duration) func(*sdk.Client) {
	return func(c *sdk.Client) {
		c.T.Helper()
		c.Must(sdk.Command{Cmd: "token", Token: token.Token, ExpiresAt: time.Now().Add(life).UTC().Format(time.RFC3339Nano)})
	}
}

// failing is the provider's failure.
func failing(c *sdk.Client) {
	c.T.Helper()
	c.Must(sdk.Command{Cmd: "token", Text: whyNoToken})
}

func saysWhy(c *sdk.Client, err *sdk.Error, code string) {
	c.T.Helper()
	if err.ErrorCode() != code || err.Cause == nil || !strings.Contains(err.Cause.Text, whyNoToken) {
		c.T.Errorf("%s: got %+v, want %s, and why", c.Kind, err, code)
	}
}

// With a token provider the client moves to the next token before the first expires, and
// loses nothing. A provider that fails is asked again; at the start it is the reason.
func provider(s *stage) {
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	c.Event("tokenWanted")
	failing(c)
	saysWhy(c, c.Answer(id, "connect").Error, "token_provider")

	first, next := s.Edges[0].Issue(harness.AllowAll(s.Room)), s.Edges[0].Issue(harness.AllowAll(s.Room))
	c = provided(s, expiring(first, 6*time.Second))
	m := s.member(c)
	c.Event("tokenWanted")
	failing(c)
	c.Event("tokenWanted")
	movesTo(s, m, first, expiring(next, time.Hour))
}

// movesTo gives the next token, for which the provider is asked, and requires that the client
// moves to it without a loss.
func movesTo(s *stage, m *member, first harness.Issued, give func(*sdk.Client)) {
	s.T.Helper()
	stream := s.publish(s.Edges[0], "n")
	m.reach(10)
	give(m.Client)
	for _, event := range []string{"moving", "moved"} {
		if e := m.Event(event); e.Reason != "token" {
			s.T.Errorf("got %v, want the reason token", e)
		}
	}
	m.reach(stream.sent() + 20)
	revoke(s, first) // which the client has left
	m.wantAll(stream.halt())
	m.Flush()
	m.Never("disconnected", "reconnecting")
}

// A client that is told that the rights have changed asks for the next token at once.
func renewsNow(s *stage) {
	first, next := s.Edges[0].Issue(harness.AllowAll(s.Room)), s.Edges[0].Issue(harness.AllowAll(s.Room))
	c := provided(s, func(c *sdk.Client) { c.Must(sdk.Command{Cmd: "token", Token: first.Token}) }) // without an end it is never asked by itself
	m := s.member(c)
	id := c.Tell(sdk.Command{Cmd: "renewToken"})
	c.Event("tokenWanted")
	movesTo(s, m, first, func(c *sdk.Client) { c.Must(sdk.Command{Cmd: "token", Token: next.Token}) })
	if r := c.Answer(id, "renewToken"); r.Error != nil {
		s.T.Errorf("renewing: %v", r.Error)
	}
	id = c.Tell(sdk.Command{Cmd: "renewToken"})
	c.Event("tokenWanted")
	failing(c)
	saysWhy(c, c.Answer(id, "renewToken").Error, "token_provider")
	if e := c.Event("edgeError"); e.Code != "token_provider" {
		s.T.Errorf("got %v, want token_provider", e)
	}
	s.Connect(sdk.Options{}).Refused(sdk.Command{Cmd: "renewToken"}, "bad_option") // there is no provider
}

// A provider may say for how long a token is good. That counts, whatever the time says that it
// gives as well.
func expiresIn(s *stage) {
	first, next := s.Edges[0].Issue(harness.AllowAll(s.Room)), s.Edges[0].Issue(harness.AllowAll(s.Room))
	c := provided(s, func(c *sdk.Client) {
		c.Must(sdk.Command{Cmd: "token", Token: first.Token, ExpiresAt: first.ExpiresAt, ExpiresIn: 3000})
	})
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: next.Token, ExpiresAt: next.ExpiresAt})
	if e := c.Event("moved"); e.Reason != "token" {
		s.T.Errorf("got %v, want the reason token", e)
	}
	c.Never("disconnected", "reconnecting", "edgeError")
}

// A provider that says that there will be no token any more ends the client at once: when it
// connects, and later.
func loggedOut(s *stage) {
	out := sdk.Command{Cmd: "token", Text: whyNoToken, LoggedOut: true}
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	c.Event("tokenWanted")
	c.Must(out)
	saysWhy(c, c.Answer(id, "connect").Error, "logged_out")

	c = provided(s, expiring(s.Edges[0].Issue(harness.AllowAll(s.Room)), 4*time.Second))
	sub := c.Subscribe(s.Tenant, "#")
	c.Event("tokenWanted")
	c.Must(out)
	saysWhy(c, c.Ended("logged_out"), "logged_out")
	sub.WantEnd("logged_out")
	c.Never("disconnected", "reconnecting")
}

// What an SDK makes of the refusals of hooks.
func hooks(s *stage) {
	c := s.Connect(sdk.Options{})
	c.Subscribe(s.Tenant, "fine")
	for pattern, want := range map[string]string{"denied": "permission_denied", "silent": "try_later"} {
		_, subscribe := c.Subscription("iterate", s.Tenant, pattern, nil)
		if err := c.Refused(subscribe, want); err.Pattern != pattern {
			s.T.Errorf("got %+v, want the pattern %s", err, pattern)
		}
	}
	closed := s.Connect(sdk.Options{Token: s.Edges[0].Issue(harness.AllowAll("closed")).Token})
	closed.Publish("paint.closed", "a", "x")
	if e := closed.Event("publishError"); e.Code != "permission_denied" || e.Channel != "a" {
		s.T.Errorf("got %v, want permission_denied for the channel a", e)
	}

	token := s.Edges[0].Issue(harness.AllowAll(s.Room))
	s.backend.Refuse(token.TokenID, harness.HookReason)
	want, text := "client_not_allowed", harness.HookReason
	if s.Kind.Blind() {
		want, text = "refused", ""
	}
	refused := s.Client()
	if err := refused.Refused(s.Connecting(s.Kind, sdk.Options{Token: token.Token}), want); !strings.Contains(err.Text, text) {
		s.T.Errorf("got %v, want the reason %q", err, text)
	}
	refused.Never("connected", "reconnecting")
	c.Never("disconnected", "subscriptionError", "edgeError")
}

// turnedAway is a client that has lost its connection, and to which the edge, whose backend can
// say nothing about its token, answers 503.
func turnedAway(s *stage, options sdk.Options) (c *sdk.Client, sub *sdk.Sub, token harness.Issued) {
	s.T.Helper()
	token = s.Edges[0].Issue(harness.AllowAll(s.Room))
	options.Token = token.Token
	c = s.Connect(options)
	sub = c.Subscribe(s.Tenant, "n")
	s.backend.SetDown(token.TokenID, true)
	disconnect(s, token.TokenID)
	c.Event("disconnected")
	s.Edges[0].Poll("the client to be refused", func() bool { return len(s.backend.AskedOf(token.TokenID)) > 1 })
	return c, sub, token
}

// An application that knows better than to wait lets the client try at once. By itself it
// would do so in some days.
func retries(s *stage) {
	const days = 2_000_000_000 // ms, 23 days
	c, sub, token := turnedAway(s, sdk.Options{MinBackOff: days, MaxBackOff: days})
	waits := func(r sdk.Report) bool { return r.Delay > sdk.InMS(2*sdk.Limit) }
	c.EventThat(waits, "reconnecting")
	c.Must(sdk.Command{Cmd: "retry"})
	c.EventThat(waits, "reconnecting")
	s.backend.SetDown(token.TokenID, false)
	c.Must(sdk.Command{Cmd: "retry"})
	c.Event("reconnected")
	c.Must(sdk.Command{Cmd: "retry"}) // there is nothing to do
	c.Publish(s.Tenant, "n", "again")
	sub.Want(s.Tenant, "n", "again", "n")
	c.Never("closed", "moving")
}

// An edge that says how long to wait is left alone for so long, by clients that can hear it.
func retriesAfter(s *stage) {
	const asked = 5 * time.Second // the edge's Retry-After
	c, sub, token := turnedAway(s, sdk.Options{})
	s.backend.SetDown(token.TokenID, false)
	c.Event("reconnected")
	at := s.backend.AskedOf(token.TokenID)
	if pause := at[2].Sub(at[1]); pause < asked && !s.Kind.InBrowser() && !s.Kind.Blind() {
		s.T.Errorf("the client came again after %v, want %v at least, as the edge has asked", pause, asked)
	}
	c.Publish(s.Tenant, "n", "again")
	sub.Want(s.Tenant, "n", "again", "n")
	c.Never("closed", "moving")
}

// A backend issues, refreshes, revokes and lists tokens; a browser must not have a master
// token.
func tokenAdmin(s *stage) {
	c := s.Client()
	as := func(master string, command sdk.Command) sdk.Command {
		command.Addresses, command.Master = s.Addresses(s.Edges[0]), master
		return command
	}
	master := s.Edges[0].Master
	issue := as(master, sdk.Command{Cmd: "issue", Tenant: s.Room, Rules: []string{"news.#"}, Seconds: 900})
	if s.Kind.InBrowser() {
		c.Refused(issue, "bad_option")
		return
	}
	var issued []sdk.Report
	for range 3 { // more than a page
		issued = append(issued, c.Must(issue))
	}
	expires := c.Must(as(master, sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 7200})).ExpiresAt
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
	c.Must(as(master, sdk.Command{Cmd: "revoke", Token: issued[0].Token}))
	_ = live.Ended("token_revoked")

	status := map[string]string{}
	for _, token := range c.Must(as(master, sdk.Command{Cmd: "list", Tenant: s.Tenant})).Tokens {
		status[token.TokenID] = token.Status
	}
	if len(status) != 3 || status[issued[0].TokenID] != "revoked" || status[issued[1].TokenID] != "valid" {
		s.T.Errorf("got %v, want the three tokens of the tenant, the first revoked", status)
	}
	for _, row := range []struct {
		command sdk.Command
		code    string
		status  int
	}{
		{as(strings.Replace(unknownToken, "AT", "MT", 1), issue), "bad_master_token", 401},
		{as(master, sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 60}), "token_revoked", 409},
		{as(master, sdk.Command{Cmd: "revoke", Token: unknownToken}), "unknown_token", 404},
		{as(master, sdk.Command{Cmd: "issue", Tenant: s.Room, Rules: []string{"a..b"}, Seconds: 60}), "invalid_body", 400},
	} {
		err := c.Refused(row.command, row.code)
		secrets := slices.DeleteFunc([]string{row.command.Master, row.command.Token}, func(s string) bool { return s == "" })
		if err.Status != row.status || slices.ContainsFunc(secrets, func(secret string) bool { return strings.Contains(err.Text, secret) }) {
			s.T.Errorf("%s: got %+v, want the status %d, and no secret", row.command.Cmd, err, row.status)
		}
	}
}
