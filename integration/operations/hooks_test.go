package operations

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// hookedCaddyfile has every hook that comes with an edge.
var hookedCaddyfile = strings.Replace(harness.DefaultCaddyfile, "pubsub {", `pubsub {
		hook audit
		hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			ask connect subscribe {
				on_silence refuse
				timeout 4s
			}
		}`, 1)

// What hooks refuse is refused over both transports, and they are notified of the rest: the
// webhook's backend, and the audit. TestPlugin has a hook that a build adds.
func TestHooks(t *testing.T) {
	t.Parallel()
	b := harness.StartHookBackend(t)
	e := harness.StartEdge(t, hookedCaddyfile, b.Options()...)
	audited := func(message string, parts ...string) {
		e.AwaitLine(append(parts, `"logger":"pubsub.hooks.audit"`, `"msg":"`+message+`"`)...)
	}
	for _, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr}
		token := c.Issue(harness.AllowAll("room"))
		s := c.Dial(token.Token)
		s.Subscribe("paint.room", "a.#")
		s.SendLine("SUB:paint.room:denied")
		s.ExpectText("ERR:permission_denied:SUB:paint.room:denied")
		s.SendLine("SUB:paint.room:silent")
		s.Ping() // the connection goes on meanwhile
		s.Publish("paint.room", "a.b", "x")
		s.ExpectDeliver("paint.room", "a.b", "x", "a.#")
		s.ExpectText("ERR:try_later:SUB:paint.room:silent")
		c.Revoke(c.Master, token.Token).Decode(t, http.StatusOK, new(harness.Object))
		s.ExpectText("ERR:token_revoked")
		c.Poll("the backend to hear of the end", func() bool {
			return slices.Equal(b.EventsOf(token.TokenID), []string{"connect", "subscribe a.#", "disconnect token_revoked"})
		})
		audited("connected", token.TokenID)
		audited("disconnected", token.TokenID, `"reason":"token_revoked"`)
		audited("token operation", token.TokenID, `"operation":"issue"`, `"status":200`, "paint.room")

		refusedToken, silent := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
		b.Refuse(refusedToken.TokenID, "closed: come back at 9")
		b.Refuse(silent.TokenID, "")
		_, refused := c.Open(harness.Handshake{Token: refusedToken.Token})
		if p := refused.Problem(t, http.StatusForbidden, "client_not_allowed"); p.Detail != "closed: come back at 9" {
			t.Errorf("got the detail %q", p.Detail)
		}
		audited("refused", refusedToken.TokenID, "client_not_allowed", tr.Name)
		_, refused = c.Open(harness.Handshake{Token: silent.Token})
		if refused.Problem(t, http.StatusServiceUnavailable, "try_later"); refused.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
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
	e.Dial(e.Issue(harness.AllowAll("room")).Token).Subscribe("paint.room", "denied")
}
