package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
var presenceFile = strings.Replace(withPresence("linger 1s"), "drain ", `presence stay {
			channels stay.#
			linger 10s
			members 4
		}
		drain `, 1)

// startPresenceEdges starts one edge, or two over NATS.
func startPresenceEdges(t *testing.T, kind, caddyfile string) []*edge {
	t.Helper()
	if kind == "memory" {
		return []*edge{startEdge(t, caddyfile)}
	}
	join := joining(startNATS(t, 1), "")[0]
	first := startEdge(t, caddyfile, join)
	return []*edge{first, startEdge(t, caddyfile, join, withMaster(first))}
}

// presenceCase is clients of a tenant of its own, at the first and the last of the edges.
type presenceCase struct {
	t         *testing.T
	near, far *edge
	tenant    string
	open      func(e *edge, token string) *socket
}

func newPresenceCase(t *testing.T, transport string, edges ...*edge) *presenceCase {
	p := &presenceCase{t: t, near: edges[0].with(t), far: edges[len(edges)-1].with(t), tenant: "paint." + strings.ToLower(transport)}
	p.open = (*edge).dial
	if transport == "WebTransport" {
		p.open = (*edge).dialWebTransport
	}
	return p
}

// as connects a subject, whose info is its name; an empty one has none.
func (p *presenceCase) as(e *edge, subject string) *socket {
	p.t.Helper()
	return p.open(e, p.near.subjectToken(subject, subject, p.tenant))
}

// watch connects to an edge, and watches a pattern.
func (p *presenceCase) watch(e *edge, pattern string) (*watching, *presenceView) {
	p.t.Helper()
	w := p.as(e, "").watching(p.tenant)
	return w, w.who(pattern, false)
}

// refuses requires that a line is refused, of a client that watches nothing.
func (p *presenceCase) refuses(s *socket, code wire.Code, line string) {
	p.t.Helper()
	s.watching(p.tenant).refuses(code, line)
}

// tells is about joins and leaves, and what is refused.
func (p *presenceCase) tells() {
	t := p.t
	w := p.as(p.far, "").watching(p.tenant)
	w.sendLine("FEATURES:sender")
	w.expectText("FEATURES:link,sender,presence")
	v, counts := w.who("room.#", false), w.who("room.*", true)
	w.untilMembers(v)
	w.until("there are no counts", func() bool { return counts.synced && len(counts.counts) == 0 })

	ann, bob, carol := p.as(p.near, annSubject), p.as(p.far, "bob"), p.as(p.near, "carol")
	ann.join(p.tenant, "room.1", "room.2", "room.1") // once more changes nothing
	bob.join(p.tenant, "room.1")
	w.untilMembers(v, "room.1 "+annSubject, "room.2 "+annSubject, "room.1 bob")
	var info struct{ Name string }
	if err := json.Unmarshal([]byte(v.members["room.1 "+annSubject]), &info); err != nil || info.Name != annSubject {
		t.Errorf("her info is %s, %v", v.members["room.1 "+annSubject], err)
	}
	w.until("they are counted", func() bool { return counts.counts["room.1"] == 2 && counts.counts["room.2"] == 1 })
	v.events = nil

	// The sessions of a subject count once, wherever they are.
	again := p.as(p.far, annSubject)
	again.join(p.tenant, "room.1")
	ann.quit(p.tenant, "room.1")
	carol.join(p.tenant, "room.1")
	w.untilMembers(v, "room.1 "+annSubject, "room.2 "+annSubject, "room.1 bob", "room.1 carol")
	w.told(v, "+room.1 carol")
	late, seen := p.watch(p.near, "room.1")
	late.untilMembers(seen, "room.1 "+annSubject, "room.1 bob", "room.1 carol")
	again.quit(p.tenant, "room.1", "room.1", "room.nowhere") // what is not is left, too
	w.untilMembers(v, "room.2 "+annSubject, "room.1 bob", "room.1 carol")
	w.told(v, "-room.1 "+annSubject)
	w.until("the counts are right", func() bool { return counts.counts["room.1"] == 2 })
	late.untilMembers(seen, "room.1 bob", "room.1 carol")

	// Nothing comes behind OK:UNWHO.
	late.sendLine("UNWHO:" + p.tenant + ":room.1")
	for late.next() != "OK:UNWHO:"+p.tenant+":room.1" {
	}
	bob.quit(p.tenant, "room.1")
	again.join(p.tenant, "room.1")
	w.untilMembers(v, "room.2 "+annSubject, "room.1 "+annSubject, "room.1 carol")
	late.ask("UNWHO", p.tenant, "room.1")
	at := late.who("room.1", false) // and it may begin anew
	late.untilMembers(at, "room.1 "+annSubject, "room.1 carol")
	late.told(at, "+room.1 "+annSubject, "+room.1 carol")

	late.refuses(wire.CodeNoSubject, "JOIN:"+p.tenant+":room.1")
	p.refuses(bob, wire.CodeNoPresence, "JOIN:"+p.tenant+":chat.1")
	p.refuses(bob, wire.CodeNoPresence, "WHO:"+p.tenant+":#")
	p.refuses(bob, wire.CodeNoPresence, "WHO:"+p.tenant+":*.1:count")
	w.refuses(wire.CodeBadRequest, "WHO:"+p.tenant+":room.#")
	blind := p.open(p.far, p.near.issueAs(p.near.master, subjectRequest("blind", grant(p.tenant, nil, []string{"room.1"}))).Token)
	p.refuses(blind, wire.CodePermissionDenied, "WHO:"+p.tenant+":room.1")
	p.refuses(blind, wire.CodePermissionDenied, "WHO:"+p.tenant+":room.#:count")
	p.refuses(blind, wire.CodePermissionDenied, "JOIN:"+p.tenant+":room.2")
	b := blind.watching(p.tenant)
	n := b.who("room.1", true)
	b.until("it sees how many there are", func() bool { return n.counts["room.1"] == 2 })

	carol.quit(p.tenant, "room.1")
	again.close() // both of her sessions: she leaves only with the last one
	ann.close()
	w.untilMembers(v)
	w.until("there are no counts", func() bool { return len(counts.counts) == 0 })
}

