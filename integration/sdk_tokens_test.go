package integration

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// shortLived issues a token for the stage's tenant.
func (s *sdkStage) shortLived(life time.Duration) (issued, time.Time) {
	s.t.Helper()
	request := tokenRequest(allowAll(s.room))
	request["right"].(object)["expires_at"] = in(life)
	token := s.edges[0].issueAs(s.edges[0].master, request)
	expires, err := time.Parse(time.RFC3339, token.ExpiresAt)
	if err != nil {
		s.t.Fatal(err)
	}
	return token, expires
}

// giveToken answers a client's token provider.
func (c *sdkClient) giveToken(token issued) {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "token", Token: token.Token, ExpiresAt: token.ExpiresAt})
}

// A token that no edge accepts is the end, without a retry.
func sdkBadToken(s *sdkStage) {
	zeros := strings.Repeat("0", 32)
	c := s.client()
	_, err := c.try(s.connecting(s.kind, sdkOptions{Token: "AT_" + zeros + "_" + zeros}))
	want := "unauthorized"
	if s.kind.blind() {
		want = "refused"
	}
	if err.ErrorCode() != want {
		s.t.Errorf("got %v, want %s", err, want)
	}
	if err != nil && strings.Contains(err.Text, zeros) {
		s.t.Errorf("the error holds the token: %v", err)
	}
	c.never("connected", "reconnecting")
}

func sdkRevocation(s *sdkStage) {
	token := s.edges[0].issue(allowAll(s.room))
	c, bystander := s.connect(sdkOptions{Token: token.Token}), s.connect(sdkOptions{})
	sub := c.subscribe(s.tenant, "#")
	s.edges[0].revoke(s.edges[0].master, token.Token).decode(s.t, http.StatusOK, new(object))
	if err := c.ended("token_revoked"); err != nil && err.CloseCode != int(wire.CloseForbidden) {
		s.t.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseForbidden)
	}
	sub.wantEnd("token_revoked")
	c.never("reconnecting", "moving")
	if _, err := c.try(sdkCommand{Cmd: "flush"}); err == nil {
		s.t.Error("a client that has ended flushes")
	}
	bystander.flush()
}

func sdkExpiry(s *sdkStage) {
	c := s.client()
	token, _ := s.shortLived(6 * time.Second) // by then it has subscribed
	c.must(s.connecting(s.kind, sdkOptions{Token: token.Token}))
	sub := c.subscribe(s.tenant, "#")
	if err := c.ended("token_expired"); err != nil && err.CloseCode != int(wire.CloseUnauthorized) {
		s.t.Errorf("got the close code %d, want %d", err.CloseCode, wire.CloseUnauthorized)
	}
	sub.wantEnd("token_expired")
	c.never("reconnecting", "moving")
}

// With a token provider the client moves to the next token before the first
// expires, and loses nothing.
func sdkProvider(s *sdkStage) {
	const life = 8 * time.Second
	c := s.client()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	first, expires := s.shortLived(life)
	c.event("tokenWanted")
	c.giveToken(first)
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	sub := c.subscribe(s.tenant, "n")
	stream := startNumbers(s.edges[0].dial(s.token()), s.tenant, "n")
	defer stream.halt()

	c.event("tokenWanted")
	if time.Now().After(expires) {
		s.t.Error("the next token was asked for when the first had expired")
	}
	c.giveToken(s.edges[0].issue(allowAll(s.room)))
	if e := c.event("moving"); e.Reason != "token" {
		s.t.Errorf("got %v, want the reason token", e)
	}
	c.event("moved")
	s.edges[0].poll("the first token to expire", func() bool { return time.Now().After(expires.Add(1500 * time.Millisecond)) })
	sent := stream.halt()
	for i := range sent {
		sub.want(s.tenant, "n", strconv.Itoa(i), "n")
	}
	c.flush()
	sub.wantNone()
	c.never("disconnected", "reconnecting")
	c.close()
}

// A provider that fails is asked again while there is time, and at the start it
// is the reason.
func sdkFailingProvider(s *sdkStage) {
	c := s.client()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Text: "the backend is down"})
	if r := c.answer(id, "connect"); r.Error.ErrorCode() != "token_provider" {
		s.t.Errorf("got %v, want token_provider", r.Error)
	}

	c = s.client()
	id = c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	first, _ := s.shortLived(8 * time.Second)
	c.event("tokenWanted")
	c.giveToken(first)
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Text: "the backend is down"})
	c.event("tokenWanted")
	c.giveToken(s.edges[0].issue(allowAll(s.room)))
	c.event("moved")
	c.never("disconnected", "closed")
}

