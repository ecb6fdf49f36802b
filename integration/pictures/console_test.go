package pictures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/programs"
)

// caddyfile has a console, and the tenants of a shop.
var caddyfile = strings.NewReplacer("tenant_prefix paint.", "tenant_prefix shop.", "name test", "name shop").Replace(harness.ConsoleCaddyfile)

// samples is how many the console's curves have: 15 minutes, of 5 s each. The edge in the pictures takes one
// every 250 ms, so that they are full after 45 s.
const samples = 180

// hurried is the program with that change.
func hurried(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../caddymodule/overlay/recorder.go")
	must(t, err)
	text, err := os.ReadFile(file)
	must(t, err)
	const slow, length = "= 5 * time.Second\n", "= int(remember / interval)\n"
	if !strings.Contains(string(text), slow) || !strings.Contains(string(text), length) {
		t.Fatalf("%s has no interval of 5 s any more", file)
	}
	dir := t.TempDir()
	quick := strings.NewReplacer(slow, "= 250 * time.Millisecond\n", length, fmt.Sprintf("= %d\n", samples),
		"int(interval / time.Second)", "5").Replace(string(text))
	must(t, os.WriteFile(filepath.Join(dir, "recorder.go"), []byte(quick), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: filepath.Join(dir, "recorder.go")}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	program, err := programs.Build(dir, "millrace-hurried", "../cmd/millrace", "-overlay", filepath.Join(dir, "overlay.json"))
	must(t, err)
	return program
}

// TestConsole takes pictures of the console of an edge at work.
func TestConsole(t *testing.T) {
	t.Parallel()
	to, program := folder(t), hurried(t)
	e := harness.StartEdge(t, caddyfile, func(e *harness.Edge) { e.Program = program })
	p := browser.Start(t, "chromium").Open("console", e.HttpURL("/console"), "")
	p.Window(1280, 860, "light")
	p.SignIn("ada", harness.AdaPassword)
	openShop(e)

	e.Poll("the curves to be full", func() (full bool) {
		p.Evaluate(&full, `[...document.querySelectorAll(".chart path")].some((path) => path.getAttribute("d").startsWith("M0 "))`)
		return full
	})
	take := func(name string) {
		for _, scheme := range []string{"light", "dark"} {
			p.Window(1280, 860, scheme)
			p.Act("picture", harness.Object{"path": filepath.Join(to, "console-"+name+"-"+scheme+".png")})
		}
	}
	take("overview")
	p.GoTo("Connections")
	p.See("main table", "WebTransport", "ada")
	take("connections")
	p.GoTo("Live")
	p.Fill("Tenant", "shop.orders")
	p.Click("button", "Start")
	p.Choose("Payload as", "json")
	p.See(".messages", "paid", "sent")
	p.Until(`document.querySelectorAll(".messages > *").length > 12`)
	take("live")
	p.Click("button", "Stop")
	p.GoTo("Access tokens")
	p.Fill("Created by", "web shop")
	p.Click("button", "Search")
	p.Until(`/emma/.test(document.querySelector("main").innerText) && !/order service/.test(document.querySelector("main").innerText)`)
	// What the third one allows.
	p.Until(`(() => {
		const row = document.querySelectorAll("main tbody tr")[2];
		const button = [...row.querySelectorAll("button")].find((b) => b.ariaLabel?.startsWith("Details of token"));
		button?.click();
		return button;
	})()`)
	p.See("main", "publish to chat.#")
	take("tokens")
}
