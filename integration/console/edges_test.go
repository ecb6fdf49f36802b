package console

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The console and the commands of one edge show and change what is at the others, name the one
// that is silent, and do not do what one does not let others do. People know the edges as
// edge-0.test to edge-2.test; packages overlay and operate have the rules.
func TestConsoleOverEdges(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3)}
	for i, join := range harness.Joining(o.Nodes, "") {
		options := []harness.Option{join, func(e *harness.Edge) {
			e.Broker = strings.Replace(e.Broker, "{\n", fmt.Sprintf("{\nannounce edge-%d.test\n", i), 1)
		}}
		if i > 0 {
			options = append(options, harness.WithMaster(o.Edges[0]))
		}
		remote := "pubsub {\n\t\tremote_operators " + []string{"manage", "manage", "view"}[i]
		caddyfile := strings.Replace(harness.ConsoleCaddyfile, "pubsub {", remote, 1)
		o.Edges = append(o.Edges, harness.StartEdge(t, caddyfile, options...))
	}
	first, second, third := o.Edges[0], o.Edges[1], o.Edges[2]
	o.Token = first.Issue(harness.AllowAll("room")).Token
	elsewhere, other := o.Session(1), o.Session(2)
	var connection []string
	first.Poll("all edges to answer", func() bool {
		out := first.AdminCLI("connections", "--all").Out
		connection = regexp.MustCompile(`edge-1\.test +(\d+) `).FindStringSubmatch(out)
		return connection != nil && strings.Contains(out, "edge-2.test")
	})
	id := connection[1]
	first.AdminCLI("connections", "--edge", "nowhere").Want(1, "", "no such edge")
	first.AdminCLI("drain", "--edge", "edge-2.test").Want(1, "", "does not let operators of other edges")

	chrome := browser.Start(t, "chromium")
	chrome.Expected = regexp.MustCompile("the server responded with a status of 404") // for the details of who has gone
	p := chrome.Open("console", first.HttpURL("/console"), "")
	p.SignIn("ada", harness.AdaPassword)
	p.See("main table", "edge-0.test", "edge-1.test", "edge-2.test")
	p.GoTo("Connections")
	p.Click("button", fmt.Sprintf("Details of connection %s at edge-1.test", id))
	p.Click("button", fmt.Sprintf("Disconnect connection %s at edge-1.test", id), "Disconnect")
	elsewhere.ExpectText("ERR:closed_by_operator")
	elsewhere.ExpectClose(wire.CloseTryLater)
	p.See("[role=status]", "1 connection disconnected")
	// All of a token, at every edge that lets others do that.
	token := first.Issue(harness.AllowAll("twins"))
	twins := []*harness.Socket{first.Dial(token.Token), second.Dial(token.Token)}
	p.Fill("Token id", token.TokenID)
	p.Click("button", "Filter", "Disconnect all of this token", "Disconnect")
	for _, s := range twins {
		s.ExpectText("ERR:closed_by_operator")
		s.ExpectClose(wire.CloseTryLater)
	}
	other.Ping()
	p.See("main", "No connection matches")
	p.GoTo("Histories") // nobody keeps messages here, and the page says so
	p.See("main", "No history is configured at this edge")
	p.GoTo("Presence")
	p.See("main", "No presence is configured at this edge")

	// The third one stands still while the page is open: it is named, and the others are there.
	client := o.Session(1)
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

	// One is drained from the console of another.
	p.GoTo("Edges")
	p.Click("button", "Drain edge-1.test")
	p.See("dialog", "Undrain takes this back")
	p.Click("button", "Drain")
	client.ExpectText("RECONNECT")
	p.See("article[aria-label='Edge edge-1.test']", "draining")
	_, refused := second.Open(harness.Handshake{Token: o.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "draining")
	p.Click("button", "Undrain edge-1.test", "Undrain")
	p.See("article[aria-label='Edge edge-1.test']", "serving")
	o.Session(1).Ping()

	// It is in the audit of both edges, with what it was done to.
	for e, actor := range map[*harness.Edge]string{first: `"actor":"operator:ada"`, second: `"actor":"edge:edge-0.test"`} {
		e.AwaitLine(`"operation":"disconnect"`, actor, fmt.Sprintf(`"connection":%s`, id))
		e.AwaitLine(`"operation":"drain"`, actor)
		e.AwaitLine(`"operation":"undrain"`, actor)
	}
}
