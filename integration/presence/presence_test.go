package presence

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// presenceFile has two presences: who is lost leaves room.# soon, and stay.# after ten minutes.
var presenceFile = strings.Replace(harness.WithPresence("linger 1s", "members 3"), "drain ", `presence stay {
			channels stay.#
			linger 10m
		}
		hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			events join leave
		}
		drain `, 1)

// Who is present at two edges, over WebSocket and WebTransport, is told to those who watch, and
// to a backend; an edge that drains takes nobody along who moves in time.
func TestPresence(t *testing.T) {
	t.Parallel()
	b := harness.StartHookBackend(t)
	options := append(b.Options(), harness.Joining(harness.StartNATS(t, 1), "")[0])
	near := harness.StartEdge(t, harness.DefaultCaddyfile, options...)
	far := harness.StartEdge(t, presenceFile, append(options, harness.WithMaster(near))...)
	token := func(subject string) string { return near.SubjectToken(subject, subject, harness.PresenceTenant) }
	as := func(e *harness.Edge, subject string, channels ...string) *harness.Socket {
		s := e.DialWebTransport(token(subject))
		s.Join(harness.PresenceTenant, channels...)
		return s
	}
	early := as(near, "early")
	early.SendLine("JOIN:" + harness.PresenceTenant + ":room.1")
	early.ExpectText("ERR:" + string(wire.CodeBadRequest))
	near.Reload(presenceFile) // a reload is enough
	w, late := as(far, "").Watching(harness.PresenceTenant), near.Dial(token("")).Watching(harness.PresenceTenant)
	v, counts, stay := w.Who("room.#", false), w.Who("room.1", true), w.Who("stay.#", false)
	ann, again := as(near, "ann", "room.1"), as(near, "ann", "room.1") // a subject is there once
	bob := as(near, "bob", "room.1", "stay.1")
	w.UntilMembers(v, "room.1 ann", "room.1 bob")
	w.UntilMembers(stay, "stay.1 bob")
	w.Until("they are counted", func() bool { return counts.Counts["room.1"] == 2 })
	if info := v.Members["room.1 ann"]; info != `{"name":"ann"}` {
		t.Errorf("her info is %s", info)
	}
	seen := late.Who("room.#", false)
	late.UntilMembers(seen, "room.1 ann", "room.1 bob")
	late.Refuses(wire.CodeNoSubject, "JOIN:"+harness.PresenceTenant+":room.1")
	late.Refuses(wire.CodeNoPresence, "WHO:"+harness.PresenceTenant+":chat.1")

	// Whose token is revoked leaves at once, who is lost after the linger, and others when they
	// say so.
	before := near.Sessions()
	_ = bob.Cut()
	near.Poll("the end of a session", func() bool { return near.Sessions() < before })
	w.UntilMembers(v, "room.1 ann")
	revoked := token("mal")
	mal, eve := near.Dial(revoked), as(near, "eve", "room.1")
	mal.Join(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 ann", "room.1 mal", "room.1 eve")
	as(far, "more").Watching(harness.PresenceTenant).Refuses(wire.CodeTooManyMembers, "JOIN:"+harness.PresenceTenant+":room.2")
	near.Revoke(near.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	w.UntilMembers(v, "room.1 ann", "room.1 eve")
	ann.Quit(harness.PresenceTenant, "room.1") // she has another session
	back := as(far, "bob", "room.1", "stay.1")
	w.UntilMembers(v, "room.1 ann", "room.1 eve", "room.1 bob")
	again.Quit(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 eve", "room.1 bob")
	if !slices.Equal(stay.Events, []string{"+stay.1 bob"}) {
		t.Errorf("bob was lost, and came back in time, and was seen to leave: %q", stay.Events)
	}
	back.Quit(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 eve")
	late.UntilMembers(seen, "room.1 eve")
	near.Poll("the backend to be told", func() bool { return len(b.EventsOf("ann")) >= 2 && len(b.EventsOf("mal")) >= 2 })
	for _, subject := range []string{"ann", "mal"} { // once for both sessions of ann
		if got := b.EventsOf(subject); !slices.Equal(got, []string{"join room.1", "leave room.1"}) {
			t.Errorf("the backend was told of %s: %q", subject, got)
		}
	}

	// eve moves, and carol does not.
	carol, moved := as(near, "carol", "room.1"), token("eve")
	w.UntilMembers(v, "room.1 eve", "room.1 carol")
	v.Events = nil
	near.Terminate()
	if _, message, err := eve.Read(); err != nil || !strings.HasPrefix(string(message), "RECONNECT") {
		t.Fatalf("got %q, %v", message, err)
	}
	far.DialWebTransport(moved).Join(harness.PresenceTenant, "room.1")
	eve.Close()
	w.UntilMembers(v, "room.1 eve")
	w.Told(v, "-room.1 carol")
	_ = carol.Cut()
	near.Stop()
	far.Reload(harness.DefaultCaddyfile)
	for line := ""; line != "ERR:no_presence:WHO:"+harness.PresenceTenant+":room.#"; line = w.Next() {
	}
}
