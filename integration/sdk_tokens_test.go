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
