package console

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func accessTokensOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	// A name of 128 characters that are legal and odd, which no line breaks by itself.
	odd := "paint." + strings.Repeat("~@-_", 30) + "~~"
	request := harness.TokenRequest(harness.Grant(odd, []string{"news.#"}, []string{"news.*"}))
	request["created_by"], request["subject"], request["info"] = markup, "Zoë & "+markup, harness.Object{"name": markup}
	token := e.IssueAs(e.Master, request)
	for range 3 {
		e.Issue(harness.AllowAll("room"))
	}
	s := e.Dial(token.Token)
	short := token.TokenID[:12]

	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Access tokens")
	p.Fill("Id", token.Token) // the whole, which must not get into an address
	p.Click("button", "Search")
	p.See("main", short)
	p.Until("location.hash === '#/tokens?id=' + %s", token.TokenID)
	for label, value := range map[string]string{"Id": token.TokenID[:5], "Tenant": odd, "Subject": "Zoë & " + markup, "Created by": markup} {
		p.Fill(label, value)
		p.Click("button", "Search")
		p.Until("document.querySelectorAll('main tbody').length > 0 && document.querySelectorAll('main code').length > 0")
		p.See("main", short)
		p.Click("link", "Clear")
		p.Until("location.hash === '#/tokens' && [...document.querySelectorAll('main form input')].every((field) => field.value === '')")
	}
	p.Fill("Created by", markup)
	p.Choose("State", "revoked")
	p.Click("button", "Search")
	p.See("main", "No access token matches")
	p.Choose("State", "valid")
	p.Click("button", "Search")
	p.Click("button", "Details of token "+short)
	p.See("main", "publish to news.#")
	p.See("main dl", "Zoë & "+markup)
	p.See("main dl", `{"name":`)
	var over int
	p.Evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	if over > 0 {
		t.Errorf("a long name makes the page %d pixels too wide", over)
	}

	p.Click("button", "Explain "+short)
	p.See("dialog h2", "Explain")
	p.Choose("Action", "publish")
	p.Fill("Tenant", odd)
	p.Fill("Address", "192.0.2.1")
	p.Choose("Transport", "webtransport")
	p.Fill("Channel", "news.today")
	p.Click("button", "Explain")
	p.See("dialog", "llowed")
	p.See("dialog mark", "news.#")
	p.Fill("Channel", "other")
	p.Click("button", "Explain")
	p.See("dialog", "ot allowed")
	p.Press("Escape")
	p.Until("!document.querySelector('dialog[open]')")

	p.Click("button", "Refresh "+short)
	p.Fill("New end", "25h")
	p.Click("button", "Refresh")
	p.See("dialog", "24 hours")
	p.Fill("New end", "2h")
	p.Click("button", "Refresh")
	p.See("[role=status]", "now ends")
	at := slices.IndexFunc(e.List(e.Master, "limit=1000").Tokens, func(l harness.ListedToken) bool { return l.TokenID == token.TokenID })
	ends, err := time.Parse(time.RFC3339, e.List(e.Master, "limit=1000").Tokens[at].ExpiresAt)
	if left := time.Until(ends); err != nil || left < 110*time.Minute || left > 121*time.Minute {
		t.Errorf("after a refresh to 2 hours it ends in %v, %v", left, err)
	}

	p.Click("button", "Revoke "+short)
	p.See("dialog", "1 connection ends with it")
	p.Click("button", "Revoke")
	p.See("[role=status]", "was revoked")
	s.ExpectText("ERR:token_revoked")
	s.ExpectClose(wire.CloseForbidden)
	if got := e.Status(e.Master, token.TokenID); got != "revoked" {
		t.Errorf("it is %s", got)
	}

	p.Click("button", "Issue a trial token")
	p.Fill("Tenants", "paint.trial")
	p.Fill("May publish to", "#")
	p.Fill("May subscribe to", "#")
	p.Fill("Created by", "the page")
	p.Click("button", "Issue")
	trial := p.Secret("Access token")
	u := e.Dial(trial)
	u.Subscribe("paint.trial", "#")
	u.Publish("paint.trial", "a", "x")
	u.ExpectDeliver("paint.trial", "a", "x", "#")

	// All tokens of a subject, after the page has said how many.
	var sockets []*harness.Socket
	for range 2 {
		request := harness.TokenRequest(harness.AllowAll("room"))
		request["subject"] = "Ada & co"
		sockets = append(sockets, e.Dial(e.IssueAs(e.Master, request).Token))
	}
	p.Click("link", "Clear")
	p.Until("location.hash === '#/tokens'")
	p.Fill("Subject", "Ada & co")
	p.Click("button", "Search")
	p.Click("button", "Revoke all of this subject")
	p.See("dialog", "2 valid tokens end")
	p.Click("button", "Revoke all")
	p.See("[role=status]", "2 tokens revoked")
	for _, s := range sockets {
		s.ExpectText("ERR:token_revoked")
	}
	p.Until("document.querySelectorAll('main tbody tr').length === 2 && !document.querySelector('main tbody').innerText.includes('valid')")
	u.Ping() // nobody else is concerned
	p.WantForgotten(trial, token.Token, harness.AdaPassword)
}

func connectionsOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	p.Expected = regexp.MustCompile("the server responded with a status of 404") // the details of a connection that has ended
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["subject"] = "Zoë & " + markup
	token, other := e.IssueAs(e.Master, request), e.Issue(harness.AllowAll("lobby"))
	first, second, third := e.Dial(token.Token), e.Dial(token.Token), e.Dial(other.Token)
	second.Subscribe("paint.room", "orders.*")
	id := func(of harness.Issued, n int) string {
		t.Helper()
		var ids []string
		for _, c := range listed(e) {
			if c.TokenID == of.TokenID {
				ids = append(ids, fmt.Sprint(c.ID))
			}
		}
		return ids[n]
	}
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Connections")
	p.Fill("Tenant", "paint.room")
	p.Click("button", "Filter")
	p.Gone("main table", other.TokenID[:8])
	p.See("main table", token.TokenID[:8])
	p.Click("link", "Clear")
	p.See("main table", other.TokenID[:8])
	p.Fill("Subject", "Zoë & "+markup)
	p.Click("button", "Filter")
	p.Gone("main table", other.TokenID[:8])
	p.See("main table", "Zoë & ")
	p.Click("button", "Details of connection "+id(token, 1)+" at this edge")
	p.See("main", "orders.*")
	p.See("main dl", "Zoë & "+markup)
	p.Click("button", "Disconnect connection "+id(token, 1)+" at this edge")
	p.See("dialog", "may come back while its token is valid")
	p.Click("button", "Disconnect")
	second.ExpectText("ERR:closed_by_operator")
	second.ExpectClose(wire.CloseTryLater)
	p.See("[role=status]", "1 connection disconnected")
	p.Click("button", "Details of connection "+id(token, 0)+" at this edge")
	p.Click("button", "Disconnect connection "+id(token, 0)+" at this edge")
	p.Click("checkbox", "All connections of its token")
	p.Click("button", "Disconnect")
	first.ExpectText("ERR:closed_by_operator")
	first.ExpectClose(wire.CloseTryLater)
	third.Ping()
	p.See("main", "o connection") // the filter matches nobody any more
}

func liveOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	token := e.Issue(harness.AllowAll("room"))
	s := e.Dial(token.Token)
	s.Subscribe("paint.room", "#")
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Live")
	p.Fill("Tenant", "paint.room")
	p.Fill("Pattern", "news.#")
	p.Click("checkbox", "Allow a test publish")
	p.Click("button", "Start")
	p.See("[role=status]", "receiving")
	s.Publish("paint.room", "news.one", `{"a":[1,2]}`+markup)
	s.ExpectDeliver("paint.room", "news.one", `{"a":[1,2]}`+markup, "#")
	p.See(".messages", "news.one")
	p.See(".messages", markup)
	p.Choose("Payload as", "hex")
	p.See(".messages", "7b 22 61")
	p.Click("button", "Pause")
	s.Publish("paint.room", "news.two", "x")
	s.ExpectDeliver("paint.room", "news.two", "x", "#")
	p.See("main", "since the pause not shown")
	p.Click("button", "Resume")
	p.Fill("Channel", "news.test")
	p.Fill("Payload", "from the page")
	p.Click("button", "Publish")
	s.ExpectDeliver("paint.room", "news.test", "from the page", "#")
	p.See(".messages", "news.test")

	var live string
	for _, c := range listed(e) {
		if c.TokenID != token.TokenID {
			live = c.TokenID
		}
	}
	var created string
	for _, l := range e.List(e.Master, "limit=1000").Tokens {
		if l.TokenID == live {
			created = l.CreatedBy
		}
	}
	if created != "console:ada" {
		t.Errorf("the tail's token is of %q", created)
	}
	p.Click("button", "Sign out")
	p.See("h1", "Sign in")
	e.Poll("the end of the tail", func() bool { return e.Status(e.Master, live) == "revoked" && len(listed(e)) == 1 })
}

