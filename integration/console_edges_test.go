package integration

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/wire"
)

// startConsoles starts three edges of one overlay with a console each, which people know as
// edge-0.test to edge-2.test.
func startConsoles(t *testing.T, change func(at int, caddyfile string) string) *overlay {
	t.Helper()
	o := &overlay{t: t, nodes: startNATS(t, 3)}
	for i, join := range joining(o.nodes, "") {
		join := func(e *edge) {
			join(e)
			e.Broker = strings.Replace(e.Broker, "{\n", fmt.Sprintf("{\nannounce edge-%d.test\n", i), 1)
		}
		options := []option{join}
		if i > 0 {
			options = append(options, withMaster(o.edges[0]))
		}
		o.edges = append(o.edges, startEdge(t, change(i, consoleCaddyfile), options...))
	}
	o.token = o.edges[0].issue(allowAll("room")).Token
	for _, e := range o.edges {
		e.poll("all edges to answer", func() bool { return len(e.answering()) == 3 })
	}
	return o
}

// overlayEdge is one of the edges that an edge knows, itself included.
type overlayEdge struct {
	Name     string
	Answered bool
	Status   struct{ Version string }
}

// overlayEdges are those that the admin endpoint lists.
func (e *edge) overlayEdges() []overlayEdge {
	e.t.Helper()
	var list struct{ Edges []overlayEdge }
	e.do(call{Method: "GET", URL: e.adminURL("/pubsub/edges")}).decode(e.t, http.StatusOK, &list)
	return list.Edges
}

