package presence

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
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
	told, refused := watch(far)
	for _, s := range []*harness.Socket{ann, again, bob} { // a subject is there once
		s.Ask("JOIN", harness.PresenceTenant, "room.1")
	}
	told("joined room.1 ann", "joined room.1 bob")
	ann.Ask("LEAVE", harness.PresenceTenant, "room.1")
	again.Ask("LEAVE", harness.PresenceTenant, "room.1")
	told("left room.1 ann")
	near.Poll("the backend to be told", func() bool { return len(b.EventsOf("ann")) >= 2 })
	if got := b.EventsOf("ann"); !slices.Equal(got, []string{"join room.1", "leave room.1"}) {
		t.Errorf("the backend was told of ann: %q", got)
	}

	// bob moves, and carol does not.
	carol := as(near, "carol")
	carol.Ask("JOIN", harness.PresenceTenant, "room.1")
	told("joined room.1 carol")
	near.Terminate()
	if _, message, err := bob.Read(); err != nil || !strings.HasPrefix(string(message), "RECONNECT") {
		t.Fatalf("got %q, %v", message, err)
	}
	as(far, "bob").Ask("JOIN", harness.PresenceTenant, "room.1")
	bob.Close()
	told("left room.1 carol")
	for _, s := range []*harness.Socket{ann, again, carol} {
		_ = s.Cut()
	}
	near.Stop()
	far.Reload(harness.DefaultCaddyfile)
	if got, want := natstest.Receive(t, "the end", refused), "no_presence WHO:"+harness.PresenceTenant+":room.#"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// watch has a client of the SDK for Go watch room.# at an edge; told requires what it is told
// next: nobody comes or goes for it who did not.
func watch(e *harness.Edge) (told func(want ...string), refused chan string) {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*harness.WaitTimeout)
	e.T.Cleanup(cancel)
	roots, err := e.TlsConfig()
	e.Must(err)
	refused = make(chan string, 16)
	options := client.Options{Token: e.SubjectToken("", "", harness.PresenceTenant), TLS: roots, OnEvent: func(event client.Event) {
		if end, ok := event.(client.EdgeError); ok {
			refused <- string(end.Code) + " " + end.Detail
		}
	}}
	c, err := client.Connect(ctx, []string{e.HttpsURL("")}, options)
	e.Must(err)
	e.T.Cleanup(func() { c.Close() })
	p, err := c.Presence(ctx, harness.PresenceTenant, "room.#")
	e.Must(err)
	return func(want ...string) {
		e.T.Helper()
		for _, w := range want {
			change, err := p.Next(ctx)
			if got := string(change.Type) + " " + change.Member.Channel + " " + change.Member.Subject; got != w {
				e.T.Fatalf("was told %s, %v, want %s", got, err, w)
			}
		}
	}, refused
}