// lingers is about connections that end, and how many members there may be.
func (p *presenceCase) lingers() {
	w, v := p.watch(p.far, "stay.#")
	rooms := w.who("room.#", false)
	dan, eve, revoked := p.as(p.near, "dan"), p.as(p.near, "eve"), p.near.issueAs(p.near.master, subjectRequest("mal", allowAll(p.tenant)))
	mal, fay := p.open(p.near, revoked.Token), p.as(p.near, "fay")
	for _, s := range []*socket{dan, eve, mal, fay} {
		s.join(p.tenant, "stay.1")
	}
	w.untilMembers(v, "stay.1 dan", "stay.1 eve", "stay.1 mal", "stay.1 fay")

	// There are as many as there may be, on both edges. Who is one of them may have another session.
	for _, e := range []*edge{p.near, p.far} {
		gus := p.as(e, "gus")
		p.refuses(gus, wire.CodeTooManyMembers, "JOIN:"+p.tenant+":stay.2")
		gus.join(p.tenant, "room.gus") // another presence
		gus.quit(p.tenant, "room.gus")
		again := p.as(e, "fay")
		again.join(p.tenant, "stay.1")
		again.quit(p.tenant, "stay.1")
	}
	v.events, rooms.events = nil, nil

	// Who is lost stays for a while; whose token is revoked does not.
	_ = dan.cut()
	moved := p.as(p.far, "dan")
	moved.join(p.tenant, "stay.1")
	_ = eve.cut()
	p.near.revoke(p.near.master, revoked.Token).decode(p.t, http.StatusOK, new(object))
	mal.expectText("ERR:" + string(wire.CodeTokenRevoked))
	w.untilMembers(v, "stay.1 dan", "stay.1 eve", "stay.1 fay")
	w.told(v, "-stay.1 mal")
	fay.quit(p.tenant, "stay.1")
	p.as(p.far, "gus").join(p.tenant, "stay.2") // there is room again, when this edge knows
	w.untilMembers(v, "stay.1 dan", "stay.1 eve", "stay.2 gus")

	// A token that expires ends a session as a lost connection does.
	short := p.near.issueAs(p.near.master, subjectRequest("hal", allowAll(p.tenant)))
	hal := p.open(p.near, short.Token)
	hal.join(p.tenant, "room.1")
	w.untilMembers(rooms, "room.1 hal")
	p.near.refresh(p.near.master, short.TokenID, in(2*time.Second)).decode(p.t, http.StatusOK, new(object))
	hal.expectText("ERR:" + string(wire.CodeTokenExpired))
	w.untilMembers(rooms)

	// Eve was lost after dan, who has come back: he never left.
	w.untilMembers(v, "stay.1 dan", "stay.2 gus")
	if slices.Contains(v.events, "-stay.1 dan") || slices.Contains(v.events, "+stay.1 dan") {
		p.t.Errorf("dan moved, and was seen to leave: %q", v.events)
	}
}

