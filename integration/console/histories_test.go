package console

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// consoleHistoryCaddyfile has a console, the history chat and one that nobody publishes to.
var consoleHistoryCaddyfile = strings.Replace(harness.ConsoleCaddyfile, "hook audit {", `history chat {
			channels chat.#
			messages 1000
		}
		history quiet {
			channels quiet.#
		}
		hook audit {`, 1)

// keep publishes messages to a history, and awaits that they are stored.
func keep(s *harness.Socket, tenant, channel string, payloads ...string) {
	s.T.Helper()
	for i, payload := range payloads {
		s.SendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: uint32(i), Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
		}))
		if kind, line, err := s.Read(); err != nil || kind != harness.AsText || !strings.HasPrefix(string(line), fmt.Sprintf("OK:PUB:%d:", i)) {
			s.T.Fatalf("got %q, %v", line, err)
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
	e := harness.StartEdge(t, consoleHistoryCaddyfile)
	tenants := []string{"paint.a", "paint.b", "paint.c", "paint.d"}
	for i := range 100 {
		tenants = append(tenants, fmt.Sprintf("paint.z.%02d", i)) // more than a page of the list has
	}
	token := e.Issue(history.AllowHistory(tenants...)).Token
	filler := e.Dial(token)
	for _, tenant := range tenants[4:] {
		keep(filler, tenant, "chat.1", "x")
	}
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"list": func(_ *testing.T, e *harness.Edge, p browser.Tab) {
			s := e.Dial(token)
			keep(s, "paint.a", "chat.1", samplePayloads(7)...)
			keep(s, "paint.a", "chat.2", "x")
			p.SignIn("ada", harness.AdaPassword)
			p.GoTo("Histories")
			p.Until("/Messages\\s+0\\s/.test(document.querySelector(\"article[aria-label='History quiet']\")?.innerText)")
			p.Until(`[...document.querySelectorAll("table[aria-label='What is kept'] tr")].some((row) => /paint\.a\s+chat\s+2\s+8\s/.test(row.innerText))`)
			keep(s, "paint.a", "chat.2", "y") // the list follows by itself
			p.Until(`[...document.querySelectorAll("table[aria-label='What is kept'] tr")].some((row) => /paint\.a\s+chat\s+2\s+9\s/.test(row.innerText))`)
			p.Gone("table[aria-label='What is kept']", "paint.z.99")
			p.Click("button", "Next page")
			p.See("main", "Page 2")
			p.Click("button", "Next page")
			p.See("table[aria-label='What is kept']", "paint.z.99")
			p.Until("document.querySelector('nav[aria-label=Pages] button:last-child').disabled")
			p.Fill("Of tenant", "nobody.*")
			p.Click("button", "Filter")
			p.See("main", "Nothing that is kept matches")
			p.Fill("Of tenant", "paint*")
			p.Choose("In history", "chat")
			p.Click("button", "Filter")
			p.See("table[aria-label='What is kept']", "paint.a")
			p.Until("location.hash === '#/histories?history=chat&tenant=paint*'")
		},
		"read":             func(t *testing.T, e *harness.Edge, p browser.Tab) { readHistoryOnPage(t, e, p, e.Dial(token)) },
		"purge":            func(t *testing.T, e *harness.Edge, p browser.Tab) { purgeHistoryOnPage(t, e, p, e.Dial(token)) },
		"what viewers see": func(t *testing.T, e *harness.Edge, p browser.Tab) { viewHistoryOnPage(t, e, p, e.Dial(token)) },
	})
}

