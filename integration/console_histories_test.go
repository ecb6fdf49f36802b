package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/wire"
)

// consoleHistoryCaddyfile has a console, the history chat and one that nobody publishes to.
var consoleHistoryCaddyfile = strings.Replace(consoleCaddyfile, "hook audit {", `history chat {
			channels chat.#
			messages 1000
		}
		history quiet {
			channels quiet.#
		}
		hook audit {`, 1)

// keep publishes messages to a history, and awaits that they are stored.
func (s *socket) keep(tenant, channel string, payloads ...string) {
	s.t.Helper()
	for i, payload := range payloads {
		s.sendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: uint32(i), Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
		}))
		if kind, line, err := s.read(); err != nil || kind != asText || !strings.HasPrefix(string(line), fmt.Sprintf("OK:PUB:%d:", i)) {
			s.t.Fatalf("got %q, %v", line, err)
		}
	}
}

// samplePayloads are n payloads.
func samplePayloads(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("message %d.", i))
	}
	return list
}

// What is kept of messages is seen, read and deleted on the page.
func TestConsoleHistories(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleHistoryCaddyfile)
	tenants := []string{"paint.a", "paint.b", "paint.c", "paint.d"}
	for i := range 100 {
		tenants = append(tenants, fmt.Sprintf("paint.z.%02d", i)) // more than a page of the list has
	}
	token := e.issue(allowHistory(tenants...)).Token
	filler := e.dial(token)
	for _, tenant := range tenants[4:] {
		filler.keep(tenant, "chat.1", "x")
	}
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"list": func(_ *testing.T, e *edge, p tab) {
			s := e.dial(token)
			s.keep("paint.a", "chat.1", samplePayloads(7)...)
			s.keep("paint.a", "chat.2", "x")
			p.signIn("ada", adaPassword)
			p.goTo("Histories")
			p.until("/Messages\\s+0\\s/.test(document.querySelector(\"article[aria-label='History quiet']\")?.innerText)")
			p.until(`[...document.querySelectorAll("table[aria-label='What is kept'] tr")].some((row) => /paint\.a\s+chat\s+2\s+8\s/.test(row.innerText))`)
			s.keep("paint.a", "chat.2", "y") // the list follows by itself
			p.until(`[...document.querySelectorAll("table[aria-label='What is kept'] tr")].some((row) => /paint\.a\s+chat\s+2\s+9\s/.test(row.innerText))`)
			p.gone("table[aria-label='What is kept']", "paint.z.99")
			p.click("button", "Next page")
			p.see("main", "Page 2")
			p.click("button", "Next page")
			p.see("table[aria-label='What is kept']", "paint.z.99")
			p.until("document.querySelector('nav[aria-label=Pages] button:last-child').disabled")
			p.fill("Of tenant", "nobody.*")
			p.click("button", "Filter")
			p.see("main", "Nothing that is kept matches")
			p.fill("Of tenant", "paint*")
			p.choose("In history", "chat")
			p.click("button", "Filter")
			p.see("table[aria-label='What is kept']", "paint.a")
			p.until("location.hash === '#/histories?history=chat&tenant=paint*'")
		},
		"read":             func(t *testing.T, e *edge, p tab) { readHistoryOnPage(t, e, p, e.dial(token)) },
		"purge":            func(t *testing.T, e *edge, p tab) { purgeHistoryOnPage(t, e, p, e.dial(token)) },
		"what viewers see": func(t *testing.T, e *edge, p tab) { viewHistoryOnPage(t, e, p, e.dial(token)) },
	})
}