// A reload adds presences, narrows them, and takes them away. Who is where there is none any
// more is told, and gone; edges may have different ones for a while.
func TestPresenceReload(t *testing.T) {
	t.Parallel()
	edges := startPresenceEdges(t, "nats", defaultCaddyfile)
	p := newPresenceCase(t, "WebSocket", edges...)
	ann, bob := p.as(p.near, "ann"), p.as(p.far, "bob")
	ann.sendLine("JOIN:" + p.tenant + ":room.1")
	ann.expectText("ERR:" + string(wire.CodeBadRequest))

	for _, e := range edges { // added
		e.reload(withPresence("linger 1s"))
	}
	ann.join(p.tenant, "room.1", "room.2")
	bob.join(p.tenant, "room.2")
	w := p.as(p.far, "").watching(p.tenant)
	all, one := w.who("room.#", false), w.who("room.1", false)
	w.untilMembers(all, "room.1 ann", "room.2 ann", "room.2 bob")
	w.untilMembers(one, "room.1 ann")

	narrow := strings.Replace(withPresence("linger 1s"), "channels room.#", "channels room.1", 1)
	edges[1].reload(narrow)
	for line := ""; line != "ERR:no_presence:WHO:"+p.tenant+":room.#"; line = w.next() {
	}
	bob.expectText("ERR:no_presence:JOIN:" + p.tenant + ":room.2")
	near, seen := p.watch(p.near, "room.#") // bob is gone here, too; ann is where she was
	near.untilMembers(seen, "room.1 ann", "room.2 ann")
	carol := p.as(p.near, "carol")
	carol.join(p.tenant, "room.1", "room.2")
	w.untilMembers(one, "room.1 ann", "room.1 carol")
	p.refuses(bob, wire.CodeNoPresence, "JOIN:"+p.tenant+":room.2")
	w.refuses(wire.CodeNoPresence, "WHO:"+p.tenant+":room.#")

	edges[1].reload(withPresence("linger 1s")) // as before: what it had ignored is known again
	all = w.who("room.#", false)
	w.untilMembers(all, "room.1 ann", "room.2 ann", "room.1 carol", "room.2 carol")
	bob.join(p.tenant, "room.2")
	near.untilMembers(seen, "room.1 ann", "room.2 ann", "room.1 carol", "room.2 carol", "room.2 bob")

	for _, e := range edges { // removed
		e.reload(defaultCaddyfile)
	}
	bob.expectText("ERR:no_presence:JOIN:" + p.tenant + ":room.2")
	told := map[string]bool{}
	for len(told) < 2 {
		if line := w.next(); line != "" {
			told[line] = true
		}
	}
	if !told["ERR:no_presence:WHO:"+p.tenant+":room.#"] || !told["ERR:no_presence:WHO:"+p.tenant+":room.1"] {
		t.Errorf("was told %v", told)
	}
	bob.sendLine("FEATURES:sender")
	bob.expectText("FEATURES:link,sender")
	edges[0].reload(withPresence("linger 1s"))
	fresh, none := p.watch(p.near, "room.#")
	fresh.untilMembers(none)
}

