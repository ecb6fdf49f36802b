package histories

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
)

// Several edges have one history: what one of them stores, all hand on at the same
// position, and a client goes on at any of them where it was at another one.
func TestHistoryOverEdges(t *testing.T) {
	t.Parallel()
	o := history.StartHistories(t, "messages 100")
	p := o.Session(0)
	var readers []*harness.Socket
	for at := range o.Edges {
		s := o.Session(at)
		history.Resume(s, "chat.#", "now").Has(t, true)
		readers = append(readers, s)
	}
	positions := history.Store(p, "chat.1", "1", "2", "3")
	q := o.Session(1)
	positions = append(positions, history.Store(q, "chat.2", "4", "5")...)
	for i := range positions[1:] {
		if a, b := positions[i], positions[i+1]; b.Epoch != a.Epoch || b.N <= a.N {
			t.Errorf("%v comes after %v", b, a)
		}
	}
	for _, s := range readers {
		history.Gets(s, positions, "chat.1=1", "chat.1=2", "chat.1=3", "chat.2=4", "chat.2=5")
	}

	// A client moves from the first edge to the second.
	readers[0].Close()
	at := positions[4].String()
	more := append(history.Store(p, "chat.1", "6"), history.Store(q, "chat.1", "7")...)
	for _, s := range readers[1:] {
		history.Gets(s, more, "chat.1=6", "chat.1=7")
	}
	moved := o.Session(1)
	history.Resume(moved, "chat.#", at).Has(t, true, "chat.1=6", "chat.1=7")

	// An edge is killed, and started again: its clients go on there, and elsewhere.
	o.KillAndStart(2, history.SharedHistory("messages 100"), func() {
		more = history.Store(p, "chat.2", "8", "9")
		history.Gets(moved, more, "chat.2=8", "chat.2=9")
	})
	for at := range o.Edges {
		s := o.Session(at)
		history.Resume(s, "chat.#", positions[4].String()).Has(t, true, "chat.1=6", "chat.1=7", "chat.2=8", "chat.2=9")
		s.Close()
	}
	again := o.Session(2)
	last := history.Resume(again, "chat.2", "last")
	last.Has(t, true, "chat.2=9")
	more = history.Store(again, "chat.1", "10")
	if got := more[0]; got.N <= positions[4].N || got.Epoch != positions[4].Epoch {
		t.Errorf("after the restart a message has the position %v", got)
	}
	history.Gets(moved, more, "chat.1=10")
	checkOperators(o, last.Positions[0].String())
}

// checkOperators purges at one edge what the others have, too. Behind the position is a
// message that goes.
func checkOperators(o *harness.Overlay, position string) {
	t := o.T
	t.Helper()
	for _, e := range o.Edges {
		e.AdminCLI("history", "list").Want(0, "chat", "").Want(0, history.KeptTenant, "")
		e.AdminCLI("history", "read", "chat", history.KeptTenant, "chat.1").Want(0, " chat.1 10\n", "")
		if got := e.Metrics()[`millrace_history_messages{history=chat}`]; got < 10 {
			t.Errorf("the metrics have %v messages", got)
		}
	}
	o.Edges[0].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant, "--channel", "chat.1").Want(0, "6 messages are deleted.", "")
	for at, e := range o.Edges {
		e.Poll("the purge to be seen", func() bool {
			got := e.AdminCLI("history", "read", "chat", history.KeptTenant, "chat.#").Want(0, " chat.2 9\n", "")
			return !strings.Contains(got.Out, " chat.1 ")
		})
		s := o.Session(at)
		history.Resume(s, "chat.1", "last.10").Has(t, true)
		s.SendLine("UNSUB:" + history.KeptTenant + ":chat.1")
		s.ExpectText("OK:UNSUB:" + history.KeptTenant + ":chat.1")
		history.Resume(s, "chat.1", position).Has(t, false)
		s.Close()
	}
}