func readHistoryOnPage(t *testing.T, e *harness.Edge, p browser.Tab, s *harness.Socket) {
	const hostile = `<script>document.title='hit'</script>` + markup
	keep(s, "paint.b", "chat.many", samplePayloads(120)...)
	keep(s, "paint.b", "chat.odd", hostile, "\x00\x01\xfe", strings.Repeat("long ", 4000))
	keep(s, "paint.b", "chat.odd", "")
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Histories")
	p.Click("button", "Read paint.b in chat")
	const rows = "document.querySelectorAll(\"table[aria-label='Messages that are kept'] tbody tr\").length"
	p.See("[role=status]", "50 messages of # in paint.b, history chat")
	p.Until(rows + " === 50")
	p.Click("button", "More messages")
	p.Until(rows + " === 100")
	p.Click("button", "More messages")
	p.See("[role=status]", "124 messages of # in paint.b, history chat, oldest first. That is all.")
	p.Until(rows + " === 124")
	p.Until("![...document.querySelectorAll('main button')].some((b) => b.innerText === 'More messages')")
	var first, last string
	p.Evaluate(&first, "[...document.querySelectorAll('td .preview')].at(0).innerText")
	p.Evaluate(&last, "[...document.querySelectorAll('td .preview')].at(119).innerText")
	if first != "message 0." || last != "message 119." {
		t.Errorf("the first is %q, that behind 119 others %q", first, last)
	}

	p.Fill("Pattern", "chat.odd")
	p.Click("button", "Read")
	p.See("[role=status]", "4 messages of chat.odd")
	p.See("td .preview", hostile)
	p.See("td .preview", "00 01 fe") // no text
	p.See("td .preview", "(empty)")
	for at, shown := range []string{hostile, "0000  00 01 fe", "long long"} {
		p.Evaluate(nil, `void document.querySelectorAll("table[aria-label='Messages that are kept'] .expand")[%s].click()`, at)
		p.See("tr.detail pre", shown)
		p.See("tr.detail", "Position")
	}
	var length int
	p.Evaluate(&length, "document.querySelector('tr.detail pre').innerText.length")
	if p.See("tr.detail", "Only the first 16 KiB of 20,000 bytes are shown."); length > 16<<10 {
		t.Errorf("%d characters of a payload are shown", length)
	}
	p.Choose("Payload as", "hex")
	p.See("td .preview", "3c 73 63 72 69 70 74") // <script
	p.Until("!document.title.includes('hit') && !document.querySelector('main script, main img')")

	p.Fill("Pattern", "a..b")
	p.Click("button", "Read")
	p.See("main [role=alert]", "Pattern: ")
	p.Fill("Tenant", "")
	p.Click("button", "Read")
	p.See("main [role=alert]", "Name the tenant")
	p.Expected = regexp.MustCompile("the server responded with a status of 400")
	e.Poll("the audit of what was read", func() bool {
		return hasLine(e.Output(), `"operation":"history_read"`, `"actor":"operator:ada"`, `"history":"chat"`, `"tenants":["paint.b"]`, `"pattern":"chat.odd"`)
	})
}

func purgeHistoryOnPage(t *testing.T, e *harness.Edge, p browser.Tab, s *harness.Socket) {
	keep(s, "paint.c", "chat.1", samplePayloads(3)...)
	keep(s, "paint.c", "chat.2", samplePayloads(2)...)
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Histories")
	p.Click("button", "Read paint.c in chat")
	p.See("[role=status]", "5 messages of # in paint.c")
	kept := func() string { return e.AdminCLI("history", "read", "chat", "paint.c", "#").Out }
	purge := func(channel, typed string) {
		p.Click("button", "Purge paint.c in chat")
		p.See("dialog", "are deleted for good")
		p.Fill("Only this channel", channel)
		p.Fill("Type the name to confirm", typed)
		p.Click("button", "Purge")
	}
	purge("", "paint")
	p.See("dialog [role=alert]", "is not the name of the tenant")
	p.Click("button", "Cancel")
	p.Expected = regexp.MustCompile("the server responded with a status of 400")
	purge("chat.*", "paint.c")
	p.See("dialog [role=alert]", "Channel: must be the name of a channel.")
	p.Click("button", "Cancel")
	if got := strings.Count(kept(), "message"); got != 5 {
		t.Errorf("%d messages are left before anything was confirmed", got)
	}
	purge("chat.1", "paint.c")
	p.See("[role=status]", "3 messages were removed: channel chat.1, tenant paint.c, history chat.")
	p.Until("!document.querySelector(\"table[aria-label='Messages that are kept']\")")
	if got := kept(); strings.Contains(got, "chat.1") || strings.Count(got, "chat.2") != 2 {
		t.Errorf("after a purge of chat.1: %s", got)
	}
	purge("", "paint.c")
	p.See("[role=status]", "2 messages were removed: tenant paint.c, history chat.")
	p.Gone("table[aria-label='What is kept'] tbody", "paint.c")
	if got := kept(); got != "" {
		t.Errorf("after a purge of the tenant: %s", got)
	}
}