func readHistoryOnPage(t *testing.T, e *edge, p tab, s *socket) {
	const hostile = `<script>document.title='hit'</script>` + markup
	s.keep("paint.b", "chat.many", samplePayloads(120)...)
	s.keep("paint.b", "chat.odd", hostile, "\x00\x01\xfe", strings.Repeat("long ", 4000))
	s.keep("paint.b", "chat.odd", "")
	p.signIn("ada", adaPassword)
	p.goTo("Histories")
	p.click("button", "Read paint.b in chat")
	const rows = "document.querySelectorAll(\"table[aria-label='Messages that are kept'] tbody tr\").length"
	p.see("[role=status]", "50 messages of # in paint.b, history chat")
	p.until(rows + " === 50")
	p.click("button", "More messages")
	p.until(rows + " === 100")
	p.click("button", "More messages")
	p.see("[role=status]", "124 messages of # in paint.b, history chat, oldest first. That is all.")
	p.until(rows + " === 124")
	p.until("![...document.querySelectorAll('main button')].some((b) => b.innerText === 'More messages')")
	var first, last string
	p.evaluate(&first, "[...document.querySelectorAll('td .preview')].at(0).innerText")
	p.evaluate(&last, "[...document.querySelectorAll('td .preview')].at(119).innerText")
	if first != "message 0." || last != "message 119." {
		t.Errorf("the first is %q, that behind 119 others %q", first, last)
	}

	p.fill("Pattern", "chat.odd")
	p.click("button", "Read")
	p.see("[role=status]", "4 messages of chat.odd")
	p.see("td .preview", hostile)
	p.see("td .preview", "00 01 fe") // no text
	p.see("td .preview", "(empty)")
	for at, shown := range []string{hostile, "0000  00 01 fe", "long long"} {
		p.evaluate(nil, `void document.querySelectorAll("table[aria-label='Messages that are kept'] .expand")[%s].click()`, at)
		p.see("tr.detail pre", shown)
		p.see("tr.detail", "Position")
	}
	var length int
	p.evaluate(&length, "document.querySelector('tr.detail pre').innerText.length")
	if p.see("tr.detail", "Only the first 16 KiB of 20,000 bytes are shown."); length > 16<<10 {
		t.Errorf("%d characters of a payload are shown", length)
	}
	p.choose("Payload as", "hex")
	p.see("td .preview", "3c 73 63 72 69 70 74") // <script
	p.until("!document.title.includes('hit') && !document.querySelector('main script, main img')")

	p.fill("Pattern", "a..b")
	p.click("button", "Read")
	p.see("main [role=alert]", "Pattern: ")
	p.fill("Tenant", "")
	p.click("button", "Read")
	p.see("main [role=alert]", "Name the tenant")
	p.expected = regexp.MustCompile("the server responded with a status of 400")
	e.poll("the audit of what was read", func() bool {
		return hasLine(e.output(), `"operation":"history_read"`, `"actor":"operator:ada"`, `"history":"chat"`, `"tenants":["paint.b"]`, `"pattern":"chat.odd"`)
	})
}

func purgeHistoryOnPage(t *testing.T, e *edge, p tab, s *socket) {
	s.keep("paint.c", "chat.1", samplePayloads(3)...)
	s.keep("paint.c", "chat.2", samplePayloads(2)...)
	p.signIn("ada", adaPassword)
	p.goTo("Histories")
	p.click("button", "Read paint.c in chat")
	p.see("[role=status]", "5 messages of # in paint.c")
	kept := func() string { return e.admin("history", "read", "chat", "paint.c", "#").out }
	purge := func(channel, typed string) {
		p.click("button", "Purge paint.c in chat")
		p.see("dialog", "are deleted for good")
		p.fill("Only this channel", channel)
		p.fill("Type the name to confirm", typed)
		p.click("button", "Purge")
	}
	purge("", "paint")
	p.see("dialog [role=alert]", "is not the name of the tenant")
	p.click("button", "Cancel")
	p.expected = regexp.MustCompile("the server responded with a status of 400")
	purge("chat.*", "paint.c")
	p.see("dialog [role=alert]", "Channel: must be the name of a channel.")
	p.click("button", "Cancel")
	if got := strings.Count(kept(), "message"); got != 5 {
		t.Errorf("%d messages are left before anything was confirmed", got)
	}
	purge("chat.1", "paint.c")
	p.see("[role=status]", "3 messages were removed: channel chat.1, tenant paint.c, history chat.")
	p.until("!document.querySelector(\"table[aria-label='Messages that are kept']\")")
	if got := kept(); strings.Contains(got, "chat.1") || strings.Count(got, "chat.2") != 2 {
		t.Errorf("after a purge of chat.1: %s", got)
	}
	purge("", "paint.c")
	p.see("[role=status]", "2 messages were removed: tenant paint.c, history chat.")
	p.gone("table[aria-label='What is kept'] tbody", "paint.c")
	if got := kept(); got != "" {
		t.Errorf("after a purge of the tenant: %s", got)
	}
}

