package integration

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A backend is told who comes and goes, once for all connections of a subject, and after the
// linger where one was lost.
func TestPresenceHooks(t *testing.T) {
	t.Parallel()
	b := startHookBackend(t)
	e := startEdge(t, strings.Replace(withPresence("linger 10s"), "drain ", `hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			events join leave
		}
		drain `, 1), b.options()...)
	told := func(subject string, want ...string) {
		t.Helper()
		e.poll("the backend to be told of "+subject, func() bool { return len(b.eventsOf(subject)) >= len(want) })
		if got := b.eventsOf(subject); !slices.Equal(got, want) {
			t.Errorf("the backend was told of %s: %q, want %q", subject, got, want)
		}
	}
	p := newPresenceCase(t, "WebTransport", e)
	ann, again, bob, eve := p.as(e, "ann"), p.as(e, "ann"), p.as(e, "bob"), p.as(e, "eve")
	ann.join(p.tenant, "room.1", "room.2", "room.1")
	again.join(p.tenant, "room.1")
	ann.quit(p.tenant, "room.1", "room.2")
	bob.join(p.tenant, "room.1")
	eve.join(p.tenant, "room.1")
	_ = bob.cut()
	back := p.as(e, "bob")
	back.join(p.tenant, "room.1")
	_ = eve.cut()
	told("eve", "join room.1", "leave room.1") // after the linger, and bob was lost before
	told("bob", "join room.1")
	told("ann", "join room.1", "join room.2", "leave room.2")
	token := e.issueAs(e.master, subjectRequest("mal", allowAll(p.tenant)))
	p.open(e, token.Token).join(p.tenant, "room.1")
	e.revoke(e.master, token.Token).decode(t, http.StatusOK, new(object))
	told("mal", "join room.1", "leave room.1")
	again.quit(p.tenant, "room.1")
	told("ann", "join room.1", "join room.2", "leave room.2", "leave room.1")
}
