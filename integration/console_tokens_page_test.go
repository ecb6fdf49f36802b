package integration

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func accessTokensOnPage(t *testing.T, e *edge, p tab) {
	// A name of 128 characters that are legal and odd, which no line breaks by itself.
	odd := "paint." + strings.Repeat("~@-_", 30) + "~~"
	request := tokenRequest(grant(odd, []string{"news.#"}, []string{"news.*"}))
	request["created_by"], request["subject"], request["info"] = markup, "Zoë & "+markup, object{"name": markup}
	token := e.issueAs(e.master, request)
	for range 3 {
		e.issue(allowAll("room"))
	}
	s := e.dial(token.Token)
	short := token.TokenID[:12]

	p.signIn("ada", adaPassword)
	p.goTo("Access tokens")
	p.fill("Id", token.Token) // the whole, which must not get into an address
	p.click("button", "Search")
	p.see("main", short)
	p.until("location.hash === '#/tokens?id=' + %s", token.TokenID)
	for label, value := range map[string]string{"Id": token.TokenID[:5], "Tenant": odd, "Subject": "Zoë & " + markup, "Created by": markup} {
		p.fill(label, value)
		p.click("button", "Search")
		p.until("document.querySelectorAll('main tbody').length > 0 && document.querySelectorAll('main code').length > 0")
		p.see("main", short)
		p.click("link", "Clear")
		p.until("location.hash === '#/tokens' && [...document.querySelectorAll('main form input')].every((field) => field.value === '')")
	}
	p.fill("Created by", markup)
	p.choose("State", "revoked")
	p.click("button", "Search")
	p.see("main", "No access token matches")
	p.choose("State", "valid")
	p.click("button", "Search")
	p.click("button", "Details of token "+short)
	p.see("main", "publish to news.#")
	p.see("main dl", "Zoë & "+markup)
	p.see("main dl", `{"name":`)
	var over int
	p.evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	if over > 0 {
		t.Errorf("a long name makes the page %d pixels too wide", over)
	}

	p.click("button", "Explain "+short)
	p.see("dialog h2", "Explain")
	p.choose("Action", "publish")
	p.fill("Tenant", odd)
	p.fill("Address", "192.0.2.1")
	p.choose("Transport", "webtransport")
	p.fill("Channel", "news.today")
	p.click("button", "Explain")
	p.see("dialog", "llowed")
	p.see("dialog mark", "news.#")
	p.fill("Channel", "other")
	p.click("button", "Explain")
	p.see("dialog", "ot allowed")
	p.press("Escape")
	p.until("!document.querySelector('dialog[open]')")

	p.click("button", "Refresh "+short)
	p.fill("New end", "25h")
	p.click("button", "Refresh")
	p.see("dialog", "24 hours")
	p.fill("New end", "2h")
	p.click("button", "Refresh")
	p.see("[role=status]", "now ends")
	at := slices.IndexFunc(e.list(e.master, "limit=1000").Tokens, func(l listedToken) bool { return l.TokenID == token.TokenID })
	ends, err := time.Parse(time.RFC3339, e.list(e.master, "limit=1000").Tokens[at].ExpiresAt)
	if left := time.Until(ends); err != nil || left < 110*time.Minute || left > 121*time.Minute {
		t.Errorf("after a refresh to 2 hours it ends in %v, %v", left, err)
	}

	p.click("button", "Revoke "+short)
	p.see("dialog", "1 connection ends with it")
	p.click("button", "Revoke")
	p.see("[role=status]", "was revoked")
	s.expectText("ERR:token_revoked")
	s.expectClose(wire.CloseForbidden)
	if got := e.status(e.master, token.TokenID); got != "revoked" {
		t.Errorf("it is %s", got)
	}

	p.click("button", "Issue a trial token")
	p.fill("Tenants", "paint.trial")
	p.fill("May publish to", "#")
	p.fill("May subscribe to", "#")
	p.fill("Created by", "the page")
	p.click("button", "Issue")
	trial := p.secret("Access token")
	u := e.dial(trial)
	u.subscribe("paint.trial", "#")
	u.publish("paint.trial", "a", "x")
	u.expectDeliver("paint.trial", "a", "x", "#")

	// All tokens of a subject, after the page has said how many.
	var sockets []*socket
	for range 2 {
		request := tokenRequest(allowAll("room"))
		request["subject"] = "Ada & co"
		sockets = append(sockets, e.dial(e.issueAs(e.master, request).Token))
	}
	p.click("link", "Clear")
	p.until("location.hash === '#/tokens'")
	p.fill("Subject", "Ada & co")
	p.click("button", "Search")
	p.click("button", "Revoke all of this subject")
	p.see("dialog", "2 valid tokens end")
	p.click("button", "Revoke all")
	p.see("[role=status]", "2 tokens revoked")
	for _, s := range sockets {
		s.expectText("ERR:token_revoked")
	}
	p.until("document.querySelectorAll('main tbody tr').length === 2 && !document.querySelector('main tbody').innerText.includes('valid')")
	u.ping() // nobody else is concerned
	p.wantForgotten(trial, token.Token, adaPassword)
}

