package presence

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// Who is present is told to those who watch, over both transports, on one edge and over two.
func TestPresence(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"memory", "nats"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			edges := startPresenceEdges(t, kind, presenceFile)
			for _, transport := range []string{"WebSocket", "WebTransport"} {
				t.Run(transport, func(t *testing.T) {
					t.Parallel()
					p := newPresenceCase(t, transport, edges...)
					p.tells()
					p.lingers()
				})
			}
		})
	}
}

// presenceFile has two presences: who is lost leaves room.# soon, and stay.# late.
var presenceFile = strings.Replace(harness.WithPresence("linger 1s"), "drain ", `presence stay {
			channels stay.#
			linger 10s
			members 4
		}
		drain `, 1)

// startPresenceEdges starts one edge, or two over NATS.
func startPresenceEdges(t *testing.T, kind, caddyfile string) []*harness.Edge {
	t.Helper()
	if kind == "memory" {
		return []*harness.Edge{harness.StartEdge(t, caddyfile)}
	}
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	first := harness.StartEdge(t, caddyfile, join)
	return []*harness.Edge{first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first))}
}

// presenceCase is clients of a tenant of its own, at the first and the last of the edges.
type presenceCase struct {
	t         *testing.T
	near, far *harness.Edge
	tenant    string
	open      func(e *harness.Edge, token string) *harness.Socket
}

func newPresenceCase(t *testing.T, transport string, edges ...*harness.Edge) *presenceCase {
	p := &presenceCase{t: t, near: edges[0].With(t), far: edges[len(edges)-1].With(t), tenant: "paint." + strings.ToLower(transport)}
	p.open = (*harness.Edge).Dial
	if transport == "WebTransport" {
		p.open = (*harness.Edge).DialWebTransport
	}
	return p
}

// as connects a subject, whose info is its name; an empty one has none.
func (p *presenceCase) as(e *harness.Edge, subject string) *harness.Socket {
	p.t.Helper()
	return p.open(e, p.near.SubjectToken(subject, subject, p.tenant))
}

// watch connects to an edge, and watches a pattern.
func (p *presenceCase) watch(e *harness.Edge, pattern string) (*harness.Watching, *harness.PresenceView) {
	p.t.Helper()
	w := p.as(e, "").Watching(p.tenant)
	return w, w.Who(pattern, false)
}

// Refuses requires that a line is refused, of a client that watches nothing.
func (p *presenceCase) Refuses(s *harness.Socket, code wire.Code, line string) {
	p.t.Helper()
	s.Watching(p.tenant).Refuses(code, line)
}