// A client that is told that the rights have changed asks for the next token at once, and
// moves without loss.
func sdkRenewsNow(s *sdkStage) {
	c := s.client()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	first := s.edges[0].issue(allowAll(s.room))
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Token: first.Token}) // without an expiry it is never asked by itself
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	sub := c.subscribe(s.tenant, "n")
	stream := startNumbers(s.edges[0].dial(s.token()), s.tenant, "n")
	defer stream.halt()

	id = c.tell(sdkCommand{Cmd: "renewToken"})
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Token: s.edges[0].issue(allowAll(s.room)).Token})
	if r := c.answer(id, "renewToken"); r.Error != nil {
		s.t.Errorf("renewing: %v", r.Error)
	}
	if e := c.event("moving"); e.Reason != "token" {
		s.t.Errorf("got %v, want the reason token", e)
	}
	if e := c.event("moved"); e.Reason != "token" {
		s.t.Errorf("got %v, want the reason token", e)
	}
	before := stream.sent()
	s.edges[0].poll("messages after the move", func() bool { return stream.sent() > before+20 })
	s.edges[0].revoke(s.edges[0].master, first.Token).decode(s.t, http.StatusOK, new(object)) // it has left that one
	sub.wantNumbers(stream.halt())

	const why = "the backend is down"
	id = c.tell(sdkCommand{Cmd: "renewToken"})
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Text: why})
	if r := c.answer(id, "renewToken"); r.Error.ErrorCode() != "token_provider" || r.Error.Cause == nil || !strings.Contains(r.Error.Cause.Text, why) {
		s.t.Errorf("got %v, want token_provider, and why", r)
	}
	if e := c.event("edgeError"); e.Code != "token_provider" || e.Cause == nil || !strings.Contains(e.Cause.Text, why) {
		s.t.Errorf("got %v, want token_provider, and why", e)
	}
	c.flush()
	c.never("disconnected", "reconnecting")
	c.close()

	fixed := s.connect(sdkOptions{})
	if _, err := fixed.try(sdkCommand{Cmd: "renewToken"}); err.ErrorCode() != "bad_option" {
		s.t.Errorf("without a provider: got %v, want bad_option", err)
	}
	fixed.flush()
}

// A provider may say for how long a token is good. That counts, whatever the edge, or the
// time that the provider gives as well, says.
func sdkExpiresIn(s *sdkStage) {
	const life = 3000 // ms
	c := s.client()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	long := s.edges[0].issue(allowAll(s.room))
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Token: long.Token, ExpiresIn: life})
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	c.event("tokenWanted")
	next := s.edges[0].issue(allowAll(s.room))
	c.must(sdkCommand{Cmd: "token", Token: next.Token, ExpiresAt: next.ExpiresAt, ExpiresIn: life})
	if e := c.event("moved"); e.Reason != "token" {
		s.t.Errorf("got %v, want the reason token", e)
	}
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Token: next.Token, ExpiresAt: next.ExpiresAt})
	c.flush()
	c.never("disconnected", "reconnecting", "edgeError")
	c.close()
}

// A provider that says that there will be no token any more ends the client at once: when it
// connects, and later.
func sdkLoggedOut(s *sdkStage) {
	const why = "signed out at another device"
	saysWhy := func(err *sdkError) {
		s.t.Helper()
		if err.ErrorCode() != "logged_out" || err.Cause == nil || !strings.Contains(err.Cause.Text, why) {
			s.t.Errorf("got %+v, want logged_out, and the provider's error as its cause", err)
		}
	}
	c := s.client()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Text: why, LoggedOut: true})
	saysWhy(c.answer(id, "connect").Error)

	c = s.client()
	id = c.tell(s.connecting(s.kind, sdkOptions{Provider: true}))
	token := s.edges[0].issue(allowAll(s.room)).Token
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Token: token, ExpiresAt: time.Now().Add(4 * time.Second).UTC().Format(time.RFC3339Nano)})
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	sub := c.subscribe(s.tenant, "#")
	c.event("tokenWanted")
	c.must(sdkCommand{Cmd: "token", Text: why, LoggedOut: true})
	saysWhy(c.ended("logged_out"))
	sub.wantEnd("logged_out")
	c.never("disconnected", "reconnecting")
	if n := c.count("tokenWanted"); n != 2 {
		s.t.Errorf("the provider was asked %d times, want 2", n)
	}
}

// A backend that refreshes a token prolongs the connection.
func sdkRefresh(s *sdkStage) {
	c := s.client()
	token, expires := s.shortLived(6 * time.Second)
	c.must(s.connecting(s.kind, sdkOptions{Token: token.Token}))
	sub := c.subscribe(s.tenant, "#")
	s.edges[0].refresh(s.edges[0].master, token.TokenID, in(time.Hour)).decode(s.t, http.StatusOK, new(object))
	s.edges[0].poll("the old end to pass", func() bool { return time.Now().After(expires.Add(1500 * time.Millisecond)) })
	c.publish(s.tenant, "x", "still here")
	sub.want(s.tenant, "x", "still here", "#")
	c.never("disconnected", "moving")
}
