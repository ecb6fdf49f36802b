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
var presenceFile = strings.Replace(harness.WithPresence("linger 1s", "members 3"), "drain ", "presence stay {\n\t\t\tchannels stay.#\n\t\t\tlinger 10m\n\t\t}\n\t\tdrain ", 1)

// Who is present is told to those who watch, and to a backend: on one edge over WebSocket, and
// over two with WebTransport, one of which drains.
func TestPresence(t *testing.T) {
	t.Parallel()
	b := harness.StartHookBackend(t)
	caddyfile := strings.Replace(presenceFile, "drain ", `hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			events join leave
		}
		drain `, 1)
	near := harness.StartEdge(t, caddyfile, b.Options()...)
	p := &presenceCase{t: t, near: near, far: near, open: (*harness.Edge).Dial}
	p.play()
	near.Poll("the backend to be told", func() bool { return len(b.EventsOf("ann")) >= 2 && len(b.EventsOf("mal")) >= 2 })
	for _, subject := range []string{"ann", "mal"} { // once for both sessions of ann
		if got := b.EventsOf(subject); !slices.Equal(got, []string{"join room.1", "leave room.1"}) {
			t.Errorf("the backend was told of %s: %q", subject, got)
		}
	}
}

// The same over two edges, where an edge that drains takes nobody along who moves in time.
func TestPresenceOverEdges(t *testing.T) {
	t.Parallel()
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	near := harness.StartEdge(t, harness.DefaultCaddyfile, join)
	far := harness.StartEdge(t, presenceFile, join, harness.WithMaster(near))
	p := &presenceCase{t: t, near: near, far: far, open: (*harness.Edge).DialWebTransport}
	early := p.as(near, "early")
	early.SendLine("JOIN:" + harness.PresenceTenant + ":room.1")
	early.ExpectText("ERR:" + string(wire.CodeBadRequest))
	near.Reload(presenceFile) // a reload is enough
	early.Join(harness.PresenceTenant, "room.1")
	early.Quit(harness.PresenceTenant, "room.1")
	p.play()

	w, v := p.watch(far)
	ann, bob := p.as(near, "ann"), p.as(near, "bob")
	ann.Join(harness.PresenceTenant, "room.1")
	bob.Join(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 ann", "room.1 bob")
	v.Events = nil
	token := near.SubjectToken("ann", "ann", harness.PresenceTenant)
	near.Terminate()
	if _, message, err := ann.Read(); err != nil || !strings.HasPrefix(string(message), "RECONNECT") {
		t.Fatalf("got %q, %v", message, err)
	}
	moved := p.open(far, token)
	moved.Join(harness.PresenceTenant, "room.1")
	ann.Close()
	w.UntilMembers(v, "room.1 ann")
	w.Told(v, "-room.1 bob") // who has not moved
	near.Stop()
	far.Reload(harness.DefaultCaddyfile)
	for line := ""; line != "ERR:no_presence:WHO:"+harness.PresenceTenant+":room.#"; line = w.Next() {
	}
}

// presenceCase is clients at two edges, or at one.
type presenceCase struct {
	t         *testing.T
	near, far *harness.Edge
	open      func(e *harness.Edge, token string) *harness.Socket
}

// as connects a subject, whose info is its name; an empty one has none.
func (p *presenceCase) as(e *harness.Edge, subject string) *harness.Socket {
	p.t.Helper()
	return p.open(e, p.near.SubjectToken(subject, subject, harness.PresenceTenant))
}

func (p *presenceCase) watch(e *harness.Edge) (*harness.Watching, *harness.PresenceView) {
	p.t.Helper()
	w := p.as(e, "").Watching(harness.PresenceTenant)
	return w, w.Who("room.#", false)
}

func (p *presenceCase) play() {
	t := p.t
	t.Helper()
	w, v := p.watch(p.far)
	counts := w.Who("room.1", true)
	ann, again, bob := p.as(p.near, "ann"), p.as(p.far, "ann"), p.as(p.near, "bob")
	ann.Join(harness.PresenceTenant, "room.1")
	again.Join(harness.PresenceTenant, "room.1") // a subject is there once
	bob.Join(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 ann", "room.1 bob")
	w.Until("they are counted", func() bool { return counts.Counts["room.1"] == 2 })
	if info := v.Members["room.1 ann"]; info != `{"name":"ann"}` {
		t.Errorf("her info is %s", info)
	}
	late, seen := p.watch(p.near)
	late.UntilMembers(seen, "room.1 ann", "room.1 bob")
	late.Refuses(wire.CodeNoSubject, "JOIN:"+harness.PresenceTenant+":room.1")
	late.Refuses(wire.CodeNoPresence, "WHO:"+harness.PresenceTenant+":chat.1")
	v.Events = nil

	// Whose token is revoked leaves at once, who is lost after the linger, and others when they
	// say so.
	stay := w.Who("stay.#", false)
	bob.Join(harness.PresenceTenant, "stay.1")
	w.UntilMembers(stay, "stay.1 bob")
	before := p.near.Sessions()
	_ = bob.Cut()
	p.near.Poll("the end of a session", func() bool { return p.near.Sessions() < before })
	token := p.near.IssueAs(p.near.Master, harness.SubjectRequest("mal", harness.AllowAll(harness.PresenceTenant)))
	mal := p.open(p.near, token.Token)
	w.UntilMembers(v, "room.1 ann")
	mal.Join(harness.PresenceTenant, "room.1")
	eve := p.as(p.near, "eve")
	eve.Join(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 ann", "room.1 mal", "room.1 eve")
	p.as(p.far, "more").Watching(harness.PresenceTenant).Refuses(wire.CodeTooManyMembers, "JOIN:"+harness.PresenceTenant+":room.2")
	p.near.Revoke(p.near.Master, token.Token).Decode(t, http.StatusOK, new(harness.Object))
	w.UntilMembers(v, "room.1 ann", "room.1 eve")
	ann.Quit(harness.PresenceTenant, "room.1") // she has another session
	back := p.as(p.far, "bob")
	back.Join(harness.PresenceTenant, "room.1", "stay.1")
	w.UntilMembers(v, "room.1 ann", "room.1 eve", "room.1 bob")
	again.Quit(harness.PresenceTenant, "room.1")
	w.UntilMembers(v, "room.1 eve", "room.1 bob")
	if !slices.Equal(stay.Events, []string{"+stay.1 bob"}) {
		t.Errorf("bob was lost, and came back in time, and was seen to leave: %q", stay.Events)
	}
	back.Quit(harness.PresenceTenant, "room.1")
	_ = eve.Cut()
	w.UntilMembers(v)
	late.UntilMembers(seen)
}
