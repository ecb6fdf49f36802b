package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// SecretOf is the part of a token that is secret.
func SecretOf(token string) string { return token[strings.LastIndexByte(token, '_')+1:] }

// InConsole runs subtests in Chromium, each with a page of its own at the edge's console.
func InConsole(t *testing.T, e *harness.Edge, tests map[string]func(*testing.T, *harness.Edge, Tab)) {
	t.Helper()
	chrome := Start(t, "chromium")
	for name, test := range tests {
		chrome.Run(t, name, func(b *Browser) {
			test(b.T, e.With(b.T), b.Open("console", e.HttpURL("/console"), ""))
		})
	}
}

// SignIn signs in on the page, and opens screens.
func (p Tab) SignIn(name, password string, screens ...string) {
	p.T.Helper()
	p.See("h1", "Sign in")
	p.Fill("Name", name, "Password", password)
	p.Click("button", "Sign in")
	p.See("h1", "Overview")
	for _, screen := range screens {
		p.GoTo(screen)
	}
}

// GoTo opens a screen by its link.
func (p Tab) GoTo(screen string) {
	p.T.Helper()
	p.Click("link", screen)
	p.See("h1", screen)
}

// Secret reads a secret from the dialog that shows it once, and closes that.
func (p Tab) Secret(label string) string {
	p.T.Helper()
	text := strings.TrimSpace(p.See(fmt.Sprintf("dialog pre[aria-label=%q]", label), "T_"))
	p.Click("button", "Done")
	p.Until("!document.querySelector('dialog[open]')")
	return text
}

// WantForgotten fails if the page, its address, history or storage holds a secret.
func (p Tab) WantForgotten(secrets ...string) {
	p.T.Helper()
	var got struct {
		Held string
		Kept int
	}
	p.Evaluate(&got, `(async () => ({held: JSON.stringify([
		document.documentElement.outerHTML, location.href, history.state,
		await indexedDB.databases(), await caches.keys(), [...document.querySelectorAll("input, textarea")].map((e) => e.value),
		performance.getEntries().map((e) => e.name),
	]), kept: localStorage.length + sessionStorage.length + document.cookie.length}))()`)
	for _, secret := range secrets {
		if strings.Contains(got.Held, SecretOf(secret)) {
			p.T.Errorf("the page keeps a secret: …%s", SecretOf(secret)[:6])
		}
	}
	if got.Kept != 0 {
		p.T.Error("the page keeps something in the browser")
	}
}
