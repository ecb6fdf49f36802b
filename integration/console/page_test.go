package console

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What operators do on the page has its effect at the edge.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	browser.InConsole(t, harness.StartEdge(t, consoleCaddyfile), map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"master tokens":          masterTokensOnPage,
		"access tokens":          accessTokensOnPage,
		"refused":                refusedOnPage,
		"live":                   liveOnPage,
		"histories":              historiesOnPage,
		"what viewers see":       viewersOnPage,
		"by keyboard, 360 × 640": keyboardOnPage,
	})
}

// markup would run, or hide, if names were more than text on the page.
const markup = `<img src=x onerror=document.title='hit'>"'{{x}}` + "\u202eoxo"

// masterTokensOnPage makes one, with a session that ends meanwhile, rotates and deletes it.
func masterTokensOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	p.Expected = regexp.MustCompile("the server responded with a status of 401")
	p.SignIn("ada", harness.AdaPassword, "Master tokens")
	p.Click("button", "New master token")
	p.Fill("Name", markup, "Tenant prefix", "made")
	// Somebody signs the browser out in another tab.
	p.Evaluate(nil, `fetch("/console/api/session", {method: "DELETE", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.status)`)
	p.Click("button", "Create")
	p.See("dialog h2", "Your session has ended")
	p.Fill("Password", harness.AdaPassword)
	p.Click("button", "Sign in")
	p.See("dialog", "MILLRACE_MASTER_TOKEN=MT_")
	p.Click("button", "Copy the token")
	p.See("dialog .copy", "Copied.")
	first := p.Secret("Master token")
	p.Until("navigator.clipboard.readText().then((text) => text === %s)", first)
	p.See("main", markup)
	e.List(first, "")
	p.Click("button", "Rotate "+markup, "Rotate")
	second := p.Secret("Master token")
	e.Rest("GET", "/v1/tokens", first, nil).Problem(t, http.StatusUnauthorized, "bad_master_token")
	// The access tokens that it issued end with it, if so asked.
	client := e.Dial(e.IssueAs(second, harness.TokenRequest(harness.AllowAll("room"))).Token)
	p.Click("button", "Delete "+markup)
	p.Fill("Type the name to confirm", markup)
	p.Click("checkbox", "Revoke the access tokens that it issued")
	p.Click("button", "Delete")
	client.ExpectText("ERR:token_revoked")
	client.ExpectClose(wire.CloseForbidden)
	p.Until("!document.querySelector('main .cards')?.innerText.includes(%s)", markup)
	e.Rest("GET", "/v1/tokens", second, nil).Problem(t, http.StatusUnauthorized, "bad_master_token")
	p.WantForgotten(first, second, harness.AdaPassword)
	p.Until("!document.title.includes('hit')")
}

func accessTokensOnPage(_ *testing.T, e *harness.Edge, p browser.Tab) {
	request := harness.TokenRequest(harness.Grant("room", []string{"news.#"}, []string{"news.*"}))
	request["created_by"], request["subject"], request["info"] = markup, "Zoë & "+markup, harness.Object{"name": markup}
	token := e.IssueAs(e.Master, request)
	s, short := e.Dial(token.Token), token.TokenID[:12]
	p.SignIn("ada", harness.AdaPassword, "Access tokens")
	p.Fill("Id", token.Token) // the whole, which must not get into an address
	p.Click("button", "Search")
	p.See("main", short)
	p.Until("location.hash === '#/tokens?id=' + %s", token.TokenID)
	p.Click("button", "Details of token "+short)
	p.See("main", "publish to news.#")
	p.See("main dl", "Zoë & "+markup)

	p.Click("button", "Explain "+short)
	p.Choose("Action", "publish")
	p.Fill("Tenant", "paint.room", "Channel", "news.today")
	p.Click("button", "Explain")
	p.See("dialog mark", "news.#")
	p.Fill("Channel", "other")
	p.Click("button", "Explain")
	p.See("dialog", "ot allowed")
	p.Press("Escape")
	p.Until("!document.querySelector('dialog[open]')")
	p.Click("button", "Revoke "+short)
	p.See("dialog", "1 connection ends with it")
	p.Click("button", "Revoke")
	p.See("[role=status]", "was revoked")
	s.ExpectText("ERR:token_revoked")

	p.Click("button", "Issue a trial token")
	p.Fill("Tenants", "paint.trial", "May publish to", "#", "May subscribe to", "#", "Created by", "the page")
	p.Click("button", "Issue")
	trial := p.Secret("Access token")
	e.Dial(trial).Subscribe("paint.trial", "#")

	// All tokens of a subject, after the page has said how many.
	s = e.Dial(e.SubjectToken("Ada & co", "", "paint.room"))
	p.Click("link", "Clear")
	p.Until("location.hash === '#/tokens' && document.querySelector('.filters input').value === ''")
	p.Fill("Subject", "Ada & co")
	p.Click("button", "Search", "Revoke all of this subject")
	p.See("dialog", "1 valid token")
	p.Click("button", "Revoke all")
	s.ExpectText("ERR:token_revoked")
	p.WantForgotten(trial, token.Token, harness.AdaPassword)
	p.Until("!document.title.includes('hit')")
}

