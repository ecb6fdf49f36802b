package integration

import (
	"fmt"
	"strings"
	"testing"
)

// inConsole runs subtests in Chromium, each with a page of its own at the edge's console.
func inConsole(t *testing.T, e *edge, tests map[string]func(*testing.T, *edge, tab)) {
	t.Helper()
	chrome := &browser{t: t, name: "chromium", driver: startChromium(t)}
	for name, test := range tests {
		chrome.run(t, name, func(b *browser) {
			test(b.t, e.with(b.t), b.open("console", e.httpURL("/console"), ""))
		})
	}
}

// signIn signs in on the page.
func (p tab) signIn(name, password string) {
	p.t.Helper()
	p.see("h1", "Sign in")
	p.fill("Name", name)
	p.fill("Password", password)
	p.click("button", "Sign in")
	p.see("h1", "Overview")
}

// goTo opens a screen by its link.
func (p tab) goTo(screen string) {
	p.t.Helper()
	p.click("link", screen)
	p.see("h1", screen)
}

// gone waits until no element of a selector has a text.
func (p tab) gone(selector, text string) {
	p.t.Helper()
	p.until("![...document.querySelectorAll(%s)].some((e) => e.innerText.includes(%s))", selector, text)
}

// secret reads a secret from the dialog that shows it once, and closes that.
func (p tab) secret(label string) string {
	p.t.Helper()
	text := strings.TrimSpace(p.see(fmt.Sprintf("dialog pre[aria-label=%q]", label), "T_"))
	p.click("button", "Done")
	p.until("!document.querySelector('dialog[open]')")
	return text
}

// wantForgotten fails if the page, its address, history or storage holds a secret.
func (p tab) wantForgotten(secrets ...string) {
	p.t.Helper()
	var held string
	p.evaluate(&held, `(async () => JSON.stringify([
		document.documentElement.outerHTML, location.href, history.state, document.cookie, {...localStorage}, {...sessionStorage},
		await indexedDB.databases(), await caches.keys(), [...document.querySelectorAll("input, textarea")].map((e) => e.value),
		performance.getEntries().map((e) => e.name),
	]))()`)
	for _, secret := range secrets {
		if strings.Contains(held, secretOf(secret)) {
			p.t.Errorf("the page keeps a secret: …%s", secretOf(secret)[:6])
		}
	}
	var kept int
	p.evaluate(&kept, "localStorage.length + sessionStorage.length + document.cookie.length")
	if kept != 0 {
		p.t.Error("the page keeps something in the browser")
	}
}