func connectionsOnPage(t *testing.T, e *edge, p tab) {
	p.expected = regexp.MustCompile("the server responded with a status of 404") // the details of a connection that has ended
	request := tokenRequest(allowAll("room"))
	request["subject"] = "Zoë & " + markup
	token, other := e.issueAs(e.master, request), e.issue(allowAll("lobby"))
	first, second, third := e.dial(token.Token), e.dial(token.Token), e.dial(other.Token)
	second.subscribe("paint.room", "orders.*")
	id := func(of issued, n int) string {
		t.Helper()
		var ids []string
		for _, c := range e.listed() {
			if c.TokenID == of.TokenID {
				ids = append(ids, fmt.Sprint(c.ID))
			}
		}
		return ids[n]
	}
	p.signIn("ada", adaPassword)
	p.goTo("Connections")
	p.fill("Tenant", "paint.room")
	p.click("button", "Filter")
	p.gone("main table", other.TokenID[:8])
	p.see("main table", token.TokenID[:8])
	p.click("link", "Clear")
	p.see("main table", other.TokenID[:8])
	p.fill("Subject", "Zoë & "+markup)
	p.click("button", "Filter")
	p.gone("main table", other.TokenID[:8])
	p.see("main table", "Zoë & ")
	p.click("button", "Details of connection "+id(token, 1)+" at this edge")
	p.see("main", "orders.*")
	p.see("main dl", "Zoë & "+markup)
	p.click("button", "Disconnect connection "+id(token, 1)+" at this edge")
	p.see("dialog", "may come back while its token is valid")
	p.click("button", "Disconnect")
	second.expectText("ERR:closed_by_operator")
	second.expectClose(wire.CloseTryLater)
	p.see("[role=status]", "1 connection disconnected")
	p.click("button", "Details of connection "+id(token, 0)+" at this edge")
	p.click("button", "Disconnect connection "+id(token, 0)+" at this edge")
	p.click("checkbox", "All connections of its token")
	p.click("button", "Disconnect")
	first.expectText("ERR:closed_by_operator")
	first.expectClose(wire.CloseTryLater)
	third.ping()
	p.see("main", "o connection") // the filter matches nobody any more
}

func liveOnPage(t *testing.T, e *edge, p tab) {
	token := e.issue(allowAll("room"))
	s := e.dial(token.Token)
	s.subscribe("paint.room", "#")
	p.signIn("ada", adaPassword)
	p.goTo("Live")
	p.fill("Tenant", "paint.room")
	p.fill("Pattern", "news.#")
	p.click("checkbox", "Allow a test publish")
	p.click("button", "Start")
	p.see("[role=status]", "receiving")
	s.publish("paint.room", "news.one", `{"a":[1,2]}`+markup)
	s.expectDeliver("paint.room", "news.one", `{"a":[1,2]}`+markup, "#")
	p.see(".messages", "news.one")
	p.see(".messages", markup)
	p.choose("Payload as", "hex")
	p.see(".messages", "7b 22 61")
	p.click("button", "Pause")
	s.publish("paint.room", "news.two", "x")
	s.expectDeliver("paint.room", "news.two", "x", "#")
	p.see("main", "since the pause not shown")
	p.click("button", "Resume")
	p.fill("Channel", "news.test")
	p.fill("Payload", "from the page")
	p.click("button", "Publish")
	s.expectDeliver("paint.room", "news.test", "from the page", "#")
	p.see(".messages", "news.test")

	var live string
	for _, c := range e.listed() {
		if c.TokenID != token.TokenID {
			live = c.TokenID
		}
	}
	var created string
	for _, l := range e.list(e.master, "limit=1000").Tokens {
		if l.TokenID == live {
			created = l.CreatedBy
		}
	}
	if created != "console:ada" {
		t.Errorf("the tail's token is of %q", created)
	}
	p.click("button", "Sign out")
	p.see("h1", "Sign in")
	e.poll("the end of the tail", func() bool { return e.status(e.master, live) == "revoked" && len(e.listed()) == 1 })
}

