package sdks

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// shortLived issues a token for the stage's tenant.
func shortLived(s *sdk.Stage, life time.Duration) (harness.Issued, time.Time) {
	s.T.Helper()
	request := harness.TokenRequest(harness.AllowAll(s.Room))
	request["right"].(harness.Object)["expires_at"] = harness.In(life)
	token := s.Edges[0].IssueAs(s.Edges[0].Master, request)
	expires, err := time.Parse(time.RFC3339, token.ExpiresAt)
	if err != nil {
		s.T.Fatal(err)
	}
	return token, expires
}

// giveToken answers a client's token provider.
func giveToken(c *sdk.Client, token harness.Issued) {
	c.T.Helper()
	c.Must(sdk.Command{Cmd: "token", Token: token.Token, ExpiresAt: token.ExpiresAt})
}

// A token that no edge accepts is the end, without a retry.
func sdkBadToken(s *sdk.Stage) {
	zeros := strings.Repeat("0", 32)
	c := s.Client()
	_, err := c.Try(s.Connecting(s.Kind, sdk.Options{Token: "AT_" + zeros + "_" + zeros}))
	want := "unauthorized"
	if s.Kind.Blind() {
		want = "refused"
	}
	if err.ErrorCode() != want {
		s.T.Errorf("got %v, want %s", err, want)
	}
	if err != nil && strings.Contains(err.Text, zeros) {
		s.T.Errorf("the error holds the token: %v", err)
	}
	c.Never("connected", "reconnecting")
}

func sdkRevocation(s *sdk.Stage) {
	token := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c, bystander := s.Connect(sdk.Options{Token: token.Token}), s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "#")
	s.Edges[0].Revoke(s.Edges[0].Master, token.Token).Decode(s.T, http.StatusOK, new(harness.Object))
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

func sdkExpiry(s *sdk.Stage) {
	c := s.Client()
	token, _ := shortLived(s, 6*time.Second) // by then it has subscribed
	c.Must(s.Connecting(s.Kind, sdk.Options{Token: token.Token}))
	sub := c.Subscribe(s.Tenant, "#")
	if err := c.Ended("token_expired"); err != nil && err.CloseCode != int(wire.CloseUnauthorized) {
		s.T.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseUnauthorized)
	}
	sub.WantEnd("token_expired")
	c.Never("reconnecting", "moving")
}

// With a token provider the client moves to the next token before the first
// expires, and loses nothing.
func sdkProvider(s *sdk.Stage) {
	const life = 8 * time.Second
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	first, expires := shortLived(s, life)
	c.Event("tokenWanted")
	giveToken(c, first)
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	sub := c.Subscribe(s.Tenant, "n")
	stream := startNumbers(s.Edges[0].Dial(s.Token()), s.Tenant, "n")
	defer stream.halt()

	c.Event("tokenWanted")
	if time.Now().After(expires) {
		s.T.Error("the next token was asked for when the first had expired")
	}
	giveToken(c, s.Edges[0].Issue(harness.AllowAll(s.Room)))
	if e := c.Event("moving"); e.Reason != "token" {
		s.T.Errorf("got %v, want the reason token", e)
	}
	c.Event("moved")
	s.Edges[0].Poll("the first token to expire", func() bool { return time.Now().After(expires.Add(1500 * time.Millisecond)) })
	sent := stream.halt()
	for i := range sent {
		sub.Want(s.Tenant, "n", strconv.Itoa(i), "n")
	}
	c.Flush()
	sub.WantNone()
	c.Never("disconnected", "reconnecting")
	c.Close()
}

// A provider that fails is asked again while there is time, and at the start it
// is the reason.
func sdkFailingProvider(s *sdk.Stage) {
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Text: "the backend is down"})
	if r := c.Answer(id, "connect"); r.Error.ErrorCode() != "token_provider" {
		s.T.Errorf("got %v, want token_provider", r.Error)
	}

	c = s.Client()
	id = c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	first, _ := shortLived(s, 8*time.Second)
	c.Event("tokenWanted")
	giveToken(c, first)
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Text: "the backend is down"})
	c.Event("tokenWanted")
	giveToken(c, s.Edges[0].Issue(harness.AllowAll(s.Room)))
	c.Event("moved")
	c.Never("disconnected", "closed")
}

