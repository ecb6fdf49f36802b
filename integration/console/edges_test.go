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
// edge-0.test to edge-2.test.
func startConsoles(t *testing.T, change func(at int, caddyfile string) string) *harness.Overlay {
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
		o.Edges = append(o.Edges, harness.StartEdge(t, change(i, harness.ConsoleCaddyfile), options...))
	}
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	for _, e := range o.Edges {
		e.Poll("all edges to answer", func() bool { return len(answering(e)) == 3 })
	}
	return o
}

// answering are the names of the edges that answer this one.
func answering(e *harness.Edge) (names []string) {
	e.T.Helper()
	for _, edge := range e.OverlayEdges() {
		if edge.Answered {
			names = append(names, edge.Name)
		}
	}
	return names
}

// A console shows and changes what is at the other edges, and names the one that is silent.
func TestConsoleOverEdges(t *testing.T) {
	t.Parallel()
	o := startConsoles(t, func(_ int, caddyfile string) string { return caddyfile })
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

	// All of a token, at every edge.
	here, there := o.Session(0), o.Session(2)
	p.Evaluate(nil, "void (location.hash = '#/connections?token_id=' + %s)", listed(first)[0].TokenID)
	p.See("main", "2 connections")
	p.Click("button", "Disconnect all of this token")
	p.Click("button", "Disconnect")
	for _, s := range []*harness.Socket{here, there} {
		s.ExpectText("ERR:closed_by_operator")
		s.ExpectClose(wire.CloseTryLater)
	}
	p.See("[role=status]", "2 connections disconnected") // the second edge has been asked, too

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
	for e, want := range map[*harness.Edge][][]string{
		first:  {{`"operation":"disconnect"`, `"actor":"operator:ada"`, fmt.Sprintf(`"connection":%d`, id)}, {`"operation":"drain"`, `"actor":"operator:ada"`, `"edge":"`}},
		second: {{`"operation":"disconnect"`, `"actor":"edge:edge-0.test"`, fmt.Sprintf(`"connection":%d`, id)}, {`"operation":"drain"`, `"actor":"edge:edge-0.test"`}},
	} {
		for _, parts := range want {
			e.Poll(fmt.Sprintf("a line of the audit with %q", parts), func() bool { return hasLine(e.Output(), parts...) })
		}
	}
}

// The command has the console's reach; what an edge does not let others do is refused.
func TestCLIOverEdges(t *testing.T) {
	t.Parallel()
	o := startConsoles(t, func(at int, caddyfile string) string {
		return strings.Replace(caddyfile, "pubsub {", "pubsub {\n\t\tremote_operators "+[]string{"manage", "manage", "view"}[at], 1)
	})
	first, second, third := o.Edges[0], o.Edges[1], o.Edges[2]
	token := first.Issue(harness.AllowAll("lobby"))
	s, others := second.Dial(token.Token), [2]*harness.Socket{o.Session(0), o.Session(2)}
	id := fmt.Sprint(listed(second)[0].ID)

	first.AdminCLI("connections").Lines(2)
	first.AdminCLI("connections", "--all").Want(0, "edge-1.test  "+id, "").Want(0, "edge-2.test", "").Lines(4)
	first.AdminCLI("connections", "--all", "--tenant", "paint.lobby").Want(0, "edge-1.test", "").Lines(2)
	first.AdminCLI("connections", "--edge", "edge-1.test", "--transport", "websocket", "--ip", "127.0.0.0/8").Want(0, token.TokenID, "").Lines(2)
	first.AdminCLI("connections", "--edge", "edge-1.test", "--token-id", strings.Repeat("0", 32)).Lines(1)
	var list struct {
		Edges       []struct{ Name string }
		Connections []struct {
			EdgeName string `json:"edge_name"`
		}
	}
	first.AdminCLI("connections", "--all", "--json").Decode(&list)
	if len(list.Edges) != 3 || len(list.Connections) != 3 {
		t.Errorf("as JSON: %+v", list)
	}
	first.AdminCLI("connections", "--edge", "nowhere").Want(1, "", "no such edge")
	first.AdminCLI("connections", "--edge", "a", "--all").Want(2, "", "cannot be combined")
	first.AdminCLI("connections", "--ip", "here").Want(1, "", "must be an IP address or a CIDR")

	first.AdminCLI("disconnect").Want(2, "", "name either a connection")
	first.AdminCLI("disconnect", "x").Want(2, "", "is a number from 1 on")
	first.AdminCLI("disconnect", id, "--all").Want(2, "", "--all needs --token-id")
	first.AdminCLI("disconnect", "999999").Want(1, "", "no such connection")
	first.AdminCLI("disconnect", id, "--edge", "edge-1.test").Want(0, "Closed 1 connection.", "")
	s.ExpectText("ERR:closed_by_operator")
	s.ExpectClose(wire.CloseTryLater)

	// The third edge lets operators of others see, and nothing else.
	of := listed(first)[0].TokenID
	first.AdminCLI("disconnect", "--token-id", of, "--all").Want(1, "Closed 1 connection.", "edge-2.test")
	others[0].ExpectText("ERR:closed_by_operator")
	first.AdminCLI("drain", "--edge", "edge-2.test").Want(1, "", "does not let operators of other edges")
	others[1].Ping()
	third.AdminCLI("disconnect", "--token-id", of).Want(0, "Closed 1 connection.", "")
	others[1].ExpectText("ERR:closed_by_operator")

	third.Signal(syscall.SIGSTOP)
	defer third.Signal(syscall.SIGCONT)
	first.AdminCLI("connections", "--all").Want(1, "EDGE", "without an answer of 1 edge: edge-2.test: did not answer within 2s")
	third.Signal(syscall.SIGCONT)

	first.Poll("the third edge to answer", func() bool { return len(answering(first)) == 3 })
	first.AdminCLI("drain", "--all").Want(1, "Edge edge-1.test is draining", "edge edge-2.test").Want(1, "Edge edge-0.test is draining", "")
	for _, e := range o.Edges[:2] {
		_, refused := e.Open(harness.Handshake{Token: o.Token})
		refused.Problem(t, http.StatusServiceUnavailable, "draining")
	}
}

// Without the live tail, there is no screen for it and no token.
func TestConsoleWithoutTail(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.ReplaceAll(harness.ConsoleCaddyfile, "operator bob", "tail off\n\t\toperator bob"))
	ada := e.Console().Login("ada", harness.AdaPassword)
	for _, publish := range []bool{false, true} {
		ada.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "#", "publish": publish}).Problem(t, http.StatusNotFound, "not_found")
	}
	var session harness.ConsoleSession
	ada.Get("session").Decode(t, http.StatusOK, &session)
	if session.Tail {
		t.Error("the session says that there is a tail")
	}
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"page": func(_ *testing.T, _ *harness.Edge, p browser.Tab) {
			p.SignIn("ada", harness.AdaPassword)
			p.Until("!document.querySelector('nav').innerText.includes('Live')")
			p.Evaluate(nil, "void (location.hash = '#/live')")
			p.See("h1", "Overview")
		},
	})
}
