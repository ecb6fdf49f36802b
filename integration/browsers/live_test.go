package browsers

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// The page at `/` of `pubsub dev`, in both browsers, on a wide window and on a narrow one.
func livePages(t *testing.T, d *harness.DevEdge, browsers ...*browser.Browser) {
	t.Helper()
	revokesItsOwn(t, d)
	for i, b := range browsers {
		for j, width := range []int{1280, 390} {
			scheme := []string{"light", "dark"}[(i+j)%2]
			b.Run(t, fmt.Sprintf("demo live in %s, %d pixels wide", b.Name, width), func(b *browser.Browser) {
				p := b.Open("live", fmt.Sprintf("http://localhost:%d/demo", d.Ports[1]), recordSockets) // which leads to it
				p.Window(width, 844, scheme)
				p.Reload()
				liveTest(p)
			})
		}
	}
}

// revokesItsOwn checks that the page cannot revoke what it was not given: the token that dev prints.
func revokesItsOwn(t *testing.T, d *harness.DevEdge) {
	t.Helper()
	id := harness.AccessToken.FindStringSubmatch(d.Out.String())[1]
	for _, of := range []string{id, id[:8], ""} {
		r, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://localhost:%d/demo/revoke", d.Ports[1]), strings.NewReader(`{"token_id":"`+of+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("the page revokes %q: status %d, want 403", of, answer.StatusCode)
		}
	}
}

// recordSockets keeps the WebSockets of the page, so that the test sees whether the switch cuts them.
const recordSockets = `globalThis.sockets = [];
	globalThis.WebSocket = class extends WebSocket { constructor(...a) { super(...a); sockets.push(this); } };
	globalThis.openSockets = () => sockets.filter((socket) => socket.readyState === WebSocket.OPEN).length;`

func liveTest(p browser.Tab) {
	t := p.T
	t.Logf("%s", p.See("#speed", "Both clients were live ")) // not required: the machine may be busy
	p.See("#ada .here", "here: ada, ben")
	p.See("#ben .here", "here: ada, ben")

	// The first key stroke: the focus is there already.
	p.Press("H")
	p.See("#ben .draft", "ada is typing: H")
	hello := "ello " + strings.Repeat(harness.RandomHex(), 5) // and longer than a narrow window
	p.Press(hello, "Enter")
	p.See("#ben .log .theirs", "H"+hello)
	p.See("#ada .log .own", "H"+hello)
	p.Until(`document.querySelector("#ben .draft").textContent === ""`)

	cutTest(p)
	revokeTest(p)
	codeTest(p)

	var over int
	if p.Evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		t.Errorf("the page is %d pixels wider than the window", over)
	}
	p.WantAccessible("the page with two clients")
	var stored, address string
	p.Evaluate(&stored, "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
	if p.Evaluate(&address, "location.href"); stored != `[{},{},""]` || harness.AccessToken.MatchString(address) {
		t.Errorf("the page keeps %s, at %s", stored, address)
	}
}

// cutTest cuts the network of ada while ben goes on.
func cutTest(p browser.Tab) {
	t := p.T
	p.Click("switch", "Network of ada")
	p.See("#ada .state", "no network")
	away := "are you away? " + harness.RandomHex()
	p.Fill("Message of ben", away)
	p.Press("Enter")
	p.Until(`document.querySelector("#ben .log").innerText.split(%s)[1]?.includes("While ada is away: 1")`, away) // which comes by itself
	var open, made int
	p.Evaluate(&made, "sockets.length")
	p.Evaluate(&open, "openSockets()")
	if open != 1 || made != 2 {
		t.Errorf("without a network of ada, %d of %d sockets are open, want 1 of 2", open, made)
	}
	p.Fill("Message of ada", "into the void")
	p.Click("button", "Send as ada")
	if log := p.See("#ada .log", "Not sent: no network"); strings.Contains(log, away) {
		t.Errorf("without a network, ada sees %s", log)
	}
	p.Click("switch", "Network of ada")
	back := regexp.MustCompile(`Missed: 0, caught up: (\d+) messages`).FindStringSubmatch(p.See("#ada .log .note", "Back after "))
	p.See("#ada .state", "live")
	var caught []string
	p.Evaluate(&caught, `[...document.querySelectorAll("#ada .log .caught span")].map((e) => e.textContent)`)
	if back == nil || back[1] != fmt.Sprint(len(caught)) || len(caught) < 2 || !slices.Contains(caught, away) {
		t.Errorf("back with %q, caught up %q", back, caught)
	}
	// Both see the same messages in the same order, each once.
	var logs [2][]string
	p.Evaluate(&logs, `["ada", "ben"].map((name) => [...document.querySelectorAll("#" + name + " .log span")].map((e) => e.textContent).slice(-%s))`, len(caught)+1)
	if !reflect.DeepEqual(logs[0], logs[1]) {
		t.Errorf("ada sees %q, ben %q", logs[0], logs[1])
	}
	p.Fill("Message of ada", "")
}

// revokeTest revokes the token of ben, and gets another one.
func revokeTest(p browser.Tab) {
	p.Click("button", "Revoke token of ben")
	p.T.Logf("%s", p.See("#ben .log .note", "token_revoked, 4403."))
	p.See("#ben .state", "ended")
	p.Until(`document.querySelector("#ada .here").textContent === "here: ada"`)
	p.Fill("Message of ada", "gone?")
	p.Click("button", "Send as ada", "New token for ben")
	p.See("#ben .state", "live")
	p.See("#ben .log .theirs", "gone?") // it goes on where it was
	p.See("#ada .here", "here: ada, ben")
	p.Fill("Message of ben", "no")
	p.See("#ada .draft", "ben is typing: no")
}

// codeTest goes through the languages with the keyboard.
func codeTest(p browser.Tab) {
	p.See("#token", "Its token is valid until ")
	p.Click("tab", "Browser")
	for _, tab := range []string{"React", "Node", "Python", "Go", "Command line", "Browser"} {
		p.Press("ArrowRight")
		p.See(`#tabs [aria-selected="true"]`, tab)
		p.See("#program", "AT_")
	}
	var before, after string
	p.Evaluate(&before, "document.querySelector('#program code').textContent")
	p.Click("button", "New token")
	p.Until("document.querySelector('#program code').textContent !== %s", before)
	p.Click("button", "Copy code")
	p.See("#copy-code", "Copied")
	if p.Name != "chromium" {
		return // no page reads the clipboard there
	}
	p.Evaluate(&after, "navigator.clipboard.readText()")
	var shown string
	if p.Evaluate(&shown, "document.querySelector('#program code').textContent"); after != shown ||
		harness.AccessToken.FindString(after) == harness.AccessToken.FindString(before) {
		p.T.Errorf("copied is %q, shown %q, before %q", after, shown, before)
	}
}