// A client that is told that the rights have changed asks for the next token at once, and
// moves without loss.
func sdkRenewsNow(s *sdk.Stage) {
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	first := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: first.Token}) // without an expiry it is never asked by itself
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	sub := c.Subscribe(s.Tenant, "n")
	stream := startNumbers(s.Edges[0].Dial(s.Token()), s.Tenant, "n")
	defer stream.halt()

	id = c.Tell(sdk.Command{Cmd: "renewToken"})
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: s.Edges[0].Issue(harness.AllowAll(s.Room)).Token})
	if r := c.Answer(id, "renewToken"); r.Error != nil {
		s.T.Errorf("renewing: %v", r.Error)
	}
	if e := c.Event("moving"); e.Reason != "token" {
		s.T.Errorf("got %v, want the reason token", e)
	}
	if e := c.Event("moved"); e.Reason != "token" {
		s.T.Errorf("got %v, want the reason token", e)
	}
	before := stream.sent()
	s.Edges[0].Poll("messages after the move", func() bool { return stream.sent() > before+20 })
	s.Edges[0].Revoke(s.Edges[0].Master, first.Token).Decode(s.T, http.StatusOK, new(harness.Object)) // it has left that one
	wantNumbers(sub, stream.halt())

	const why = "the backend is down"
	id = c.Tell(sdk.Command{Cmd: "renewToken"})
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Text: why})
	if r := c.Answer(id, "renewToken"); r.Error.ErrorCode() != "token_provider" || r.Error.Cause == nil || !strings.Contains(r.Error.Cause.Text, why) {
		s.T.Errorf("got %v, want token_provider, and why", r)
	}
	if e := c.Event("edgeError"); e.Code != "token_provider" || e.Cause == nil || !strings.Contains(e.Cause.Text, why) {
		s.T.Errorf("got %v, want token_provider, and why", e)
	}
	c.Flush()
	c.Never("disconnected", "reconnecting")
	c.Close()

	fixed := s.Connect(sdk.Options{})
	if _, err := fixed.Try(sdk.Command{Cmd: "renewToken"}); err.ErrorCode() != "bad_option" {
		s.T.Errorf("without a provider: got %v, want bad_option", err)
	}
	fixed.Flush()
}

// A provider may say for how long a token is good. That counts, whatever the edge, or the
// time that the provider gives as well, says.
func sdkExpiresIn(s *sdk.Stage) {
	const life = 3000 // ms
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	long := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: long.Token, ExpiresIn: life})
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	c.Event("tokenWanted")
	next := s.Edges[0].Issue(harness.AllowAll(s.Room))
	c.Must(sdk.Command{Cmd: "token", Token: next.Token, ExpiresAt: next.ExpiresAt, ExpiresIn: life})
	if e := c.Event("moved"); e.Reason != "token" {
		s.T.Errorf("got %v, want the reason token", e)
	}
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: next.Token, ExpiresAt: next.ExpiresAt})
	c.Flush()
	c.Never("disconnected", "reconnecting", "edgeError")
	c.Close()
}

// A provider that says that there will be no token any more ends the client at once: when it
// connects, and later.
func sdkLoggedOut(s *sdk.Stage) {
	const why = "signed out at another device"
	saysWhy := func(err *sdk.Error) {
		s.T.Helper()
		if err.ErrorCode() != "logged_out" || err.Cause == nil || !strings.Contains(err.Cause.Text, why) {
			s.T.Errorf("got %+v, want logged_out, and the provider's error as its cause", err)
		}
	}
	c := s.Client()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Text: why, LoggedOut: true})
	saysWhy(c.Answer(id, "connect").Error)

	c = s.Client()
	id = c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true}))
	token := s.Edges[0].Issue(harness.AllowAll(s.Room)).Token
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Token: token, ExpiresAt: time.Now().Add(4 * time.Second).UTC().Format(time.RFC3339Nano)})
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	sub := c.Subscribe(s.Tenant, "#")
	c.Event("tokenWanted")
	c.Must(sdk.Command{Cmd: "token", Text: why, LoggedOut: true})
	saysWhy(c.Ended("logged_out"))
	sub.WantEnd("logged_out")
	c.Never("disconnected", "reconnecting")
	if n := c.Count("tokenWanted"); n != 2 {
		s.T.Errorf("the provider was asked %d times, want 2", n)
	}
}

// A backend that refreshes a token prolongs the connection.
func sdkRefresh(s *sdk.Stage) {
	c := s.Client()
	token, expires := shortLived(s, 6*time.Second)
	c.Must(s.Connecting(s.Kind, sdk.Options{Token: token.Token}))
	sub := c.Subscribe(s.Tenant, "#")
	s.Edges[0].Refresh(s.Edges[0].Master, token.TokenID, harness.In(time.Hour)).Decode(s.T, http.StatusOK, new(harness.Object))
	s.Edges[0].Poll("the old end to pass", func() bool { return time.Now().After(expires.Add(1500 * time.Millisecond)) })
	c.Publish(s.Tenant, "x", "still here")
	sub.Want(s.Tenant, "x", "still here", "#")
	c.Never("disconnected", "moving")
}
