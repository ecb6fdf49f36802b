package histories

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
)

// Several edges have one history: a client goes on at any of them where it was at another one,
// also when that was killed; a purge, a limit and the end of a history hold for all.
func TestHistoryOverEdges(t *testing.T) {
	t.Parallel()
	file := func(options ...string) string {
		return history.Caddyfile("nats {\n\t\t\treplicas 3\n\t\t}", options...)
	}
	o := history.StartOverlay(t, file("messages 100"), "")
	o.Token = o.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	for at := range o.Edges {
		history.AwaitHistory(o, at)
	}
	p, q, reader := o.Session(0), o.Session(1), o.Session(2)
	history.Resume(reader, "chat.#", "now", "complete")
	positions := append(history.Store(p, "chat.1", "1", "2"), history.Store(q, "chat.2", "3")...)
	history.Gets(reader, positions, "chat.1=1", "chat.1=2", "chat.2=3")
	o.KillAndStart(2, file("messages 100"), func() {
		moved := o.Session(1) // from the edge that is away
		history.Resume(moved, "chat.#", positions[1].String(), "complete chat.2=3")
		positions = append(positions, history.Store(p, "chat.2", "4")...)
		history.Gets(moved, positions[3:], "chat.2=4")
	})
	for at := range o.Edges {
		history.Resume(o.Session(at), "chat.#", positions[0].String(), "complete chat.1=2 chat.2=3 chat.2=4")
	}
	if at := history.Store(o.Session(2), "chat.2", "5")[0]; at.N <= positions[3].N || at.Epoch != positions[3].Epoch {
		t.Errorf("after the restart a message has the position %v", at)
	}

	o.Edges[0].AdminCLI("history", "list").Want(0, "chat", "").Want(0, history.KeptTenant, "")
	o.Edges[0].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant, "--channel", "chat.1").Want(0, "2 messages are deleted.", "")
	// holds waits until all edges have these messages.
	holds := func(what string, want ...string) {
		t.Helper()
		for _, e := range o.Edges {
			e.Poll(what, func() bool {
				var got []string
				for line := range strings.Lines(e.AdminCLI("history", "read", "chat", history.KeptTenant, "chat.#").Out) {
					fields := strings.Fields(line)
					got = append(got, strings.Join(fields[max(0, len(fields)-2):], "="))
				}
				return slices.Equal(got, want)
			})
		}
	}
	holds("the purge to be seen", "chat.2=3", "chat.2=4", "chat.2=5")
	history.Resume(o.Session(1), "chat.1", positions[0].String(), "gap")

	// The last reload decides for all. An edge whose own file says otherwise follows, and says so.
	o.Edges[0].Reload(file("messages 2"))
	holds("the lower limit to hold", "chat.2=4", "chat.2=5")
	o.KillAndStart(1, file("messages 100"), func() {})
	o.Edges[1].Poll("the difference to be logged", func() bool {
		return strings.Contains(o.Edges[1].Output(), "a history is defined otherwise than in this edge's configuration")
	})
	holds("the lower limit to hold still", "chat.2=4", "chat.2=5")
	o.Edges[0].Reload(strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}", 1))
	for at, e := range o.Edges {
		e.Poll("the history to end", func() bool {
			s := o.Session(at)
			defer s.Close()
			s.SendLine("RSUB:" + history.KeptTenant + ":chat.1:last")
			_, message, err := s.Read()
			return err == nil && string(message) == "ERR:no_history:RSUB:"+history.KeptTenant+":chat.1"
		})
	}
	o.Edges[1].Reload(file("messages 5"))
	holds("the history to be back", "chat.2=4", "chat.2=5")
}

// An edge with its own NATS server inside keeps its history over a restart, also if it was
// killed; the store goes before the server that it uses.
func TestHistoryInEmbeddedNATS(t *testing.T) {
	t.Parallel()
	file := harness.Replaced(t, history.Caddyfile("nats", "messages 3"), "\t\thistory_store nats\n", "\n") // it is the default
	o := &harness.Overlay{T: t}
	o.StartEdges(file, []harness.Option{func(e *harness.Edge) {
		e.Broker, e.Store = "nats {\n\t\t\tembedded {\n\t\t\t\tname edge-1\n\t\t\t}\n\t\t}", "nats"
	}})
	o.Token = o.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	history.AwaitHistory(o, 0)
	history.Store(o.Session(0), "chat.1", "0", "1", "2", "3")
	for _, end := range []func(*harness.Edge){(*harness.Edge).Stop, (*harness.Edge).Kill} {
		gone := o.Edges[0]
		end(gone)
		o.Edges[0] = harness.StartEdge(t, file, harness.InDir(gone.Dir), harness.Replacing(gone))
		history.Resume(o.Session(0), "chat.1", "last.10", "complete chat.1=1 chat.1=2 chat.1=3")
	}
	o.Edges[0].Reload(harness.DefaultCaddyfile)
	o.Edges[0].AdminCLI("history", "list").Want(1, "", "(404 no_histories)")
	o.Edges[0].Reload(file)
	history.Resume(o.Session(0), "chat.1", "last.10", "complete chat.1=1 chat.1=2 chat.1=3")
}
