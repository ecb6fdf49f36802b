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

// What hooks refuse is refused over both transports, and they are told of the rest: the
// webhook's backend, the audit, and the hook of examples/plugin, which a build adds.
func TestHooks(t *testing.T) {
	t.Parallel()
	e, b := harness.StartHookedEdge(t)
	for _, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr}
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
		c.Revoke(c.Master, token.Token).Decode(t, http.StatusOK, new(harness.Object))
		s.ExpectText("ERR:token_revoked")
		want := []string{"connect", "subscribe a.#", "disconnect token_revoked"}
		c.Poll("the backend to hear of the end", func() bool { return len(b.EventsOf(token.TokenID)) >= len(want) })
		if got := b.EventsOf(token.TokenID); !slices.Equal(got, want) {
			t.Errorf("the backend heard of %q, want %q", got, want)
		}
		wantAudited(e, "connected", token.TokenID)
		wantAudited(e, "disconnected", token.TokenID, `"reason":"token_revoked"`)
		wantAudited(e, "token operation", token.TokenID, `"operation":"issue"`, `"status":200`, "paint.room")

		for reason, status := range map[string]int{harness.HookReason: http.StatusForbidden, "": http.StatusServiceUnavailable} {
			token := c.Issue(harness.AllowAll("room"))
			b.Refuse(token.TokenID, reason)
			code, detail := "client_not_allowed", reason
			if reason == "" { // silence
				code, detail = "try_later", "the backend that has to allow it does not answer"
			}
			_, refused := c.Open(harness.Handshake{Token: token.Token})
			if p := refused.Problem(t, status, code); p.Detail != detail || (refused.Header.Get("Retry-After") != "") != (reason == "") {
				t.Errorf("got the detail %q, Retry-After %q", p.Detail, refused.Header.Get("Retry-After"))
			}
			wantAudited(e, "refused", token.TokenID, code, tr.Name)
			auth := e.MustOpenWebTransport(harness.Handshake{})
			auth.SendLine("AUTH:" + token.Token)
			if reason == "" {
				auth.ExpectClose(wire.CloseTryLater)
				continue
			}
			auth.ExpectText("ERR:forbidden:client:" + reason)
			auth.ExpectClose(wire.CloseForbidden)
		}
	}
	for _, secret := range []string{harness.HookSecret, e.Master[len(e.Master)-32:], "AT_"} {
		if strings.Contains(e.Output(), secret) {
			t.Errorf("the edge wrote %q", secret)
		}
	}
	if n := e.Metrics()["millrace_hook_faults_total"]; n != 0 {
		t.Errorf("%v calls of hooks failed", n)
	}
	e.Reload(harness.DefaultCaddyfile) // and then nobody is asked
	s := e.Dial(e.Issue(harness.AllowAll("closed")).Token)
	s.Subscribe("paint.closed", "denied")
	s.Publish("paint.closed", "denied", "x")
	s.ExpectDeliver("paint.closed", "denied", "x", "denied")
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