func viewHistoryOnPage(t *testing.T, e *harness.Edge, p browser.Tab, s *harness.Socket) {
	keep(s, "paint.d", "chat.1", "for managers")
	p.SignIn("bob", harness.BobPassword)
	p.GoTo("Histories")
	p.See("table[aria-label='What is kept']", "paint.d")
	p.Until(`![...document.querySelectorAll("main button")].some((b) => /purge|read|more/i.test(b.innerText))`)
	p.Until("!document.body.innerText.includes('for managers')")

	bob := e.Console().Login("bob", harness.BobPassword)
	if got := bob.Get("histories?limit=1"); got.Status != http.StatusOK {
		t.Errorf("the list: %d %s", got.Status, got.Body)
	}
	bob.Call("POST", "histories/read", harness.Object{"history": "chat", "tenant": "paint.d", "pattern": "#"}).Problem(t, http.StatusForbidden, "not_a_manager")
	bob.Call("POST", "histories/purge", harness.Object{"history": "chat", "tenant": "paint.d"}).Problem(t, http.StatusForbidden, "not_a_manager")
	if got := e.AdminCLI("history", "read", "chat", "paint.d", "#").Out; !strings.Contains(got, "for managers") {
		t.Errorf("a viewer deleted it: %s", got)
	}
}

// The calls about histories, as the page makes them, and what hooks are told.
func TestConsoleHistoryCalls(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, consoleHistoryCaddyfile)
	s := e.Dial(e.Issue(history.AllowHistory("paint.a", "paint.b")).Token)
	keep(s, "paint.a", "chat.1", "one", "two", "three")
	keep(s, "paint.b", "chat.1", "four")
	ada := e.Console().Login("ada", harness.AdaPassword)
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
		ada.Get("histories"+query).Decode(t, http.StatusOK, &p)
		return p
	}
	if p := list("?limit=1"); len(p.Histories) != 1 || p.Histories[0].Tenant != "paint.a" || p.Next == "" ||
		fmt.Sprint(p.Totals) != "[{chat true 2 4} {quiet true 0 0}]" {
		t.Errorf("the first page is %+v", p)
	} else if p = list("?limit=1&cursor=" + p.Next); len(p.Histories) != 1 || p.Histories[0].Tenant != "paint.b" || p.Next != "" {
		t.Errorf("the second page is %+v", p)
	}
	ada.Get("histories?limit=0").Problem(t, http.StatusBadRequest, "invalid_body")

	var read struct {
		Messages []struct{ Payload string }
		Next     string
	}
	ada.Call("POST", "histories/read", harness.Object{"history": "chat", "tenant": "paint.a", "pattern": "#", "limit": 2}).Decode(t, http.StatusOK, &read)
	if len(read.Messages) != 2 || read.Messages[0].Payload != base64.StdEncoding.EncodeToString([]byte("one")) || read.Next == "" {
		t.Errorf("read %+v", read)
	}
	ada.Call("POST", "histories/read", harness.Object{"history": "chat", "tenant": "paint.a", "pattern": "#", "limit": 1001}).Problem(t, http.StatusBadRequest, "invalid_body")
	for _, c := range []struct {
		body   harness.Object
		status int
		code   string
	}{
		{harness.Object{"history": "a secret", "tenant": "paint.a"}, 404, "unknown_history"},
		{harness.Object{"history": "chat", "tenant": "a secret"}, 400, "invalid_body"},
		{harness.Object{"history": "chat", "tenant": "paint.a", "channel": "a secret"}, 400, "invalid_body"},
		{harness.Object{"history": "chat", "all": true, "channel": "chat.1"}, 400, "invalid_body"},
		{harness.Object{"history": "chat"}, 400, "invalid_body"},
	} {
		ada.Call("POST", "histories/purge", c.body).Problem(t, c.status, c.code)
	}
	for _, c := range []struct {
		body harness.Object
		want int
	}{
		{harness.Object{"history": "chat", "tenant": "paint.a", "channel": "chat.1"}, 3},
		{harness.Object{"history": "chat", "all": true}, 1},
	} {
		var purged struct{ Removed int }
		if ada.Call("POST", "histories/purge", c.body).Decode(t, http.StatusOK, &purged); purged.Removed != c.want {
			t.Errorf("%v removed %d messages, want %d", c.body, purged.Removed, c.want)
		}
	}
	for _, want := range [][]string{
		{`"msg":"operation"`, `"operation":"history_purge"`, `"actor":"operator:ada"`, `"status":200`, `"history":"chat"`, `"tenants":["paint.a"]`, `"pattern":"chat.1"`},
		{`"operation":"history_purge"`, `"status":200`, `"history":"chat"}`},
		{`"operation":"history_purge"`, `"status":404`, `"code":"unknown_history"`},
		{`"operation":"history_read"`, `"status":200`, `"history":"chat"`, `"tenants":["paint.a"]`, `"pattern":"#"`},
	} {
		e.Poll(fmt.Sprintf("a line of the audit with %q", want), func() bool { return hasLine(e.Output(), want...) })
	}
	if strings.Contains(e.Output(), "a secret") {
		t.Error("the audit has a name that is none")
	}
}