// refusedOnPage finds by subject, by address and by the id that a client was answered why it was
// refused; explain says whose the token is.
func refusedOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	request := harness.TokenRequest(harness.Grant("room", []string{"news.#"}, []string{"news.*"}))
	request["subject"] = "Ada " + markup
	token := e.IssueAs(e.Master, request)
	s := e.Dial(token.Token)
	s.SendLine("SUB:paint.room:secret.#")
	s.ExpectText("ERR:permission_denied:SUB:paint.room:secret.#")
	e.Rest("DELETE", "/v1/revoke-token", e.Master, harness.Object{"token": token.Token}).Decode(t, http.StatusOK, new(harness.Object))
	a := e.Do(harness.Call{Method: "GET", URL: "/ws", Token: token.Token, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-WebSocket-Version": {"13"}, "Sec-WebSocket-Key": {"MDEyMzQ1Njc4OWFiY2RlZg=="},
	}})
	a.Problem(t, http.StatusUnauthorized, "unauthorized")
	id := a.Header.Get(wire.HeaderConnectionID)
	p.SignIn("ada", harness.AdaPassword, "Refused")
	p.Fill("Subject", "Ada "+markup)
	p.Click("button", "Filter")
	p.See("main table", "the token is revoked", "permission_denied", "no rule of the tenant", "Ada <img src=x onerror=")
	p.Click("link", "Clear")
	p.Fill("Connection id", id)
	p.Click("button", "Filter")
	p.See("main table", "the token is revoked", id)
	p.Until("!document.querySelector('main table').innerText.includes('permission_denied')")
	p.Click("link", "Clear")
	p.Fill("Address", "192.0.2.0/24")
	p.Click("button", "Filter")
	p.See("main", "Nothing that was refused matches")
	p.WantForgotten(token.Token)
	p.Until("!document.title.includes('hit')")
}

func liveOnPage(_ *testing.T, e *harness.Edge, p browser.Tab) {
	s := e.Dial(e.Issue(harness.AllowAll("live")).Token)
	s.Subscribe("paint.live", "#")
	p.SignIn("ada", harness.AdaPassword, "Live")
	p.Fill("Tenant", "paint.live", "Pattern", "news.#")
	p.Click("checkbox", "Allow a test publish")
	p.Click("button", "Start")
	p.See("[role=status]", "receiving")
	s.Publish("paint.live", "news.one", `{"a":[1,2]}`+markup)
	s.ExpectDeliver("paint.live", "news.one", `{"a":[1,2]}`+markup, "#")
	p.See(".messages", "news.one", markup)
	p.Choose("Payload as", "hex")
	p.See(".messages", "7b 22 61")
	p.Fill("Channel", "news.test", "Payload", "from the page")
	p.Click("button", "Publish")
	s.ExpectDeliver("paint.live", "news.test", "from the page", "#")
	p.See(".messages", "news.test")
	p.Click("button", "Sign out")
	p.See("h1", "Sign in")
	e.Poll("the end of the tail", func() bool {
		return strings.Contains(e.AdminCLI("token", "list", "--tenant", "paint.live").Out, " revoked ")
	})
	e.AdminCLI("connections", "--tenant", "paint.live").Lines(2)
}

