package integration

import (
	"slices"
	"strings"
	"testing"
)

// Several edges have one history: what one of them stores, all hand on at the same
// position, and a client goes on at any of them where it was at another one.
func TestHistoryOverEdges(t *testing.T) {
	t.Parallel()
	o := startHistories(t, "messages 100")
	p := o.session(0)
	var readers []*socket
	for at := range o.edges {
		s := o.session(at)
		s.resume("chat.#", "now").has(t, true)
		readers = append(readers, s)
	}
	positions := p.store("chat.1", "1", "2", "3")
	q := o.session(1)
	positions = append(positions, q.store("chat.2", "4", "5")...)
	for i := range positions[1:] {
		if a, b := positions[i], positions[i+1]; b.Epoch != a.Epoch || b.N <= a.N {
			t.Errorf("%v comes after %v", b, a)
		}
	}
	for _, s := range readers {
		s.gets(positions, "chat.1=1", "chat.1=2", "chat.1=3", "chat.2=4", "chat.2=5")
	}

	// A client moves from the first edge to the second.
	readers[0].close()
	at := positions[4].String()
	more := append(p.store("chat.1", "6"), q.store("chat.1", "7")...)
	for _, s := range readers[1:] {
		s.gets(more, "chat.1=6", "chat.1=7")
	}
	moved := o.session(1)
	moved.resume("chat.#", at).has(t, true, "chat.1=6", "chat.1=7")

	// An edge is killed, and started again: its clients go on there, and elsewhere.
	o.killAndStart(2, sharedHistory("messages 100"), func() {
		more = p.store("chat.2", "8", "9")
		moved.gets(more, "chat.2=8", "chat.2=9")
	})
	for at := range o.edges {
		s := o.session(at)
		s.resume("chat.#", positions[4].String()).has(t, true, "chat.1=6", "chat.1=7", "chat.2=8", "chat.2=9")
		s.close()
	}
	again := o.session(2)
	last := again.resume("chat.2", "last")
	last.has(t, true, "chat.2=9")
	more = again.store("chat.1", "10")
	if got := more[0]; got.N <= positions[4].N || got.Epoch != positions[4].Epoch {
		t.Errorf("after the restart a message has the position %v", got)
	}
	moved.gets(more, "chat.1=10")
	o.checkOperators(last.positions[0].String())
}

// checkOperators purges at one edge what the others have, too. Behind the position is a
// message that goes.
func (o *overlay) checkOperators(position string) {
	t := o.t
	t.Helper()
	for _, e := range o.edges {
		e.admin("history", "list").want(0, "chat", "").want(0, keptTenant, "")
		e.admin("history", "read", "chat", keptTenant, "chat.1").want(0, " chat.1 10\n", "")
		if got := e.metrics()[`millrace_history_messages{history=chat}`]; got < 10 {
			t.Errorf("the metrics have %v messages", got)
		}
	}
	o.edges[0].admin("history", "purge", "chat", "--tenant", keptTenant, "--channel", "chat.1").want(0, "6 messages are deleted.", "")
	for at, e := range o.edges {
		e.poll("the purge to be seen", func() bool {
			got := e.admin("history", "read", "chat", keptTenant, "chat.#").want(0, " chat.2 9\n", "")
			return !strings.Contains(got.out, " chat.1 ")
		})
		s := o.session(at)
		s.resume("chat.1", "last.10").has(t, true)
		s.sendLine("UNSUB:" + keptTenant + ":chat.1")
		s.expectText("OK:UNSUB:" + keptTenant + ":chat.1")
		s.resume("chat.1", position).has(t, false)
		s.close()
	}
}