// tells is about joins and leaves, and what is refused.
func (p *presenceCase) tells() {
	t := p.t
	w := p.as(p.far, "").Watching(p.tenant)
	w.SendLine("FEATURES:sender")
	w.ExpectText("FEATURES:link,sender,presence")
	v, counts := w.Who("room.#", false), w.Who("room.*", true)
	w.UntilMembers(v)
	w.Until("there are no counts", func() bool { return counts.Synced && len(counts.Counts) == 0 })

	ann, bob, carol := p.as(p.near, harness.AnnSubject), p.as(p.far, "bob"), p.as(p.near, "carol")
	ann.Join(p.tenant, "room.1", "room.2", "room.1") // once more changes nothing
	bob.Join(p.tenant, "room.1")
	w.UntilMembers(v, "room.1 "+harness.AnnSubject, "room.2 "+harness.AnnSubject, "room.1 bob")
	var info struct{ Name string }
	if err := json.Unmarshal([]byte(v.Members["room.1 "+harness.AnnSubject]), &info); err != nil || info.Name != harness.AnnSubject {
		t.Errorf("her info is %s, %v", v.Members["room.1 "+harness.AnnSubject], err)
	}
	w.Until("they are counted", func() bool { return counts.Counts["room.1"] == 2 && counts.Counts["room.2"] == 1 })
	v.Events = nil

	// The sessions of a subject count once, wherever they are.
	again := p.as(p.far, harness.AnnSubject)
	again.Join(p.tenant, "room.1")
	ann.Quit(p.tenant, "room.1")
	carol.Join(p.tenant, "room.1")
	w.UntilMembers(v, "room.1 "+harness.AnnSubject, "room.2 "+harness.AnnSubject, "room.1 bob", "room.1 carol")
	w.Told(v, "+room.1 carol")
	late, seen := p.watch(p.near, "room.1")
	late.UntilMembers(seen, "room.1 "+harness.AnnSubject, "room.1 bob", "room.1 carol")
	again.Quit(p.tenant, "room.1", "room.1", "room.nowhere") // what is not is left, too
	w.UntilMembers(v, "room.2 "+harness.AnnSubject, "room.1 bob", "room.1 carol")
	w.Told(v, "-room.1 "+harness.AnnSubject)
	w.Until("the counts are right", func() bool { return counts.Counts["room.1"] == 2 })
	late.UntilMembers(seen, "room.1 bob", "room.1 carol")

	// Nothing comes behind OK:UNWHO.
	late.SendLine("UNWHO:" + p.tenant + ":room.1")
	for late.Next() != "OK:UNWHO:"+p.tenant+":room.1" {
	}
	bob.Quit(p.tenant, "room.1")
	again.Join(p.tenant, "room.1")
	w.UntilMembers(v, "room.2 "+harness.AnnSubject, "room.1 "+harness.AnnSubject, "room.1 carol")
	late.Ask("UNWHO", p.tenant, "room.1")
	at := late.Who("room.1", false) // and it may begin anew
	late.UntilMembers(at, "room.1 "+harness.AnnSubject, "room.1 carol")
	late.Told(at, "+room.1 "+harness.AnnSubject, "+room.1 carol")

	late.Refuses(wire.CodeNoSubject, "JOIN:"+p.tenant+":room.1")
	p.Refuses(bob, wire.CodeNoPresence, "JOIN:"+p.tenant+":chat.1")
	p.Refuses(bob, wire.CodeNoPresence, "WHO:"+p.tenant+":#")
	p.Refuses(bob, wire.CodeNoPresence, "WHO:"+p.tenant+":*.1:count")
	w.Refuses(wire.CodeBadRequest, "WHO:"+p.tenant+":room.#")
	blind := p.open(p.far, p.near.IssueAs(p.near.Master, harness.SubjectRequest("blind", harness.Grant(p.tenant, nil, []string{"room.1"}))).Token)
	p.Refuses(blind, wire.CodePermissionDenied, "WHO:"+p.tenant+":room.1")
	p.Refuses(blind, wire.CodePermissionDenied, "WHO:"+p.tenant+":room.#:count")
	p.Refuses(blind, wire.CodePermissionDenied, "JOIN:"+p.tenant+":room.2")
	b := blind.Watching(p.tenant)
	n := b.Who("room.1", true)
	b.Until("it sees how many there are", func() bool { return n.Counts["room.1"] == 2 })

	carol.Quit(p.tenant, "room.1")
	again.Close() // both of her sessions: she leaves only with the last one
	ann.Close()
	w.UntilMembers(v)
	w.Until("there are no counts", func() bool { return len(counts.Counts) == 0 })
}

// lingers is about connections that end, and how many members there may be.
func (p *presenceCase) lingers() {
	w, v := p.watch(p.far, "stay.#")
	rooms := w.Who("room.#", false)
	dan, eve, revoked := p.as(p.near, "dan"), p.as(p.near, "eve"), p.near.IssueAs(p.near.Master, harness.SubjectRequest("mal", harness.AllowAll(p.tenant)))
	mal, fay := p.open(p.near, revoked.Token), p.as(p.near, "fay")
	for _, s := range []*harness.Socket{dan, eve, mal, fay} {
		s.Join(p.tenant, "stay.1")
	}
	w.UntilMembers(v, "stay.1 dan", "stay.1 eve", "stay.1 mal", "stay.1 fay")

	// There are as many as there may be, on both edges. Who is one of them may have another session.
	for _, e := range []*harness.Edge{p.near, p.far} {
		gus := p.as(e, "gus")
		p.Refuses(gus, wire.CodeTooManyMembers, "JOIN:"+p.tenant+":stay.2")
		gus.Join(p.tenant, "room.gus") // another presence
		gus.Quit(p.tenant, "room.gus")
		again := p.as(e, "fay")
		again.Join(p.tenant, "stay.1")
		again.Quit(p.tenant, "stay.1")
	}
	v.Events, rooms.Events = nil, nil

	// Who is lost stays for a while; whose token is revoked does not.
	_ = dan.Cut()
	moved := p.as(p.far, "dan")
	moved.Join(p.tenant, "stay.1")
	_ = eve.Cut()
	p.near.Revoke(p.near.Master, revoked.Token).Decode(p.t, http.StatusOK, new(harness.Object))
	mal.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	w.UntilMembers(v, "stay.1 dan", "stay.1 eve", "stay.1 fay")
	w.Told(v, "-stay.1 mal")
	fay.Quit(p.tenant, "stay.1")
	p.as(p.far, "gus").Join(p.tenant, "stay.2") // there is room again, when this edge knows
	w.UntilMembers(v, "stay.1 dan", "stay.1 eve", "stay.2 gus")

	// A token that expires ends a session as a lost connection does.
	short := p.near.IssueAs(p.near.Master, harness.SubjectRequest("hal", harness.AllowAll(p.tenant)))
	hal := p.open(p.near, short.Token)
	hal.Join(p.tenant, "room.1")
	w.UntilMembers(rooms, "room.1 hal")
	p.near.Refresh(p.near.Master, short.TokenID, harness.In(2*time.Second)).Decode(p.t, http.StatusOK, new(harness.Object))
	hal.ExpectText("ERR:" + string(wire.CodeTokenExpired))
	w.UntilMembers(rooms)

	// Eve was lost after dan, who has come back: he never left.
	w.UntilMembers(v, "stay.1 dan", "stay.2 gus")
	if slices.Contains(v.Events, "-stay.1 dan") || slices.Contains(v.Events, "+stay.1 dan") {
		p.t.Errorf("dan moved, and was seen to leave: %q", v.Events)
	}
}