// keyboardOnPage makes a master token, and ends a connection, without a pointer.
func keyboardOnPage(t *testing.T, e *edge, p tab) {
	token := e.issue(allowAll("keys"))
	s := e.dial(token.Token)
	p.window(360, 640, "dark")
	p.see("h1", "Sign in")
	var named bool
	if p.evaluate(&named, `document.activeElement.labels?.[0]?.innerText === "Name"`); !named {
		t.Error("the first field does not have the focus as soon as it is there")
	}
	p.press("ada", "Tab", adaPassword, "Enter")
	p.see("h1", "Overview")

	// tabTo goes on by Tab until what has the focus has this name, and is seen to have it.
	tabTo := func(name string) {
		t.Helper()
		for range 200 {
			var focus struct{ Name, Outline string }
			p.evaluate(&focus, `(() => {
				const e = document.activeElement, s = getComputedStyle(e);
				return {name: e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "", outline: s.outlineStyle + s.boxShadow};
			})()`)
			if strings.TrimSpace(focus.Name) == name {
				if focus.Outline == "nonenone" {
					t.Errorf("it cannot be seen that %s has the focus", name)
				}
				return
			}
			p.press("Tab")
		}
		t.Fatalf("Tab does not lead to %s", name)
	}
	tabTo("Master tokens")
	p.press("Enter")
	p.see("h1", "Master tokens")
	tabTo("New master token")
	p.press("Enter")
	p.press("by keyboard", "Tab", "Tab", "keyed", "Enter")
	p.see("dialog h2", "The master token")
	var master string
	p.evaluate(&master, `document.querySelector("dialog pre[aria-label='Master token']").innerText`)
	tabTo("Done")
	p.press("Enter")
	p.until("!document.querySelector('dialog[open]')")
	if got := e.rest("POST", "/v1/get-token", master, tokenRequest(allowAll("x"))); got.Status != http.StatusOK {
		t.Errorf("the master token made by keyboard: %d %s", got.Status, got.Body)
	}

	p.evaluate(nil, "void (location.hash = '#/connections?token_id=' + %s)", token.TokenID)
	p.see("h1", "Connections")
	p.until("document.querySelector('main button[aria-label^=\"Details of connection\"]')")
	var details string
	p.evaluate(&details, `document.querySelector('main button[aria-label^="Details of connection"]').getAttribute("aria-label")`)
	tabTo(details)
	p.press("Enter")
	tabTo(strings.Replace(details, "Details of", "Disconnect", 1))
	p.press("Enter")
	p.see("dialog", "Disconnect this connection")
	p.press("Escape")
	p.until("!document.querySelector('dialog[open]')")
	tabTo(strings.Replace(details, "Details of", "Disconnect", 1)) // the focus is where it was
	p.press("Enter")
	p.see("dialog", "Disconnect this connection")
	tabTo("Disconnect")
	p.press("Enter")
	s.expectText("ERR:closed_by_operator")
}

// listed are the connections of the edge, oldest first, as the admin API lists them.
func (e *edge) listed() []pubsub.Stat {
	e.t.Helper()
	var answer struct {
		Connections []pubsub.Stat `json:"connections"`
	}
	e.do(call{Method: "GET", URL: e.adminURL("/pubsub/connections")}).decode(e.t, http.StatusOK, &answer)
	return answer.Connections
}