func historiesOnPage(_ *testing.T, e *harness.Edge, p browser.Tab) {
	const hostile = "<script>document.title='hit'</script>" + markup
	c := visit(e, e.Issue(harness.AllowAll("b")).Token)
	keep(e, c, "paint.b", "chat.many", slices.Repeat([]string{"hello"}, 60)...)
	keep(e, c, "paint.b", "chat.odd", hostile, "\x00\x01\xfe")
	p.SignIn("ada", harness.AdaPassword, "Histories")
	p.Click("button", "Read paint.b in chat")
	p.See("[role=status]", "50 messages of # in paint.b, history chat")
	p.Click("button", "More messages")
	p.See("[role=status]", "62 messages of # in paint.b, history chat, oldest first. That is all.")
	p.Fill("Pattern", "chat.odd")
	p.Click("button", "Read")
	p.See("[role=status]", "2 messages of chat.odd")
	p.See("td .preview", hostile)
	p.See("td .preview", "00 01 fe") // no text
	p.Until("!document.title.includes('hit') && !document.querySelector('main script, main img')")
	e.AwaitLine(`"operation":"history_read"`, `"actor":"operator:ada"`, `"history":"chat"`, `"tenants":["paint.b"]`, `"pattern":"chat.odd"`)
	for _, purge := range []struct{ channel, typed, selector, shows string }{
		{"", "paint", "dialog [role=alert]", "is not the name of the tenant"},
		{"chat.many", "paint.b", "[role=status]", "60 messages were removed: channel chat.many, tenant paint.b, history chat."},
		{"", "paint.b", "[role=status]", "2 messages were removed: tenant paint.b, history chat."},
	} {
		p.Click("button", "Purge paint.b in chat")
		p.Fill("Only this channel", purge.channel, "Type the name to confirm", purge.typed)
		p.Click("button", "Purge")
		p.See(purge.selector, purge.shows)
		p.Press("Escape")
	}
	e.AdminCLI("history", "read", "chat", "paint.b", "#").Lines(0)
}

// viewersOnPage sees all screens without a button that changes something, and who is present.
func viewersOnPage(_ *testing.T, e *harness.Edge, p browser.Tab) {
	hostile := strings.TrimSuffix(markup, "\u202eoxo")
	join(e, hostile, "paint.a", "room.1")
	p.SignIn("bob", harness.BobPassword)
	p.See("section[aria-label='Broker']", "memory")
	p.Until("document.querySelectorAll('main svg').length >= 6") // a chart for each figure
	for _, screen := range []string{"Master tokens", "Access tokens", "Connections", "Edges", "Live", "Histories", "Presence"} {
		p.GoTo(screen)
		p.Until(`![...document.querySelectorAll("main button")].some((b) => /new|edit|rotate|delete|revoke|refresh the end|issue|disconnect|drain|publish|purge|read|more/i.test(b.innerText))`)
	}
	p.See("article[aria-label='Presence rooms']", "1")
	p.Click("link", "Show who is present in paint.a")
	p.See("main", "1 member in 1 channel of # in paint.a")
	p.See("table[aria-label='Members']", hostile)
	join(e, "late", "paint.a", "room.2") // the list follows by itself
	p.See("table[aria-label='Members']", "late")
	p.Fill("Pattern", "room.2", "Subject", "nobody")
	p.Click("button", "Show")
	p.See("main", "This subject is not present there now.")
	p.Until("!document.title.includes('hit') && !document.querySelector('main script, main img')")
}

// keyboardOnPage makes a master token without a pointer.
func keyboardOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	p.Window(360, 640, "dark")
	p.See("h1", "Sign in")
	p.Press("ada", "Tab", harness.AdaPassword, "Enter") // the first field has the focus
	p.See("h1", "Overview")
	tabs := 0
	// tabTo goes on by Tab until what has the focus has this name, and is seen to have it.
	tabTo := func(name string) {
		t.Helper()
		for found := false; !found; p.Evaluate(&found, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return (e.ariaLabel || e.innerText).trim() === %s && s.outlineStyle + s.boxShadow !== "nonenone";
		})()`, name) {
			if tabs++; tabs > 400 {
				t.Fatalf("Tab does not lead to %s, or it cannot be seen that it has the focus", name)
			}
			p.Press("Tab")
		}
		p.Press("Enter")
	}
	tabTo("Master tokens")
	p.See("h1", "Master tokens")
	tabTo("New master token")
	p.Press("by keyboard", "Tab", "Tab", "keyed", "Enter")
	master := p.See("dialog pre[aria-label='Master token']", "MT_")
	tabTo("Done")
	p.Until("!document.querySelector('dialog[open]') && document.activeElement.innerText === 'New master token'") // as before
	e.List(master, "")
}