// answering are the names of the edges that answer this one.
func (e *edge) answering() (names []string) {
	e.t.Helper()
	for _, edge := range e.overlayEdges() {
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
	first, second, third := o.edges[0], o.edges[1], o.edges[2]
	chrome := &browser{t: t, name: "chromium", driver: startChromium(t), context: t.Name()}
	p := chrome.open("console", first.httpURL("/console"), "")
	p.signIn("ada", adaPassword)
	for _, name := range []string{"edge-0.test", "edge-1.test", "edge-2.test"} {
		p.see("main table", name)
	}

	// A connection at the second edge, ended from the console of the first.
	elsewhere := o.session(1)
	id := second.listed()[0].ID
	p.goTo("Connections")
	p.click("button", fmt.Sprintf("Details of connection %d at edge-1.test", id))
	p.click("button", fmt.Sprintf("Disconnect connection %d at edge-1.test", id))
	p.click("button", "Disconnect")
	elsewhere.expectText("ERR:closed_by_operator")
	elsewhere.expectClose(wire.CloseTryLater)
	p.see("[role=status]", "1 connection disconnected")

	// All of a token, at every edge.
	here, there := o.session(0), o.session(2)
	p.evaluate(nil, "void (location.hash = '#/connections?token_id=' + %s)", first.listed()[0].TokenID)
	p.see("main", "2 connections")
	p.click("button", "Disconnect all of this token")
	p.click("button", "Disconnect")
	for _, s := range []*socket{here, there} {
		s.expectText("ERR:closed_by_operator")
		s.expectClose(wire.CloseTryLater)
	}
	p.see("[role=status]", "2 connections disconnected") // the second edge has been asked, too

	// The third one stands still while the page is open: it is named, and the others are there.
	o.session(1)
	p.goTo("Edges")
	third.signal(syscall.SIGSTOP)
	defer third.signal(syscall.SIGCONT)
	p.see("main [role=alert]", "edge-2.test")
	p.see("article[aria-label='Edge edge-2.test']", "no answer")
	p.see("article[aria-label='Edge edge-1.test']", "serving")
	p.goTo("Connections")
	p.see("main [role=alert]", "edge-2.test: did not answer within 2s")
	p.see("main table", "edge-1.test")
	p.goTo("Overview")
	p.see("main [role=alert]", "The figures leave it out")
	third.signal(syscall.SIGCONT)
	p.until("document.querySelector('main [role=alert]').innerText === ''")
	p.see("main table", "edge-2.test")

	// One is drained from the console of another.
	client := o.session(1)
	p.goTo("Edges")
	p.click("button", "Drain edge-1.test")
	p.see("dialog", "Only a restart of the edge ends a drain")
	p.click("button", "Drain")
	client.expectText("RECONNECT")
	p.see("article[aria-label='Edge edge-1.test']", "draining")
	_, refused := second.open(handshake{Token: o.token})
	refused.problem(t, http.StatusServiceUnavailable, "draining")

	// It is in the audit of both edges, with what it was done to.
	for e, want := range map[*edge][][]string{
		first:  {{`"operation":"disconnect"`, `"actor":"operator:ada"`, fmt.Sprintf(`"connection":%d`, id)}, {`"operation":"drain"`, `"actor":"operator:ada"`, `"edge":"`}},
		second: {{`"operation":"disconnect"`, `"actor":"edge:edge-0.test"`, fmt.Sprintf(`"connection":%d`, id)}, {`"operation":"drain"`, `"actor":"edge:edge-0.test"`}},
	} {
		for _, parts := range want {
			e.poll(fmt.Sprintf("a line of the audit with %q", parts), func() bool { return hasLine(e.output(), parts...) })
		}
	}
}

// The command has the console's reach; what an edge does not let others do is refused.
func TestCLIOverEdges(t *testing.T) {
	t.Parallel()
	o := startConsoles(t, func(at int, caddyfile string) string {
		return strings.Replace(caddyfile, "pubsub {", "pubsub {\n\t\tremote_operators "+[]string{"manage", "manage", "view"}[at], 1)
	})
	first, second, third := o.edges[0], o.edges[1], o.edges[2]
	token := first.issue(allowAll("lobby"))
	s, others := second.dial(token.Token), [2]*socket{o.session(0), o.session(2)}
	id := fmt.Sprint(second.listed()[0].ID)

	first.admin("connections").lines(2)
	first.admin("connections", "--all").want(0, "edge-1.test  "+id, "").want(0, "edge-2.test", "").lines(4)
	first.admin("connections", "--all", "--tenant", "paint.lobby").want(0, "edge-1.test", "").lines(2)
	first.admin("connections", "--edge", "edge-1.test", "--transport", "websocket", "--ip", "127.0.0.0/8").want(0, token.TokenID, "").lines(2)
	first.admin("connections", "--edge", "edge-1.test", "--token-id", strings.Repeat("0", 32)).lines(1)
	var list struct {
		Edges       []struct{ Name string }
		Connections []struct {
			EdgeName string `json:"edge_name"`
		}
	}
	first.admin("connections", "--all", "--json").decode(&list)
	if len(list.Edges) != 3 || len(list.Connections) != 3 {
		t.Errorf("as JSON: %+v", list)
	}
	first.admin("connections", "--edge", "nowhere").want(1, "", "no such edge")
	first.admin("connections", "--edge", "a", "--all").want(2, "", "cannot be combined")
	first.admin("connections", "--ip", "here").want(1, "", "must be an IP address or a CIDR")

	first.admin("disconnect").want(2, "", "name either a connection")
	first.admin("disconnect", "x").want(2, "", "is a number from 1 on")
	first.admin("disconnect", id, "--all").want(2, "", "--all needs --token-id")
	first.admin("disconnect", "999999").want(1, "", "no such connection")
	first.admin("disconnect", id, "--edge", "edge-1.test").want(0, "Closed 1 connection.", "")
	s.expectText("ERR:closed_by_operator")
	s.expectClose(wire.CloseTryLater)

	// The third edge lets operators of others see, and nothing else.
	of := first.listed()[0].TokenID
	first.admin("disconnect", "--token-id", of, "--all").want(1, "Closed 1 connection.", "edge-2.test")
	others[0].expectText("ERR:closed_by_operator")
	first.admin("drain", "--edge", "edge-2.test").want(1, "", "does not let operators of other edges")
	others[1].ping()
	third.admin("disconnect", "--token-id", of).want(0, "Closed 1 connection.", "")
	others[1].expectText("ERR:closed_by_operator")

	third.signal(syscall.SIGSTOP)
	defer third.signal(syscall.SIGCONT)
	first.admin("connections", "--all").want(1, "EDGE", "without an answer of 1 edge: edge-2.test: did not answer within 2s")
	third.signal(syscall.SIGCONT)

	first.poll("the third edge to answer", func() bool { return len(first.answering()) == 3 })
	first.admin("drain", "--all").want(1, "Edge edge-1.test is draining", "edge edge-2.test").want(1, "Edge edge-0.test is draining", "")
	for _, e := range o.edges[:2] {
		_, refused := e.open(handshake{Token: o.token})
		refused.problem(t, http.StatusServiceUnavailable, "draining")
	}
}

// Without the live tail, there is no screen for it and no token.
func TestConsoleWithoutTail(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.ReplaceAll(consoleCaddyfile, "operator bob", "tail off\n\t\toperator bob"))
	ada := e.console().login("ada", adaPassword)
	for _, publish := range []bool{false, true} {
		ada.call("POST", "live-token", object{"tenant": "paint.room", "pattern": "#", "publish": publish}).problem(t, http.StatusNotFound, "not_found")
	}
	var session consoleSession
	ada.get("session").decode(t, http.StatusOK, &session)
	if session.Tail {
		t.Error("the session says that there is a tail")
	}
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"page": func(_ *testing.T, _ *edge, p tab) {
			p.signIn("ada", adaPassword)
			p.until("!document.querySelector('nav').innerText.includes('Live')")
			p.evaluate(nil, "void (location.hash = '#/live')")
			p.see("h1", "Overview")
		},
	})
}
