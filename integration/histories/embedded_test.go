package histories

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
)

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
