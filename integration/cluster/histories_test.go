package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A history changes and ends by restarts alone, as in Kubernetes: an edge that starts with a higher version changes it
// for all, one that starts with the old file changes nothing, and both say what differs, and take clients.
func TestHistoriesChangeByRestarts(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, 1)
	o := &harness.Overlay{T: t, Nodes: nodes}
	file := func(history string) string {
		return strings.NewReplacer("\tpubsub\n", "\tpubsub\n\tpubsub_ready\n",
			"drain 7s", "drain 7s\n\t\thistory_store nats\n"+history).Replace(harness.DefaultCaddyfile)
	}
	version := func(n, messages int) string {
		return file(fmt.Sprintf("history chat {\nversion %d\nchannels chat.#\nmessages %d\n}", n, messages))
	}
	old, retired := version(1, 100), file("history chat {\nversion 3\nretired\n}\nhistory talk {\nchannels chat.#\n}")
	joins := harness.Joining(nodes, "")
	o.StartEdges(old, append(joins, joins[0]))
	start := func(at int, caddyfile string) { o.KillAndStart(at, caddyfile, func() {}) }
	lists := func(at, code int, parts ...string) {
		t.Helper()
		e, text := o.Edges[at], ""
		e.Poll(fmt.Sprintf("%q in the list", parts), func() bool {
			ran := e.AdminCLI("history", "list")
			text = ran.Out + ran.Err
			for _, part := range parts {
				if !strings.Contains(text, part) {
					return false
				}
			}
			return ran.Code == code
		})
	}
	ready := func(at int, more string) {
		t.Helper()
		o.Edges[at].Poll("readiness with "+more, func() bool {
			a := o.Edges[at].Rest("GET", "/ready", "", nil)
			return a.Status == http.StatusOK && strings.TrimPrefix(string(a.Body), "ready") == more
		})
	}
	drifts := func(at int, history string, is float64) {
		t.Helper()
		o.Edges[at].ExpectMetrics(harness.Samples{"millrace_history_drift{history=" + history + "}": is})
	}

	start(1, version(2, 7))
	start(0, old) // in the middle of the update
	lists(1, 0, "chat     2        7 ", "none")
	lists(0, 0, "chat     2        7 ", "version,messages", "give this edge the file of version 2")
	ready(1, "")
	ready(0, "\na history is kept otherwise than this edge has configured: chat: version, messages")
	drifts(0, "chat", 1)
	drifts(1, "chat", 0)
	o.Edges[0].AwaitLine("a history is kept otherwise", `"kept":"version 2 (configured: 1), messages 7 (configured: 100)"`)
	start(0, version(2, 7))
	ready(0, "")
	drifts(0, "chat", 0)

	start(1, retired)
	lists(1, 0, "talk     0        100 ", "none")
	ready(1, "")
	lists(0, 1, "chat cannot be used: the history was retired at another edge", "talk is kept otherwise")
	ready(0, "\na history cannot be used: chat (it was retired at another edge)\n"+
		"a history is kept otherwise than this edge has configured: talk: history")
	start(0, retired)
	ready(0, "")
}