// A reload adds presences, narrows them, and takes them away. Who is where there is none any
// more is told, and gone; edges may have different ones for a while.
func TestPresenceReload(t *testing.T) {
	t.Parallel()
	edges := startPresenceEdges(t, "nats", harness.DefaultCaddyfile)
	p := newPresenceCase(t, "WebSocket", edges...)
	ann, bob := p.as(p.near, "ann"), p.as(p.far, "bob")
	ann.SendLine("JOIN:" + p.tenant + ":room.1")
	ann.ExpectText("ERR:" + string(wire.CodeBadRequest))

	for _, e := range edges { // added
		e.Reload(harness.WithPresence("linger 1s"))
	}
	ann.Join(p.tenant, "room.1", "room.2")
	bob.Join(p.tenant, "room.2")
	w := p.as(p.far, "").Watching(p.tenant)
	all, one := w.Who("room.#", false), w.Who("room.1", false)
	w.UntilMembers(all, "room.1 ann", "room.2 ann", "room.2 bob")
	w.UntilMembers(one, "room.1 ann")

	narrow := strings.Replace(harness.WithPresence("linger 1s"), "channels room.#", "channels room.1", 1)
	edges[1].Reload(narrow)
	for line := ""; line != "ERR:no_presence:WHO:"+p.tenant+":room.#"; line = w.Next() {
	}
	bob.ExpectText("ERR:no_presence:JOIN:" + p.tenant + ":room.2")
	near, seen := p.watch(p.near, "room.#") // bob is gone here, too; ann is where she was
	near.UntilMembers(seen, "room.1 ann", "room.2 ann")
	carol := p.as(p.near, "carol")
	carol.Join(p.tenant, "room.1", "room.2")
	w.UntilMembers(one, "room.1 ann", "room.1 carol")
	p.Refuses(bob, wire.CodeNoPresence, "JOIN:"+p.tenant+":room.2")
	w.Refuses(wire.CodeNoPresence, "WHO:"+p.tenant+":room.#")

	edges[1].Reload(harness.WithPresence("linger 1s")) // as before: what it had ignored is known again
	all = w.Who("room.#", false)
	w.UntilMembers(all, "room.1 ann", "room.2 ann", "room.1 carol", "room.2 carol")
	bob.Join(p.tenant, "room.2")
	near.UntilMembers(seen, "room.1 ann", "room.2 ann", "room.1 carol", "room.2 carol", "room.2 bob")

	for _, e := range edges { // removed
		e.Reload(harness.DefaultCaddyfile)
	}
	bob.ExpectText("ERR:no_presence:JOIN:" + p.tenant + ":room.2")
	told := map[string]bool{}
	for len(told) < 2 {
		if line := w.Next(); line != "" {
			told[line] = true
		}
	}
	if !told["ERR:no_presence:WHO:"+p.tenant+":room.#"] || !told["ERR:no_presence:WHO:"+p.tenant+":room.1"] {
		t.Errorf("was told %v", told)
	}
	bob.SendLine("FEATURES:sender")
	bob.ExpectText("FEATURES:link,sender")
	edges[0].Reload(harness.WithPresence("linger 1s"))
	fresh, none := p.watch(p.near, "room.#")
	fresh.UntilMembers(none)
}