// Without the live tail nobody reads messages of the past either, and managers still purge.
func TestConsoleHistoriesWithoutTail(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.ReplaceAll(consoleHistoryCaddyfile, "operator bob", "tail off\n\t\toperator bob"))
	s := e.Dial(e.Issue(history.AllowHistory("paint.a")).Token)
	keep(s, "paint.a", "chat.1", "not for the page")
	ada := e.Console().Login("ada", harness.AdaPassword)
	tail := ada.Call("POST", "live-token", harness.Object{"tenant": "paint.a", "pattern": "#", "publish": false})
	tail.Problem(t, http.StatusNotFound, "not_found")
	ada.Call("POST", "histories/read", harness.Object{"history": "chat", "tenant": "paint.a", "pattern": "#"}).Problem(t, http.StatusNotFound, "not_found")
	e.AdminCLI("history", "read", "chat", "paint.a", "#").Want(0, "not for the page", "") // the machine's own administrator does
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"page": func(_ *testing.T, _ *harness.Edge, p browser.Tab) {
			p.SignIn("ada", harness.AdaPassword)
			p.GoTo("Histories")
			p.See("main", "the console has tail off")
			p.Until("![...document.querySelectorAll('main button')].some((b) => b.innerText === 'Read')")
			p.Click("button", "Purge the history chat")
			p.See("dialog", "of all tenants")
			p.Fill("Type the name to confirm", "paint.a")
			p.Click("button", "Purge")
			p.See("dialog [role=alert]", "is not the name of the history")
			p.Fill("Type the name to confirm", "chat")
			p.Click("button", "Purge")
			p.See("[role=status]", "1 message was removed: history chat.")
			p.See("main", "Nothing is kept yet")

			// What cannot be asked for is said, above what is known.
			p.Expected = regexp.MustCompile("ERR_CONNECTION")
			e.Kill()
			p.See("main [role=alert]", "The edge does not answer") // when it is asked again
			p.See("article[aria-label='History chat']", "Messages")
		},
	})
}

// Without a history the screen says so, and how to have one.
func TestConsoleWithoutHistories(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	e.Console().Login("ada", harness.AdaPassword).Get("histories").Problem(t, http.StatusNotFound, "no_histories")
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"page": func(_ *testing.T, _ *harness.Edge, p browser.Tab) {
			p.Expected = regexp.MustCompile("the server responded with a status of 404")
			p.SignIn("ada", harness.AdaPassword)
			p.GoTo("Histories")
			p.See("main", "No history is configured at this edge")
			p.See("main", "docs/history.md")
			p.Until("document.querySelector('main [role=alert]').innerText === ''")
		},
	})
}
