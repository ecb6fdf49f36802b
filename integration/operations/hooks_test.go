package operations

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What hooks refuse is refused over both transports, and they are told of the rest.
func TestHooks(t *testing.T) {
	t.Parallel()
	e, b := harness.StartHookedEdge(t)
	for _, tr := range conformance.Transports {
		t.Run(tr.Name, func(t *testing.T) {
			c := &harness.Stage{T: t, Edge: e.With(t), Transport: tr, Far: nil}
			c.Run("subscribe and publish", func(c *harness.Stage) { hooksDecide(c, b) })
			c.Run("connect", func(c *harness.Stage) { hooksDecideConnections(c, b) })
		})
	}
	t.Run("AUTH", func(t *testing.T) { hooksDecideAuth(e.With(t), b) })
	for _, secret := range []string{harness.HookSecret, e.Master[len(e.Master)-32:]} {
		if strings.Contains(e.Output(), secret) {
			t.Error("the edge wrote a secret")
		}
	}
	if n := e.Metrics()["millrace_hook_faults_total"]; n != 0 {
		t.Errorf("%v calls of hooks failed", n)
	}
	e.Reload(harness.DefaultCaddyfile) // and then nobody is asked
	token := e.Issue(harness.AllowAll("room", "closed"))
	b.Refuse(token.TokenID, "not any more")
	s := e.Dial(token.Token)
	s.Subscribe("paint.room", "denied")
	s.Subscribe("paint.closed", "a")
	s.Publish("paint.closed", "a", "x")
	s.ExpectDeliver("paint.closed", "a", "x", "a")
}

func hooksDecide(c *harness.Stage, b *harness.HookBackend) {
	token := c.Issue(harness.AllowAll("room", "closed"))
	s := c.Dial(token.Token)
	s.Subscribe("paint.room", "a.#")
	s.SendLine("SUB:paint.room:denied")
	s.ExpectText("ERR:permission_denied:SUB:paint.room:denied")
	s.SendLine("SUB:paint.room:silent")
	s.Ping() // the connection goes on meanwhile
	s.Publish("paint.room", "a.b", "x")
	s.ExpectDeliver("paint.room", "a.b", "x", "a.#")
	s.ExpectText("ERR:try_later:SUB:paint.room:silent")
	s.Publish("paint.closed", "a", "x")
	s.ExpectText("ERR:permission_denied:PUB:paint.closed:a")
	s.SendLine("UNSUB:paint.room:a.#")
	s.ExpectText("OK:UNSUB:paint.room:a.#")
	c.Revoke(c.Master, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	s.ExpectText("ERR:token_revoked")

	want := []string{"connect", "subscribe a.#", "unsubscribe a.#", "disconnect token_revoked"}
	c.Poll("the backend to hear of the end", func() bool { return len(b.EventsOf(token.TokenID)) >= len(want) })
	if got := b.EventsOf(token.TokenID); !slices.Equal(got, want) {
		c.T.Errorf("the backend heard of %q, want %q", got, want)
	}
	wantAudited(c.Edge, "connected", token.TokenID)
	wantAudited(c.Edge, "disconnected", token.TokenID, `"reason":"token_revoked"`)
	wantAudited(c.Edge, "token operation", token.TokenID, `"operation":"issue"`, `"status":200`, "paint.room")
	wantAudited(c.Edge, "token operation", token.TokenID, `"operation":"revoke"`)
	if strings.Contains(c.Output(), token.Token) || strings.Contains(c.Output(), token.Token[len(token.Token)-32:]) {
		c.T.Error("the edge wrote a token")
	}
}

// wantAudited requires a record of the hook audit with all of these.
func wantAudited(e *harness.Edge, message string, parts ...string) {
	e.T.Helper()
	e.Poll("a record of "+message, func() bool {
		for line := range strings.Lines(e.Output()) {
			if strings.Contains(line, `"logger":"pubsub.hooks.audit"`) && strings.Contains(line, `"msg":"`+message+`"`) &&
				!slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				return true
			}
		}
		return false
	})
}

func hooksDecideConnections(c *harness.Stage, b *harness.HookBackend) {
	for _, row := range []struct {
		reason string // empty: silence
		status int
		code   string
		detail string
	}{
		{harness.HookReason, http.StatusForbidden, "client_not_allowed", harness.HookReason},
		{"", http.StatusServiceUnavailable, "try_later", "the backend that has to allow it does not answer"},
	} {
		token := c.Issue(harness.AllowAll("room"))
		b.Refuse(token.TokenID, row.reason)
		s, refused := c.Open(harness.Handshake{Token: token.Token})
		if s != nil {
			c.T.Fatalf("the client has a session")
		}
		if p := refused.Problem(c.T, row.status, row.code); p.Detail != row.detail {
			c.T.Errorf("got the detail %q, want %q", p.Detail, row.detail)
		}
		if later := refused.Header.Get("Retry-After"); (later != "") != (row.status == http.StatusServiceUnavailable) {
			c.T.Errorf("%d came with Retry-After %q", row.status, later)
		}
		wantAudited(c.Edge, "refused", token.TokenID, row.code, c.Name)
	}
}

// Over AUTH the reason stands in the line.
func hooksDecideAuth(e *harness.Edge, b *harness.HookBackend) {
	token := e.Issue(harness.AllowAll("room"))
	b.Refuse(token.TokenID, harness.HookReason)
	s := e.MustOpenWebTransport(harness.Handshake{})
	s.SendLine("AUTH:" + token.Token)
	s.ExpectText("ERR:forbidden:client:" + harness.HookReason)
	s.ExpectClose(wire.CloseForbidden)

	b.Refuse(token.TokenID, "")
	s = e.MustOpenWebTransport(harness.Handshake{})
	s.SendLine("AUTH:" + token.Token)
	s.ExpectClose(wire.CloseTryLater)
}