// One definition is in force on all edges: that of the last reload. An edge whose own file
// says otherwise follows it, and says what the difference is.
func TestHistoryDefinitionOverEdges(t *testing.T) {
	t.Parallel()
	o := startHistories(t, "messages 100")
	p := o.session(0)
	p.store("chat.1", "1", "2", "3", "4", "5")
	newest := func(at int) []string {
		s := o.session(at)
		defer s.close()
		return s.resume("chat.1", "last.100").messages
	}
	o.edges[0].reload(sharedHistory("messages 3"))
	three := []string{"chat.1=3", "chat.1=4", "chat.1=5"}
	for at, e := range o.edges {
		e.poll("the lower limit to hold", func() bool { return slices.Equal(newest(at), three) })
	}
	o.killAndStart(1, sharedHistory("messages 100"), func() {})
	o.edges[1].poll("the difference to be logged", func() bool { return o.edges[1].hasWarned("chat", "messages", "100") })
	q := o.session(1)
	q.store("chat.1", "6")
	three = append(three[1:], "chat.1=6")
	for at, e := range o.edges {
		e.poll("the lower limit to hold still", func() bool { return slices.Equal(newest(at), three) })
	}
	// The other way round, and at another edge.
	o.edges[2].reload(sharedHistory("messages 4"))
	for at, e := range o.edges {
		e.poll("the higher limit to hold", func() bool {
			q.store("chat.1", "more") // an edge that heard of the limit later has kept less
			return len(newest(at)) == 4
		})
	}

	// One that shares channels with it is refused, by all edges.
	out, err := o.edges[1].tryReload(strings.Replace(sharedHistory(), "history chat", "history talk", 1))
	if err == nil || !strings.Contains(out, "the histories chat and talk share channels of a tenant") {
		t.Errorf("another history with the same channels: %v\n%s", err, out)
	}
	o.edges[1].poll("the history to go on", func() bool {
		q.store("chat.1", "more")
		return len(newest(1)) == 4
	})

	// Without the history in its file, an edge has retired it for all, until one brings it back.
	o.edges[0].reload(strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}", 1))
	for at, e := range o.edges {
		e.poll("the history to be out of force", func() bool {
			s := o.session(at)
			defer s.close()
			s.sendLine("RSUB:" + keptTenant + ":chat.1:last")
			_, message, err := s.read()
			s.must(err)
			return string(message) == "ERR:no_history:RSUB:"+keptTenant+":chat.1"
		})
	}
	o.edges[1].reload(sharedHistory("messages 5"))
	for at, e := range o.edges {
		e.poll("the history to be back", func() bool { return len(newest(at)) == 4 })
	}
	o.edges[0].admin("history", "purge", "chat", "--all").want(0, "messages are deleted.", "")
}

// An edge with its own NATS server inside keeps its history over a restart, also if it was
// killed, and while a reload changes its limits.
func TestHistoryInEmbeddedNATS(t *testing.T) {
	t.Parallel()
	embedded := func(e *edge) {
		e.Broker = "nats {\n\t\t\tembedded {\n\t\t\t\tname edge-1\n\t\t\t}\n\t\t}"
		e.Store = "nats"
	}
	file := func(options string) string { // nats is the default
		return replaced(t, historyCaddyfile("nats", options), "\t\thistory_store nats\n", "\n")
	}
	o := &overlay{t: t}
	o.edges = append(o.edges, startEdge(t, file("messages 100"), embedded))
	o.token = o.edges[0].issue(allowHistory("a", "b")).Token
	o.awaitHistory(0)
	s := o.session(0)
	s.store("chat.1", "0")
	s.resume("chat.1", "last.10").has(t, true, "chat.1=0")
	o.edges[0].reload(file("messages 3"))
	s.sendLine("UNSUB:" + keptTenant + ":chat.1")
	s.expectText("OK:UNSUB:" + keptTenant + ":chat.1") // the reload kept the connection
	from := s.store("chat.1", "1", "2")[0].String()
	want := []string{"chat.1=2"}
	for i, end := range []func(){o.edges[0].stop, func() { o.edges[0].kill() }} {
		end()
		gone := o.edges[0]
		o.edges[0] = startEdge(t, file("messages 3"), inDir(gone.Dir), replacing(gone))
		s := o.session(0)
		s.resume("chat.1", from).has(t, true, want...)
		s.sendLine("UNSUB:" + keptTenant + ":chat.1")
		s.expectText("OK:UNSUB:" + keptTenant + ":chat.1")
		if i == 0 {
			s.store("chat.1", "3")
			want = append(want, "chat.1=3")
		}
	}
	// The store goes before the server that it uses.
	o.edges[0].reload(defaultCaddyfile)
	o.edges[0].admin("history", "list").want(1, "", "(404 no_histories)")
	o.edges[0].reload(file("messages 3"))
	last := o.session(0)
	last.resume("chat.1", "last.10").has(t, true, "chat.1=1", "chat.1=2", "chat.1=3")
	o.edges[0].stop()
}
