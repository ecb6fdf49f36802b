package console

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What operators do on the page has its effect at the edge.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
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

func masterTokensOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Master tokens")
	p.See("main", "in the Caddyfile")
	p.Click("button", "New master token")
	p.Fill("Name", markup)
	p.Fill("Description", strings.Repeat("ü<b>", 128))
	p.See("dialog .help", "512 of 512 characters")
	p.Fill("Tenant prefix", "made")
	p.See("dialog .help", "Stored as made.")
	p.Fill("Address masks", "127.0.0.1/33")
	p.Click("button", "Create")
	p.See("dialog", "correct the fields that are marked")
	p.Fill("Address masks", "127.0.0.0/8")
	p.Click("button", "Create")
	p.See("dialog", "This is shown only once")
	p.See("dialog", "MILLRACE_MASTER_TOKEN=MT_")
	p.Click("button", "Copy the token")
	p.See("dialog .copy", "Copied.")
	var copied string
	p.Evaluate(&copied, "navigator.clipboard.readText()")
	first := p.Secret("Master token")
	if copied != first {
		t.Error("the button copies something else than the token")
	}
	p.See("main", markup)

	works := func(master string) bool {
		t.Helper()
		got := e.Rest("POST", "/v1/get-token", master, harness.TokenRequest(harness.AllowAll("room")))
		if got.Status != http.StatusOK && got.Status != http.StatusUnauthorized {
			t.Errorf("get-token: %d %s", got.Status, got.Body)
		}
		return got.Status == http.StatusOK
	}
	if !works(first) {
		t.Error("the master token that the page made does not work")
	}
	p.Click("button", "Rotate "+markup)
	p.Click("button", "Rotate")
	second := p.Secret("Master token")
	if works(first) || !works(second) {
		t.Errorf("after a rotation: the old one %v, the new one %v", works(first), works(second))
	}
	p.Click("button", "Edit "+markup)
	p.Fill("Tenant prefix", "other.")
	p.Click("button", "Save")
	p.Until("!document.querySelector('dialog[open]')") // a call while its prefix changes is refused
	p.See("main .cards", "other.")
	if !works(second) {
		t.Error("an edit ends a master token")
	}
	// The access tokens that it issued end with it, if so asked.
	client := e.Dial(e.IssueAs(second, harness.TokenRequest(harness.AllowAll("room"))).Token)
	p.Click("button", "Delete "+markup)
	p.Click("button", "Delete")
	p.See("dialog", "neither its name nor its id")
	p.Fill("Type the name to confirm", markup)
	p.Click("checkbox", "Revoke the access tokens that it issued")
	p.Click("button", "Delete")
	client.ExpectText("ERR:token_revoked")
	client.ExpectClose(wire.CloseForbidden)
	p.Gone("main .cards", markup)
	if works(second) {
		t.Error("a master token outlives that it is deleted")
	}
	p.WantForgotten(first, second, harness.AdaPassword)
	p.Until("!document.title.includes('hit')")
}

// overviewOnPage sees what clients do in figures and reasons.
func overviewOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	s := e.Dial(e.Issue(harness.Grant("figures", []string{"a"}, []string{"#"})).Token)
	s.Subscribe("paint.figures", "#")
	s.Publish("paint.figures", "b", "x")
	s.ExpectText("ERR:permission_denied:PUB:paint.figures:b")
	p.SignIn("ada", harness.AdaPassword)
	p.See("section[aria-label='Refusals by code']", "permission_denied")
	p.See("section[aria-label='Connections']", "WebSocket")
	p.See("section[aria-label='Token store']", "badger")
	p.See("section[aria-label='Broker']", "memory")
	e.Poll("messages and deliveries in the figures", func() bool { // samples are of 5 s
		s.Publish("paint.figures", "a", "x")
		var idle bool
		p.Evaluate(&idle, `["Messages", "Deliveries"].some((of) => document.querySelector("section[aria-label='" + of + " a second'] .value").innerText === "0")`)
		return !idle
	})
	p.Until("document.querySelectorAll('main svg').length >= 6") // a chart for each
}

func viewersOnPage(_ *testing.T, _ *harness.Edge, p browser.Tab) {
	p.SignIn("bob", harness.BobPassword)
	for _, screen := range []string{"Master tokens", "Access tokens", "Connections", "Edges", "Live"} {
		p.GoTo(screen)
		p.Until(`![...document.querySelectorAll("main button")].some((b) => /new|edit|rotate|delete|revoke|refresh the end|issue|disconnect|drain|publish/i.test(b.innerText))`)
	}
}

func sessionEndsOnPage(t *testing.T, e *harness.Edge, p browser.Tab) {
	p.Expected = regexp.MustCompile("the server responded with a status of 401")
	p.SignIn("ada", harness.AdaPassword)
	p.GoTo("Master tokens")
	p.Click("button", "New master token")
	p.Fill("Name", "kept over a session")
	p.Fill("Tenant prefix", "kept")
	// Somebody signs the browser out in another tab.
	p.Evaluate(nil, `fetch("/console/api/session", {method: "DELETE", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.status)`)
	p.Click("button", "Create")
	p.See("dialog h2", "Your session has ended")
	p.Fill("Password", harness.AdaPassword)
	p.Click("button", "Sign in")
	token := p.Secret("Master token")
	if got := e.Rest("POST", "/v1/get-token", token, harness.TokenRequest(harness.AllowAll("room"))); got.Status != http.StatusOK {
		t.Errorf("the master token made after the sign-in: %d %s", got.Status, got.Body)
	}
	p.See("main", "kept.")
}