func viewHistoryOnPage(t *testing.T, e *edge, p tab, s *socket) {
	s.keep("paint.d", "chat.1", "for managers")
	p.signIn("bob", bobPassword)
	p.goTo("Histories")
	p.see("table[aria-label='What is kept']", "paint.d")
	p.until(`![...document.querySelectorAll("main button")].some((b) => /purge|read|more/i.test(b.innerText))`)
	p.until("!document.body.innerText.includes('for managers')")

	bob := e.console().login("bob", bobPassword)
	if got := bob.get("histories?limit=1"); got.Status != http.StatusOK {
		t.Errorf("the list: %d %s", got.Status, got.Body)
	}
	bob.call("POST", "histories/read", object{"history": "chat", "tenant": "paint.d", "pattern": "#"}).problem(t, http.StatusForbidden, "not_a_manager")
	bob.call("POST", "histories/purge", object{"history": "chat", "tenant": "paint.d"}).problem(t, http.StatusForbidden, "not_a_manager")
	if got := e.admin("history", "read", "chat", "paint.d", "#").out; !strings.Contains(got, "for managers") {
		t.Errorf("a viewer deleted it: %s", got)
	}
}

// The calls about histories, as the page makes them, and what hooks are told.
func TestConsoleHistoryCalls(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleHistoryCaddyfile)
	s := e.dial(e.issue(allowHistory("paint.a", "paint.b")).Token)
	s.keep("paint.a", "chat.1", "one", "two", "three")
	s.keep("paint.b", "chat.1", "four")
	ada := e.console().login("ada", adaPassword)
	type page struct {
		Histories []struct{ History, Tenant string }
		Next      string `json:"next_cursor"`
		Totals    []struct {
			History    string
			Configured bool
			Tenants    int
			Messages   int
		}
	}
	list := func(query string) (p page) {
		t.Helper()
		ada.get("histories"+query).decode(t, http.StatusOK, &p)
		return p
	}
	if p := list("?limit=1"); len(p.Histories) != 1 || p.Histories[0].Tenant != "paint.a" || p.Next == "" ||
		fmt.Sprint(p.Totals) != "[{chat true 2 4} {quiet true 0 0}]" {
		t.Errorf("the first page is %+v", p)
	} else if p = list("?limit=1&cursor=" + p.Next); len(p.Histories) != 1 || p.Histories[0].Tenant != "paint.b" || p.Next != "" {
		t.Errorf("the second page is %+v", p)
	}
	ada.get("histories?limit=0").problem(t, http.StatusBadRequest, "invalid_body")

	var read struct {
		Messages []struct{ Payload string }
		Next     string
	}
	ada.call("POST", "histories/read", object{"history": "chat", "tenant": "paint.a", "pattern": "#", "limit": 2}).decode(t, http.StatusOK, &read)
	if len(read.Messages) != 2 || read.Messages[0].Payload != base64.StdEncoding.EncodeToString([]byte("one")) || read.Next == "" {
		t.Errorf("read %+v", read)
	}
	ada.call("POST", "histories/read", object{"history": "chat", "tenant": "paint.a", "pattern": "#", "limit": 1001}).problem(t, http.StatusBadRequest, "invalid_body")
	for _, c := range []struct {
		body   object
		status int
		code   string
	}{
		{object{"history": "a secret", "tenant": "paint.a"}, 404, "unknown_history"},
		{object{"history": "chat", "tenant": "a secret"}, 400, "invalid_body"},
		{object{"history": "chat", "tenant": "paint.a", "channel": "a secret"}, 400, "invalid_body"},
		{object{"history": "chat", "all": true, "channel": "chat.1"}, 400, "invalid_body"},
		{object{"history": "chat"}, 400, "invalid_body"},
	} {
		ada.call("POST", "histories/purge", c.body).problem(t, c.status, c.code)
	}
	for _, c := range []struct {
		body object
		want int
	}{
		{object{"history": "chat", "tenant": "paint.a", "channel": "chat.1"}, 3},
		{object{"history": "chat", "all": true}, 1},
	} {
		var purged struct{ Removed int }
		if ada.call("POST", "histories/purge", c.body).decode(t, http.StatusOK, &purged); purged.Removed != c.want {
			t.Errorf("%v removed %d messages, want %d", c.body, purged.Removed, c.want)
		}
	}
	for _, want := range [][]string{
		{`"msg":"operation"`, `"operation":"history_purge"`, `"actor":"operator:ada"`, `"status":200`, `"history":"chat"`, `"tenants":["paint.a"]`, `"pattern":"chat.1"`},
		{`"operation":"history_purge"`, `"status":200`, `"history":"chat"}`},
		{`"operation":"history_purge"`, `"status":404`, `"code":"unknown_history"`},
		{`"operation":"history_read"`, `"status":200`, `"history":"chat"`, `"tenants":["paint.a"]`, `"pattern":"#"`},
	} {
		e.poll(fmt.Sprintf("a line of the audit with %q", want), func() bool { return hasLine(e.output(), want...) })
	}
	if strings.Contains(e.output(), "a secret") {
		t.Error("the audit has a name that is none")
	}
}