// keyboardOnPage makes a master token, and ends a connection, without a pointer.
func keyboardOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	token := e.Issue(harness.AllowAll("keys"))
	s := e.Dial(token.Token)
	p.Window(360, 640, "dark")
	p.See("h1", "Sign in")
	var named bool
	if p.Evaluate(&named, `document.activeElement.labels?.[0]?.innerText === "Name"`); !named {
		t.Error("the first field does not have the focus as soon as it is there")
	}
	p.Press("ada", "Tab", harness.AdaPassword, "Enter")
	p.See("h1", "Overview")

	// tabTo goes on by Tab until what has the focus has this name, and is seen to have it.
	tabTo := func(name string) {
		t.Helper()
		for range 200 {
			var focus struct{ Name, Outline string }
			p.Evaluate(&focus, `(() => {
				const e = document.activeElement, s = getComputedStyle(e);
				return {name: e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "", outline: s.outlineStyle + s.boxShadow};
			})()`)
			if strings.TrimSpace(focus.Name) == name {
				if focus.Outline == "nonenone" {
					t.Errorf("it cannot be seen that %s has the focus", name)
				}
				return
			}
			p.Press("Tab")
		}
		t.Fatalf("Tab does not lead to %s", name)
	}
	tabTo("Master tokens")
	p.Press("Enter")
	p.See("h1", "Master tokens")
	tabTo("New master token")
	p.Press("Enter")
	p.Press("by keyboard", "Tab", "Tab", "keyed", "Enter")
	p.See("dialog h2", "The master token")
	var master string
	p.Evaluate(&master, `document.querySelector("dialog pre[aria-label='Master token']").innerText`)
	tabTo("Done")
	p.Press("Enter")
	p.Until("!document.querySelector('dialog[open]')")
	if got := e.Rest("POST", "/v1/get-token", master, harness.TokenRequest(harness.AllowAll("x"))); got.Status != http.StatusOK {
		t.Errorf("the master token made by keyboard: %d %s", got.Status, got.Body)
	}

	p.Evaluate(nil, "void (location.hash = '#/connections?token_id=' + %s)", token.TokenID)
	p.See("h1", "Connections")
	p.Until("document.querySelector('main button[aria-label^=\"Details of connection\"]')")
	var details string
	p.Evaluate(&details, `document.querySelector('main button[aria-label^="Details of connection"]').getAttribute("aria-label")`)
	tabTo(details)
	p.Press("Enter")
	tabTo(strings.Replace(details, "Details of", "Disconnect", 1))
	p.Press("Enter")
	p.See("dialog", "Disconnect this connection")
	p.Press("Escape")
	p.Until("!document.querySelector('dialog[open]')")
	tabTo(strings.Replace(details, "Details of", "Disconnect", 1)) // the focus is where it was
	p.Press("Enter")
	p.See("dialog", "Disconnect this connection")
	tabTo("Disconnect")
	p.Press("Enter")
	s.ExpectText("ERR:closed_by_operator")
}

// listed are the connections of the edge, oldest first, as the admin API lists them.
func listed(e *harness.Edge) []pubsub.Stat {
	e.T.Helper()
	var answer struct {
		Connections []pubsub.Stat `json:"connections"`
	}
	e.Do(harness.Call{Method: "GET", URL: e.AdminURL("/pubsub/connections")}).Decode(e.T, http.StatusOK, &answer)
	return answer.Connections
}