// Who moves away from an edge that drains is not seen to leave, and who does not is, when the
// edge is gone.
func TestPresenceDrain(t *testing.T) {
	t.Parallel()
	edges := startPresenceEdges(t, "nats", withPresence("linger 1s"))
	p := newPresenceCase(t, "WebSocket", edges...)
	w, v := p.watch(p.far, "room.#")
	ann, bob := p.as(p.near, "ann"), p.as(p.near, "bob")
	ann.join(p.tenant, "room.1")
	bob.join(p.tenant, "room.1")
	w.untilMembers(v, "room.1 ann", "room.1 bob")
	v.events = nil

	token := p.near.subjectToken("ann", "ann", p.tenant)
	p.near.terminate()
	line := ann.nextLine()
	if line.Kind != wire.KindReconnect {
		t.Fatalf("got %+v", line)
	}
	moved := p.far.dial(token)
	moved.join(p.tenant, "room.1")
	ann.close()
	w.untilMembers(v, "room.1 ann")
	w.told(v, "-room.1 bob")
	p.near.stop()
}

// A snapshot of 10,000 members comes in pages, and what changes behind it in small frames.
func TestPresencePages(t *testing.T) {
	t.Parallel()
	const clients, each = 10, 1000
	edges := startPresenceEdges(t, "nats", withPresence("members 10000"))
	p := newPresenceCase(t, "WebSocket", edges...)
	var sockets []*socket
	for i := range clients {
		s := p.as(p.near, fmt.Sprintf("member.%d", i))
		for n := range each {
			s.sendLine(fmt.Sprintf("JOIN:%s:room.%d", p.tenant, n))
		}
		sockets = append(sockets, s)
	}
	for _, s := range sockets {
		for n := range each {
			s.expectText(fmt.Sprintf("OK:JOIN:%s:room.%d", p.tenant, n))
		}
	}
	p.refuses(p.as(p.near, "more"), wire.CodeTooManyMembers, "JOIN:"+p.tenant+":room.0")
	for _, e := range edges {
		w, v := p.watch(e, "room.#")
		n := w.who("room.7", true)
		w.until("there are 10,000", func() bool { return v.synced && len(v.members) == clients*each && n.counts["room.7"] == clients })
		if v.frames < 20 || v.frames > 200 {
			t.Errorf("%d frames", v.frames)
		}
		other, snapshot := p.watch(e, "room.#") // it says that it is synced when all have come
		other.until("it is synced", func() bool { return snapshot.synced })
		if len(snapshot.members) != clients*each {
			t.Errorf("a snapshot of %d members", len(snapshot.members))
		}
		before := v.frames
		v.events = nil
		sockets[0].quit(p.tenant, "room.1")
		w.until("one has left", func() bool { return len(v.members) == clients*each-1 })
		sockets[0].join(p.tenant, "room.1")
		w.until("and come again", func() bool { return len(v.members) == clients*each })
		w.told(v, "-room.1 member.0", "+room.1 member.0")
		if v.frames != before+2 {
			t.Errorf("%d frames for two changes", v.frames-before)
		}
	}
}

// As many JOINs and WHOs as SUBs may be on a connection, 32 patterns with wildcards of them, and
// 256 different ones in a tenant.
func TestPresenceLimits(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(withPresence(), "drain ", "limits {\n\t\t\tmax_subscriptions 100\n\t\t}\n\t\tdrain ", 1))
	p := newPresenceCase(t, "WebSocket", e)
	s := p.as(e, "ann")
	for i := range 49 {
		s.join(p.tenant, fmt.Sprintf("room.%d", i))
	}
	w := s.watching(p.tenant)
	for i := range 50 {
		w.who(fmt.Sprintf("room.%d", i), i%2 == 0)
	}
	w.sendLine("SUB:" + p.tenant + ":room.1")
	for w.next() != "OK:SUB:"+p.tenant+":room.1" {
	}
	for _, line := range []string{"WHO:" + p.tenant + ":room.x", "JOIN:" + p.tenant + ":room.x", "SUB:" + p.tenant + ":room.x"} {
		w.refuses(wire.CodeTooManySubscriptions, line)
	}

	var more []*watching
	for i := range 256 {
		if i%32 == 0 {
			more = append(more, p.as(e, "").watching(p.tenant))
		}
		more[len(more)-1].who(fmt.Sprintf("room.%d.*", i), false)
	}
	more[0].refuses(wire.CodeTooManyPatterns, "WHO:"+p.tenant+":room.100.*") // on this connection
	last := p.as(e, "").watching(p.tenant)
	p.refuses(last.socket, wire.CodeTooManyPatterns, "WHO:"+p.tenant+":room.more.*")
	last.who("room.1.*", false) // is watched already
	other := p.open(e, e.subjectToken("", "", "paint.other")).watching("paint.other")
	other.who("room.more.*", false)
}