// Without the live tail nobody reads messages of the past either, and managers still purge.
func TestConsoleHistoriesWithoutTail(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.ReplaceAll(consoleHistoryCaddyfile, "operator bob", "tail off\n\t\toperator bob"))
	s := e.dial(e.issue(allowHistory("paint.a")).Token)
	s.keep("paint.a", "chat.1", "not for the page")
	ada := e.console().login("ada", adaPassword)
	tail := ada.call("POST", "live-token", object{"tenant": "paint.a", "pattern": "#", "publish": false})
	tail.problem(t, http.StatusNotFound, "not_found")
	ada.call("POST", "histories/read", object{"history": "chat", "tenant": "paint.a", "pattern": "#"}).problem(t, http.StatusNotFound, "not_found")
	e.admin("history", "read", "chat", "paint.a", "#").want(0, "not for the page", "") // the machine's own administrator does
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"page": func(_ *testing.T, _ *edge, p tab) {
			p.signIn("ada", adaPassword)
			p.goTo("Histories")
			p.see("main", "the console has tail off")
			p.until("![...document.querySelectorAll('main button')].some((b) => b.innerText === 'Read')")
			p.click("button", "Purge the history chat")
			p.see("dialog", "of all tenants")
			p.fill("Type the name to confirm", "paint.a")
			p.click("button", "Purge")
			p.see("dialog [role=alert]", "is not the name of the history")
			p.fill("Type the name to confirm", "chat")
			p.click("button", "Purge")
			p.see("[role=status]", "1 message was removed: history chat.")
			p.see("main", "Nothing is kept yet")

			// What cannot be asked for is said, above what is known.
			p.expected = regexp.MustCompile("ERR_CONNECTION")
			e.kill()
			p.see("main [role=alert]", "The edge does not answer") // when it is asked again
			p.see("article[aria-label='History chat']", "Messages")
		},
	})
}

// Without a history the screen says so, and how to have one.
func TestConsoleWithoutHistories(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleCaddyfile)
	e.console().login("ada", adaPassword).get("histories").problem(t, http.StatusNotFound, "no_histories")
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"page": func(_ *testing.T, _ *edge, p tab) {
			p.expected = regexp.MustCompile("the server responded with a status of 404")
			p.signIn("ada", adaPassword)
			p.goTo("Histories")
			p.see("main", "No history is configured at this edge")
			p.see("main", "docs/history.md")
			p.until("document.querySelector('main [role=alert]').innerText === ''")
		},
	})
}