// One definition is in force on all edges: that of the last reload. An edge whose own file
// says otherwise follows it, and says what the difference is.
func TestHistoryDefinitionOverEdges(t *testing.T) {
	t.Parallel()
	o := history.StartHistories(t, "messages 100")
	p := o.Session(0)
	history.Store(p, "chat.1", "1", "2", "3", "4", "5")
	newest := func(at int) []string {
		s := o.Session(at)
		defer s.Close()
		return history.Resume(s, "chat.1", "last.100").Messages
	}
	o.Edges[0].Reload(history.SharedHistory("messages 3"))
	three := []string{"chat.1=3", "chat.1=4", "chat.1=5"}
	for at, e := range o.Edges {
		e.Poll("the lower limit to hold", func() bool { return slices.Equal(newest(at), three) })
	}
	o.KillAndStart(1, history.SharedHistory("messages 100"), func() {})
	o.Edges[1].Poll("the difference to be logged", func() bool { return history.HasWarned(o.Edges[1], "chat", "messages", "100") })
	q := o.Session(1)
	history.Store(q, "chat.1", "6")
	three = append(three[1:], "chat.1=6")
	for at, e := range o.Edges {
		e.Poll("the lower limit to hold still", func() bool { return slices.Equal(newest(at), three) })
	}
	// The other way round, and at another edge.
	o.Edges[2].Reload(history.SharedHistory("messages 4"))
	for at, e := range o.Edges {
		e.Poll("the higher limit to hold", func() bool {
			history.Store(q, "chat.1", "more") // an edge that heard of the limit later has kept less
			return len(newest(at)) == 4
		})
	}

	// One that shares channels with it is refused, by all edges.
	out, err := o.Edges[1].TryReload(strings.Replace(history.SharedHistory(), "history chat", "history talk", 1))
	if err == nil || !strings.Contains(out, "the histories chat and talk share channels of a tenant") {
		t.Errorf("another history with the same channels: %v\n%s", err, out)
	}
	o.Edges[1].Poll("the history to go on", func() bool {
		history.Store(q, "chat.1", "more")
		return len(newest(1)) == 4
	})

	// Without the history in its file, an edge has retired it for all, until one brings it back.
	o.Edges[0].Reload(strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}", 1))
	for at, e := range o.Edges {
		e.Poll("the history to be out of force", func() bool {
			s := o.Session(at)
			defer s.Close()
			s.SendLine("RSUB:" + history.KeptTenant + ":chat.1:last")
			_, message, err := s.Read()
			s.Must(err)
			return string(message) == "ERR:no_history:RSUB:"+history.KeptTenant+":chat.1"
		})
	}
	o.Edges[1].Reload(history.SharedHistory("messages 5"))
	for at, e := range o.Edges {
		e.Poll("the history to be back", func() bool { return len(newest(at)) == 4 })
	}
	o.Edges[0].AdminCLI("history", "purge", "chat", "--all").Want(0, "messages are deleted.", "")
}

// An edge with its own NATS server inside keeps its history over a restart, also if it was
// killed, and while a reload changes its limits.
func TestHistoryInEmbeddedNATS(t *testing.T) {
	t.Parallel()
	embedded := func(e *harness.Edge) {
		e.Broker = "nats {\n\t\t\tembedded {\n\t\t\t\tname edge-1\n\t\t\t}\n\t\t}"
		e.Store = "nats"
	}
	file := func(options string) string { // nats is the default
		return harness.Replaced(t, history.Caddyfile("nats", options), "\t\thistory_store nats\n", "\n")
	}
	o := &harness.Overlay{T: t}
	o.Edges = append(o.Edges, harness.StartEdge(t, file("messages 100"), embedded))
	o.Token = o.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	history.AwaitHistory(o, 0)
	s := o.Session(0)
	history.Store(s, "chat.1", "0")
	history.Resume(s, "chat.1", "last.10").Has(t, true, "chat.1=0")
	o.Edges[0].Reload(file("messages 3"))
	s.SendLine("UNSUB:" + history.KeptTenant + ":chat.1")
	s.ExpectText("OK:UNSUB:" + history.KeptTenant + ":chat.1") // the reload kept the connection
	from := history.Store(s, "chat.1", "1", "2")[0].String()
	want := []string{"chat.1=2"}
	for i, end := range []func(){o.Edges[0].Stop, func() { o.Edges[0].Kill() }} {
		end()
		gone := o.Edges[0]
		o.Edges[0] = harness.StartEdge(t, file("messages 3"), harness.InDir(gone.Dir), harness.Replacing(gone))
		s := o.Session(0)
		history.Resume(s, "chat.1", from).Has(t, true, want...)
		s.SendLine("UNSUB:" + history.KeptTenant + ":chat.1")
		s.ExpectText("OK:UNSUB:" + history.KeptTenant + ":chat.1")
		if i == 0 {
			history.Store(s, "chat.1", "3")
			want = append(want, "chat.1=3")
		}
	}
	// The store goes before the server that it uses.
	o.Edges[0].Reload(harness.DefaultCaddyfile)
	o.Edges[0].AdminCLI("history", "list").Want(1, "", "(404 no_histories)")
	o.Edges[0].Reload(file("messages 3"))
	last := o.Session(0)
	history.Resume(last, "chat.1", "last.10").Has(t, true, "chat.1=1", "chat.1=2", "chat.1=3")
	o.Edges[0].Stop()
}