// Who moves away from an edge that drains is not seen to leave, and who does not is, when the
// edge is gone.
func TestPresenceDrain(t *testing.T) {
	t.Parallel()
	edges := startPresenceEdges(t, "nats", harness.WithPresence("linger 1s"))
	p := newPresenceCase(t, "WebSocket", edges...)
	w, v := p.watch(p.far, "room.#")
	ann, bob := p.as(p.near, "ann"), p.as(p.near, "bob")
	ann.Join(p.tenant, "room.1")
	bob.Join(p.tenant, "room.1")
	w.UntilMembers(v, "room.1 ann", "room.1 bob")
	v.Events = nil

	token := p.near.SubjectToken("ann", "ann", p.tenant)
	p.near.Terminate()
	line := history.NextLine(ann)
	if line.Kind != wire.KindReconnect {
		t.Fatalf("got %+v", line)
	}
	moved := p.far.Dial(token)
	moved.Join(p.tenant, "room.1")
	ann.Close()
	w.UntilMembers(v, "room.1 ann")
	w.Told(v, "-room.1 bob")
	p.near.Stop()
}

// A snapshot of 10,000 members comes in pages, and what changes behind it in small frames.
func TestPresencePages(t *testing.T) {
	t.Parallel()
	const clients, each = 10, 1000
	edges := startPresenceEdges(t, "nats", harness.WithPresence("members 10000"))
	p := newPresenceCase(t, "WebSocket", edges...)
	var sockets []*harness.Socket
	for i := range clients {
		s := p.as(p.near, fmt.Sprintf("member.%d", i))
		for n := range each {
			s.SendLine(fmt.Sprintf("JOIN:%s:room.%d", p.tenant, n))
		}
		sockets = append(sockets, s)
	}
	for _, s := range sockets {
		for n := range each {
			s.ExpectText(fmt.Sprintf("OK:JOIN:%s:room.%d", p.tenant, n))
		}
	}
	p.Refuses(p.as(p.near, "more"), wire.CodeTooManyMembers, "JOIN:"+p.tenant+":room.0")
	for _, e := range edges {
		w, v := p.watch(e, "room.#")
		n := w.Who("room.7", true)
		w.Until("there are 10,000", func() bool { return v.Synced && len(v.Members) == clients*each && n.Counts["room.7"] == clients })
		if v.Frames < 20 || v.Frames > 200 {
			t.Errorf("%d frames", v.Frames)
		}
		other, snapshot := p.watch(e, "room.#") // it says that it is synced when all have come
		other.Until("it is synced", func() bool { return snapshot.Synced })
		if len(snapshot.Members) != clients*each {
			t.Errorf("a snapshot of %d members", len(snapshot.Members))
		}
		before := v.Frames
		v.Events = nil
		sockets[0].Quit(p.tenant, "room.1")
		w.Until("one has left", func() bool { return len(v.Members) == clients*each-1 })
		sockets[0].Join(p.tenant, "room.1")
		w.Until("and come again", func() bool { return len(v.Members) == clients*each })
		w.Told(v, "-room.1 member.0", "+room.1 member.0")
		if v.Frames != before+2 {
			t.Errorf("%d frames for two changes", v.Frames-before)
		}
	}
}

