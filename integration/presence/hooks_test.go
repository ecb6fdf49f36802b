package presence

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A backend is told who comes and goes, once for all connections of a subject, and after the
// linger where one was lost.
func TestPresenceHooks(t *testing.T) {
	t.Parallel()
	b := harness.StartHookBackend(t)
	e := harness.StartEdge(t, strings.Replace(harness.WithPresence("linger 10s"), "drain ", `hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			events join leave
		}
		drain `, 1), b.Options()...)
	told := func(subject string, want ...string) {
		t.Helper()
		e.Poll("the backend to be told of "+subject, func() bool { return len(b.EventsOf(subject)) >= len(want) })
		if got := b.EventsOf(subject); !slices.Equal(got, want) {
			t.Errorf("the backend was told of %s: %q, want %q", subject, got, want)
		}
	}
	p := newPresenceCase(t, "WebTransport", e)
	ann, again, bob, eve := p.as(e, "ann"), p.as(e, "ann"), p.as(e, "bob"), p.as(e, "eve")
	ann.Join(p.tenant, "room.1", "room.2", "room.1")
	again.Join(p.tenant, "room.1")
	ann.Quit(p.tenant, "room.1", "room.2")
	bob.Join(p.tenant, "room.1")
	eve.Join(p.tenant, "room.1")
	_ = bob.Cut()
	back := p.as(e, "bob")
	back.Join(p.tenant, "room.1")
	_ = eve.Cut()
	told("eve", "join room.1", "leave room.1") // after the linger, and bob was lost before
	told("bob", "join room.1")
	told("ann", "join room.1", "join room.2", "leave room.2")
	token := e.IssueAs(e.Master, harness.SubjectRequest("mal", harness.AllowAll(p.tenant)))
	p.open(e, token.Token).Join(p.tenant, "room.1")
	e.Revoke(e.Master, token.Token).Decode(t, http.StatusOK, new(harness.Object))
	told("mal", "join room.1", "leave room.1")
	again.Quit(p.tenant, "room.1")
	told("ann", "join room.1", "join room.2", "leave room.2", "leave room.1")
}
