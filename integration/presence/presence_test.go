package presence

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// presenceFile has a presence that tells a backend.
var presenceFile = strings.Replace(harness.WithPresence("linger 1s"), "drain ", `hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			events join leave
		}
		drain `, 1)

// Reloads begin and end to tell who is present, at two edges, those who watch and a backend; an
// edge that drains takes nobody along who moves in time.
func TestPresence(t *testing.T) {
	t.Parallel()
	b := harness.StartHookBackend(t)
	options := append(b.Options(), harness.Joining(harness.StartNATS(t, 1), "")[0])
	near := harness.StartEdge(t, harness.DefaultCaddyfile, options...)
	far := harness.StartEdge(t, presenceFile, append(options, harness.WithMaster(near))...)
	tokens := map[string]string{}
	as := func(e *harness.Edge, subject string) *harness.Socket {
		if tokens[subject] == "" {
			tokens[subject] = near.SubjectToken(subject, subject, harness.PresenceTenant)
		}
		return e.DialWebTransport(tokens[subject])
	}
	ann, again, bob := as(near, "ann"), as(near, "ann"), as(near, "bob")
	ann.SendLine("JOIN:" + harness.PresenceTenant + ":room.1")
	ann.ExpectText("ERR:" + string(wire.CodeBadRequest))
	near.Reload(presenceFile)
	w := as(far, "").Watching(harness.PresenceTenant)
	v := w.Who("room.#", false)
	for _, s := range []*harness.Socket{ann, again, bob} { // a subject is there once
		s.Join(harness.PresenceTenant, "room.1")
	}
	w.UntilMembers(v, "room.1 ann", "room.1 bob")
	ann.Quit(harness.PresenceTenant, "room.1")
	again.Quit(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 bob")
	near.Poll("the backend to be told", func() bool { return len(b.EventsOf("ann")) >= 2 })
	if got := b.EventsOf("ann"); !slices.Equal(got, []string{"join room.1", "leave room.1"}) {
		t.Errorf("the backend was told of ann: %q", got)
	}

	// bob moves, and carol does not.
	carol := as(near, "carol")
	carol.Join(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 bob", "room.1 carol")
	v.Events = nil
	near.Terminate()
	if _, message, err := bob.Read(); err != nil || !strings.HasPrefix(string(message), "RECONNECT") {
		t.Fatalf("got %q, %v", message, err)
	}
	as(far, "bob").Join(harness.PresenceTenant, "room.1")
	bob.Close()
	w.UntilMembers(v, "room.1 bob")
	w.Told(v, "-room.1 carol")
	for _, s := range []*harness.Socket{ann, again, carol} {
		_ = s.Cut()
	}
	near.Stop()
	far.Reload(harness.DefaultCaddyfile)
	for line := ""; line != "ERR:no_presence:WHO:"+harness.PresenceTenant+":room.#"; line = w.Next() {
	}
}