// Nothing of who is present gets to another tenant, nor to who may not watch: all answers are the
// same where there is a crowd, and where there is nobody.
func TestPresenceApart(t *testing.T) {
	t.Parallel()
	e := startEdge(t, presenceFile)
	p := newPresenceCase(t, "WebSocket", e)
	ask := func(tenant, own string) (answers []string) {
		s := p.open(e, e.subjectToken("spy", "", own)).watching(own)
		v, n := s.who("room.#", false), s.who("stay.1", true)
		s.untilMembers(v)
		s.until("it is counted", func() bool { return n.synced && len(n.counts) == 0 })
		for _, line := range []string{
			"WHO:%:room.#", "WHO:%:room.1", "WHO:%:room.1:count", "WHO:%:stay.#:count", "WHO:%:none.#", "JOIN:%:room.1", "JOIN:%:stay.1", "JOIN:%:none.1",
			"UNWHO:%:room.#", "LEAVE:%:room.1", "LEAVE:%:none.1", "WHO:%:a..b", "JOIN:%:a..b", "JOIN:%:room.*", "WHO:%:room.1:counts", "WHO:%:room.1",
		} {
			s.sendLine(strings.Replace(line, "%", tenant, 1))
			answers = append(answers, strings.ReplaceAll(s.next(), tenant, "%"))
		}
		// In its own tenant it may do what others may: their limits are not its.
		s.ask("JOIN", own, "stay.1")
		s.until("it is counted", func() bool { return n.counts["stay.1"] == 1 })
		s.ask("JOIN", own, "room.1")
		s.untilMembers(v, "room.1 spy")
		answers = append(answers, fmt.Sprint(v.frames, n.frames, v.far))
		return answers
	}
	empty := ask("paint.empty", "paint.spy1")
	crowd := p.as(e, "one")
	for i := range 300 {
		crowd.join(p.tenant, fmt.Sprintf("room.%d", i))
	}
	for _, subject := range []string{"a", "b", "c", "d"} {
		p.as(e, subject).join(p.tenant, "stay.1")
	}
	w, v := p.watch(e, "stay.#")
	w.untilMembers(v, "stay.1 a", "stay.1 b", "stay.1 c", "stay.1 d")
	if full := ask(p.tenant, "paint.spy2"); !slices.Equal(full, empty) {
		t.Errorf("where nobody is: %q\nwhere there is a crowd: %q", empty, full)
	}

	// One who may watch one room learns nothing of another one.
	rights := grant(p.tenant, nil, []string{"room.1"})
	rights["allow_channels_presence"] = []string{"room.1"}
	s := p.open(e, e.issueAs(e.master, subjectRequest("narrow", rights)).Token)
	for _, line := range []string{"WHO:%:room.2", "WHO:%:room.nobody", "WHO:%:room.#", "WHO:%:room.*:count", "WHO:%:room.2:count", "WHO:%:stay.1", "WHO:%:none.1", "JOIN:%:stay.1", "JOIN:%:room.2"} {
		p.refuses(s, wire.CodePermissionDenied, strings.Replace(line, "%", p.tenant, 1))
	}
	n := s.watching(p.tenant)
	only := n.who("room.1", false)
	n.untilMembers(only, "room.1 one")
	crowd.quit(p.tenant, "room.2", "room.1")
	n.untilMembers(only)
	n.told(only, "+room.1 one", "-room.1 one")
}
