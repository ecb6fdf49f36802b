package console

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// startConsoles starts three edges of one overlay with a console each, which people know as
// edge-0.test to edge-2.test. The third lets operators of others see, and nothing else.
func startConsoles(t *testing.T) *harness.Overlay {
	t.Helper()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3)}
	for i, join := range harness.Joining(o.Nodes, "") {
		join := func(e *harness.Edge) {
			join(e)
			e.Broker = strings.Replace(e.Broker, "{\n", fmt.Sprintf("{\nannounce edge-%d.test\n", i), 1)
		}
		options := []harness.Option{join}
		if i > 0 {
			options = append(options, harness.WithMaster(o.Edges[0]))
		}
		o.Edges = append(o.Edges, harness.StartEdge(t, strings.Replace(harness.ConsoleCaddyfile, "pubsub {", "pubsub {\n\t\tremote_operators "+[]string{"manage", "manage", "view"}[i], 1), options...))
	}
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	for _, e := range o.Edges {
		e.Poll("all edges to answer", func() bool {
			answering := 0
			for _, edge := range e.OverlayEdges() {
				if edge.Answered {
					answering++
				}
			}
			return answering == 3
		})
	}
	return o
}

// A console shows and changes what is at the other edges, and names the one that is silent.
func TestConsoleOverEdges(t *testing.T) {
	t.Parallel()
	o := startConsoles(t)
	commandOverEdges(o)
	first, second, third := o.Edges[0], o.Edges[1], o.Edges[2]
	chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t), Context: t.Name()}
	p := chrome.Open("console", first.HttpURL("/console"), "")
	p.SignIn("ada", harness.AdaPassword)
	for _, name := range []string{"edge-0.test", "edge-1.test", "edge-2.test"} {
		p.See("main table", name)
	}

	// A connection at the second edge, ended from the console of the first.
	elsewhere := o.Session(1)
	id := listed(second)[0].ID
	p.GoTo("Connections")
	p.Click("button", fmt.Sprintf("Details of connection %d at edge-1.test", id))
	p.Click("button", fmt.Sprintf("Disconnect connection %d at edge-1.test", id))
	p.Click("button", "Disconnect")
	elsewhere.ExpectText("ERR:closed_by_operator")
	elsewhere.ExpectClose(wire.CloseTryLater)
	p.See("[role=status]", "1 connection disconnected")

	// Nobody keeps messages here, and the page says so.
	p.GoTo("Histories")
	p.See("main", "No history is configured at this edge")
	p.GoTo("Presence")
	p.See("main", "No presence is configured at this edge")

	// The third one stands still while the page is open: it is named, and the others are there.
	o.Session(1)
	p.GoTo("Edges")
	third.Signal(syscall.SIGSTOP)
	defer third.Signal(syscall.SIGCONT)
	p.See("main [role=alert]", "edge-2.test")
	p.See("article[aria-label='Edge edge-2.test']", "no answer")
	p.See("article[aria-label='Edge edge-1.test']", "serving")
	p.GoTo("Connections")
	p.See("main [role=alert]", "edge-2.test: did not answer within 2s")
	p.See("main table", "edge-1.test")
	p.GoTo("Overview")
	p.See("main [role=alert]", "The figures leave it out")
	third.Signal(syscall.SIGCONT)
	p.Until("document.querySelector('main [role=alert]').innerText === ''")
	p.See("main table", "edge-2.test")

	// One is drained from the console of another.
	client := o.Session(1)
	p.GoTo("Edges")
	p.Click("button", "Drain edge-1.test")
	p.See("dialog", "Only a restart of the edge ends a drain")
	p.Click("button", "Drain")
	client.ExpectText("RECONNECT")
	p.See("article[aria-label='Edge edge-1.test']", "draining")
	_, refused := second.Open(harness.Handshake{Token: o.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "draining")

	// It is in the audit of both edges, with what it was done to.
	for e, actor := range map[*harness.Edge]string{first: `"actor":"operator:ada"`, second: `"actor":"edge:edge-0.test"`} {
		wantLine(e, `"operation":"disconnect"`, actor, fmt.Sprintf(`"connection":%d`, id))
		wantLine(e, `"operation":"drain"`, actor)
	}
}

// The command has the console's reach; what an edge does not let others do is refused.
func commandOverEdges(o *harness.Overlay) {
	first := o.Edges[0]
	s, other := o.Session(1), o.Session(2)
	id := fmt.Sprint(listed(o.Edges[1])[0].ID)
	first.AdminCLI("connections", "--all").Want(0, "edge-1.test  "+id, "").Want(0, "edge-2.test", "").Lines(3)
	first.AdminCLI("connections", "--edge", "nowhere").Want(1, "", "no such edge")
	first.AdminCLI("disconnect", id, "--edge", "edge-1.test").Want(0, "Closed 1 connection.", "")
	s.ExpectText("ERR:closed_by_operator")
	first.AdminCLI("drain", "--edge", "edge-2.test").Want(1, "", "does not let operators of other edges")
	other.Ping()
	o.Edges[2].AdminCLI("disconnect", "--token-id", listed(o.Edges[2])[0].TokenID).Want(0, "Closed 1 connection.", "")
	other.ExpectText("ERR:closed_by_operator")
}
