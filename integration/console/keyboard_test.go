package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

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
