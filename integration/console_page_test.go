package integration

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/wire"
)

// What operators do on the page has its effect at the edge.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleCaddyfile)
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"master tokens":                    masterTokensOnPage,
		"what viewers see":                 viewersOnPage,
		"a session that ends under a form": sessionEndsOnPage,
		"access tokens":                    accessTokensOnPage,
		"connections":                      connectionsOnPage,
		"overview":                         overviewOnPage,
		"live":                             liveOnPage,
		"by keyboard, 360 × 640":           keyboardOnPage,
	})
}

// markup would run, or hide, if names were more than text on the page.
const markup = `<img src=x onerror=document.title='hit'>"'{{x}}` + "\u202eoxo"

func masterTokensOnPage(t *testing.T, e *edge, p tab) {
	p.signIn("ada", adaPassword)
	p.goTo("Master tokens")
	p.see("main", "in the Caddyfile")
	p.click("button", "New master token")
	p.fill("Name", markup)
	p.fill("Description", strings.Repeat("ü<b>", 128))
	p.see("dialog .help", "512 of 512 characters")
	p.fill("Tenant prefix", "made")
	p.see("dialog .help", "Stored as made.")
	p.fill("Address masks", "127.0.0.1/33")
	p.click("button", "Create")
	p.see("dialog", "correct the fields that are marked")
	p.fill("Address masks", "127.0.0.0/8")
	p.click("button", "Create")
	p.see("dialog", "This is shown only once")
	p.see("dialog", "MILLRACE_MASTER_TOKEN=MT_")
	p.click("button", "Copy the token")
	p.see("dialog .copy", "Copied.")
	var copied string
	p.evaluate(&copied, "navigator.clipboard.readText()")
	first := p.secret("Master token")
	if copied != first {
		t.Error("the button copies something else than the token")
	}
	p.see("main", markup)

	works := func(master string) bool {
		t.Helper()
		got := e.rest("POST", "/v1/get-token", master, tokenRequest(allowAll("room")))
		if got.Status != http.StatusOK && got.Status != http.StatusUnauthorized {
			t.Errorf("get-token: %d %s", got.Status, got.Body)
		}
		return got.Status == http.StatusOK
	}
	if !works(first) {
		t.Error("the master token that the page made does not work")
	}
	p.click("button", "Rotate "+markup)
	p.click("button", "Rotate")
	second := p.secret("Master token")
	if works(first) || !works(second) {
		t.Errorf("after a rotation: the old one %v, the new one %v", works(first), works(second))
	}
	p.click("button", "Edit "+markup)
	p.fill("Tenant prefix", "other.")
	p.click("button", "Save")
	p.until("!document.querySelector('dialog[open]')") // a call while its prefix changes is refused
	p.see("main .cards", "other.")
	if !works(second) {
		t.Error("an edit ends a master token")
	}
	// The access tokens that it issued end with it, if so asked.
	client := e.dial(e.issueAs(second, tokenRequest(allowAll("room"))).Token)
	p.click("button", "Delete "+markup)
	p.click("button", "Delete")
	p.see("dialog", "neither its name nor its id")
	p.fill("Type the name to confirm", markup)
	p.click("checkbox", "Revoke the access tokens that it issued")
	p.click("button", "Delete")
	client.expectText("ERR:token_revoked")
	client.expectClose(wire.CloseForbidden)
	p.gone("main .cards", markup)
	if works(second) {
		t.Error("a master token outlives that it is deleted")
	}
	p.wantForgotten(first, second, adaPassword)
	p.until("!document.title.includes('hit')")
}

// overviewOnPage sees what clients do in figures and reasons.
func overviewOnPage(t *testing.T, e *edge, p tab) {
	s := e.dial(e.issue(grant("figures", []string{"a"}, []string{"#"})).Token)
	s.subscribe("paint.figures", "#")
	s.publish("paint.figures", "b", "x")
	s.expectText("ERR:permission_denied:PUB:paint.figures:b")
	p.signIn("ada", adaPassword)
	p.see("section[aria-label='Refusals by code']", "permission_denied")
	p.see("section[aria-label='Connections']", "WebSocket")
	p.see("section[aria-label='Token store']", "badger")
	p.see("section[aria-label='Broker']", "memory")
	e.poll("messages and deliveries in the figures", func() bool { // samples are of 5 s
		s.publish("paint.figures", "a", "x")
		var idle bool
		p.evaluate(&idle, `["Messages", "Deliveries"].some((of) => document.querySelector("section[aria-label='" + of + " a second'] .value").innerText === "0")`)
		return !idle
	})
	p.until("document.querySelectorAll('main svg').length >= 6") // a chart for each
}

func viewersOnPage(_ *testing.T, _ *edge, p tab) {
	p.signIn("bob", bobPassword)
	for _, screen := range []string{"Master tokens", "Access tokens", "Connections", "Edges", "Live"} {
		p.goTo(screen)
		p.until(`![...document.querySelectorAll("main button")].some((b) => /new|edit|rotate|delete|revoke|refresh the end|issue|disconnect|drain|publish/i.test(b.innerText))`)
	}
}

func sessionEndsOnPage(t *testing.T, e *edge, p tab) {
	p.expected = regexp.MustCompile("the server responded with a status of 401")
	p.signIn("ada", adaPassword)
	p.goTo("Master tokens")
	p.click("button", "New master token")
	p.fill("Name", "kept over a session")
	p.fill("Tenant prefix", "kept")
	// Somebody signs the browser out in another tab.
	p.evaluate(nil, `fetch("/console/api/session", {method: "DELETE", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.status)`)
	p.click("button", "Create")
	p.see("dialog h2", "Your session has ended")
	p.fill("Password", adaPassword)
	p.click("button", "Sign in")
	token := p.secret("Master token")
	if got := e.rest("POST", "/v1/get-token", token, tokenRequest(allowAll("room"))); got.Status != http.StatusOK {
		t.Errorf("the master token made after the sign-in: %d %s", got.Status, got.Body)
	}
	p.see("main", "kept.")
}