// As many JOINs and WHOs as SUBs may be on a connection, 32 patterns with wildcards of them, and
// 256 different ones in a tenant.
func TestPresenceLimits(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.WithPresence(), "drain ", "limits {\n\t\t\tmax_subscriptions 100\n\t\t}\n\t\tdrain ", 1))
	p := newPresenceCase(t, "WebSocket", e)
	s := p.as(e, "ann")
	for i := range 49 {
		s.Join(p.tenant, fmt.Sprintf("room.%d", i))
	}
	w := s.Watching(p.tenant)
	for i := range 50 {
		w.Who(fmt.Sprintf("room.%d", i), i%2 == 0)
	}
	w.SendLine("SUB:" + p.tenant + ":room.1")
	for w.Next() != "OK:SUB:"+p.tenant+":room.1" {
	}
	for _, line := range []string{"WHO:" + p.tenant + ":room.x", "JOIN:" + p.tenant + ":room.x", "SUB:" + p.tenant + ":room.x"} {
		w.Refuses(wire.CodeTooManySubscriptions, line)
	}

	var more []*harness.Watching
	for i := range 256 {
		if i%32 == 0 {
			more = append(more, p.as(e, "").Watching(p.tenant))
		}
		more[len(more)-1].Who(fmt.Sprintf("room.%d.*", i), false)
	}
	more[0].Refuses(wire.CodeTooManyPatterns, "WHO:"+p.tenant+":room.100.*") // on this connection
	last := p.as(e, "").Watching(p.tenant)
	p.Refuses(last.Socket, wire.CodeTooManyPatterns, "WHO:"+p.tenant+":room.more.*")
	last.Who("room.1.*", false) // is watched already
	other := p.open(e, e.SubjectToken("", "", "paint.other")).Watching("paint.other")
	other.Who("room.more.*", false)
}

// Nothing of who is present gets to another tenant, nor to who may not watch: all answers are the
// same where there is a crowd, and where there is nobody.
func TestPresenceApart(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, presenceFile)
	p := newPresenceCase(t, "WebSocket", e)
	ask := func(tenant, own string) (answers []string) {
		s := p.open(e, e.SubjectToken("spy", "", own)).Watching(own)
		v, n := s.Who("room.#", false), s.Who("stay.1", true)
		s.UntilMembers(v)
		s.Until("it is counted", func() bool { return n.Synced && len(n.Counts) == 0 })
		for _, line := range []string{
			"WHO:%:room.#", "WHO:%:room.1", "WHO:%:room.1:count", "WHO:%:stay.#:count", "WHO:%:none.#", "JOIN:%:room.1", "JOIN:%:stay.1", "JOIN:%:none.1",
			"UNWHO:%:room.#", "LEAVE:%:room.1", "LEAVE:%:none.1", "WHO:%:a..b", "JOIN:%:a..b", "JOIN:%:room.*", "WHO:%:room.1:counts", "WHO:%:room.1",
		} {
			s.SendLine(strings.Replace(line, "%", tenant, 1))
			answers = append(answers, strings.ReplaceAll(s.Next(), tenant, "%"))
		}
		// In its own tenant it may do what others may: their limits are not its.
		s.Ask("JOIN", own, "stay.1")
		s.Until("it is counted", func() bool { return n.Counts["stay.1"] == 1 })
		s.Ask("JOIN", own, "room.1")
		s.UntilMembers(v, "room.1 spy")
		answers = append(answers, fmt.Sprint(v.Frames, n.Frames, v.Far))
		return answers
	}
	empty := ask("paint.empty", "paint.spy1")
	crowd := p.as(e, "one")
	for i := range 300 {
		crowd.Join(p.tenant, fmt.Sprintf("room.%d", i))
	}
	for _, subject := range []string{"a", "b", "c", "d"} {
		p.as(e, subject).Join(p.tenant, "stay.1")
	}
	w, v := p.watch(e, "stay.#")
	w.UntilMembers(v, "stay.1 a", "stay.1 b", "stay.1 c", "stay.1 d")
	if full := ask(p.tenant, "paint.spy2"); !slices.Equal(full, empty) {
		t.Errorf("where nobody is: %q\nwhere there is a crowd: %q", empty, full)
	}

	// One who may watch one room learns nothing of another one.
	rights := harness.Grant(p.tenant, nil, []string{"room.1"})
	rights["allow_channels_presence"] = []string{"room.1"}
	s := p.open(e, e.IssueAs(e.Master, harness.SubjectRequest("narrow", rights)).Token)
	for _, line := range []string{"WHO:%:room.2", "WHO:%:room.nobody", "WHO:%:room.#", "WHO:%:room.*:count", "WHO:%:room.2:count", "WHO:%:stay.1", "WHO:%:none.1", "JOIN:%:stay.1", "JOIN:%:room.2"} {
		p.Refuses(s, wire.CodePermissionDenied, strings.Replace(line, "%", p.tenant, 1))
	}
	n := s.Watching(p.tenant)
	only := n.Who("room.1", false)
	n.UntilMembers(only, "room.1 one")
	crowd.Quit(p.tenant, "room.2", "room.1")
	n.UntilMembers(only)
	n.Told(only, "+room.1 one", "-room.1 one")
}
