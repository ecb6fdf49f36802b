package nats

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// pause has the consumers of a stream deliver nothing, as on a replica that stays behind: they go on to send
// heartbeats.
func pause(t *testing.T, js jetstream.JetStream, stream string) {
	t.Helper()
	st, err := js.Stream(t.Context(), stream)
	must(t, err)
	names := st.ConsumerNames(t.Context())
	for name := range names.Name() {
		_, err := st.PauseConsumer(t.Context(), name, time.Now().Add(time.Hour))
		must(t, err)
	}
	must(t, names.Err())
}

// An edge that gets nothing from where it reads, although there is something, reads elsewhere: messages, what
// a session begins with, and definitions.
func TestReplicaBehind(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s), withLostAnswers)
	of := func(channel string) func(*history.Definition) {
		return func(d *history.Definition) { d.Channels = []string{channel} }
	}
	define(t, a, definition("h", of("c")))
	define(t, b, definition("h", of("c")))
	f := join(b)
	f.await(t, "the definitions", func() bool { return f.set != nil })
	follow(t, b, "h")
	js := operator(t, s.ClientURL())
	pause(t, js, "p_history_h")
	at := put(t, a, "h", "t", "c", "1")
	f.await(t, "a message", func() bool { return len(f.received) == 1 && f.received[0].Position == at })
	if len(f.skipped) > 0 || len(f.reach) > 0 {
		t.Errorf("skipped to %v, with the reach %v", f.skipped, f.reach)
	}
	pause(t, js, "KV_p_histories")
	define(t, a, definition("another", of("d")))
	f.await(t, "another definition", func() bool { return f.set.Find("another") != nil })
}

// The next consumer is on another server than the one that was behind, if there is one.
func TestShunned(t *testing.T) {
	t.Parallel()
	servers := natstest.Cluster(t, 3)
	s := open(t, natstest.Connect(servers[0]), func(c *Config) { c.Replicas = 3 })
	define(t, s, definition("h"))
	follow(t, s, "h")
	st := s.find("h")
	for range 3 {
		in, err := st.open(t.Context(), 1, true)
		must(t, err)
		in.close()
		if in.server == "" || st.isShunned(in.server) {
			t.Fatalf("a consumer on %q; behind are %v", in.server, st.shunned)
		}
		st.shunned = map[string]time.Time{in.server: time.Now()}
	}
	for _, server := range servers {
		st.shunned[server.Name()] = time.Now()
	}
	in, err := st.open(t.Context(), 1, true) // from any rather than from none
	must(t, err)
	in.close()
	st.shunned[in.server] = time.Now().Add(-2 * shunTime)
	if st.isShunned(in.server) {
		t.Error("a server stays shunned")
	}
}

// An edge whose servers do not answer says so, once, and that they do again; what another edge stored meanwhile comes.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	link := natstest.StartProxy(t, s)
	a, b := open(t, natstest.Connect(s)), open(t, link.Connect(), impatient, withShortCalls)
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	f := join(b)
	follow(t, b, "h")
	link.Hold()
	f.await(t, "the word that it is out of reach", func() bool { return slices.Equal(f.reach, []bool{false}) })
	if state := b.States()["h"]; state.Err == nil || !state.InUse || state.Effective == nil {
		t.Errorf("out of reach: %+v", state)
	}
	if r := try(b, "h", "t", "c", "no"); !errors.Is(r.Err, history.ErrUnavailable) {
		t.Errorf("a publish: %v", r.Err)
	}
	at := put(t, a, "h", "t", "c", "1")
	link.Resume()
	f.await(t, "the word that it is back", func() bool { return slices.Equal(f.reach, []bool{false, true}) })
	awaitHead(t, b, "h", at)
	await(t, "the state", func() bool { return b.States()["h"].Err == nil })
	if len(f.skipped) > 0 {
		t.Errorf("skipped to %v", f.skipped)
	}
}
