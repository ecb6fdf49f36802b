package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// Each screen, light and dark, on a wide window and on a narrow one, is accessible and fits.
func TestConsoleScreens(t *testing.T) {
	t.Parallel()
	browser.InConsole(t, harness.StartEdge(t, consoleCaddyfile), map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"screens": lookAtScreens,
	})
}

// lookAtScreens signs in, and looks at everything in each window.
func lookAtScreens(t *testing.T, e *harness.Edge, p browser.Tab) {
	e.AdminCLI("master-token", "create", "--name", "shop", "--description", "The shop's backend, in production",
		"--tenant-prefix", "shop", "--ip-mask", "192.0.2.0/24").Want(0, "MT_", "")
	token := e.Issue(harness.AllowAll("room", "lobby"), harness.Grant("shop", nil, []string{"orders.#"})).Token
	backend, ctx := visit(e, token), t.Context()
	_, err := backend.SubscribeFunc(ctx, "paint.room", "news.#", func(client.Message) {})
	e.Must(err)
	keep(e, backend, "paint.room", "chat.general",
		"hello, who is here?", `{"from":"ada","text":"I am"}`, "\x00\x01\x02\xfd", "see you tomorrow")
	keep(e, backend, "paint.lobby", "chat.news", slices.Repeat([]string{"hello"}, 60)...)
	for _, subject := range []string{"ada", "Bertrand", "a guest with a rather long name, who was here before"} {
		c := visit(e, e.SubjectToken(subject, "", "paint.room"))
		_, err1 := c.Join(ctx, "paint.room", "room.general")
		_, err2 := c.Join(ctx, "paint.room", "room.ideas")
		e.Must(errors.Join(err1, err2))
	}
	stray := e.Dial(e.SubjectToken("Bertrand", "", "paint.room"))
	stray.SendLine("SUB:paint.office:news.#")
	stray.ExpectText("ERR:permission_denied:SUB:paint.office:news.#")
	nothing := func() {}
	// The screens, in the order of the header: what is on one before it is looked at, and the
	// buttons there that open something, by how their names begin.
	screens := []struct {
		name  string
		show  func()
		opens []string
	}{
		{"Overview", nothing, nil},
		{"Master tokens", nothing, []string{"New master token", "Edit shop", "Rotate shop", "Delete shop"}},
		{"Access tokens", nothing, []string{"Issue a trial token", "Explain", "Details of token", "Refresh", "Revoke"}},
		{"Connections", nothing, []string{"Details of connection", "Disconnect"}},
		{"Refused", nothing, nil},
		{"Presence", func() {
			p.Click("link", "Show who is present in paint.room")
			p.See("table[aria-label='Members']", "Bertrand")
		}, nil},
		{"Live", func() {
			p.Fill("Tenant", "paint.room")
			p.Click("button", "Start")
			p.See("[role=status]", "receiving")
			for i := range 40 {
				keep(e, backend, "paint.room", "news.prices", fmt.Sprintf(`{"item":"ultramarine","price":%d.%02d}`, 17+i%3, 7*i%100))
			}
			p.See(".messages", "ultramarine")
			p.Choose("Payload as", "json")
		}, nil},
		{"Histories", func() {
			p.Click("button", "Read paint.room in chat")
			p.See("[role=status]", "4 messages of #")
		}, []string{"Message ", "Purge the history", "Purge paint.room"}},
		{"Edges", nothing, []string{"Drain"}},
	}
	windows := []struct {
		width, height int
		scheme        string
	}{{1366, 768, "light"}, {360, 640, "dark"}, {1366, 768, "dark"}, {360, 640, "light"}}
	windows = windows[:harness.AtLength(2, 4)] // each width and each scheme once, or all
	wantFits(p, "sign in")
	p.SignIn("ada", harness.AdaPassword)
	for _, w := range windows {
		p.Window(w.width, w.height, w.scheme)
		for _, screen := range screens {
			what := fmt.Sprintf("%s, %d pixels wide, %s", screen.name, w.width, w.scheme)
			p.GoTo(screen.name)
			p.Until("!document.querySelector('main [aria-busy=true]') && !/Loading .*…/.test(document.querySelector('main').innerText)")
			screen.show()
			wantFits(p, what)
			for _, open := range screen.opens {
				p.Until(`(() => {
					const button = [...document.querySelectorAll("main button")].find((b) => (b.ariaLabel ?? b.innerText).startsWith(%s))
					button?.click()
					return button
				})()`, open) // it may come with a list that is still being read
				opened := "dialog[open] h2"
				if strings.HasPrefix(open, "Details") || open == "Message " {
					opened = "tr.detail h2, tr.detail pre"
				}
				p.Until("document.querySelector(%s)", opened)
				wantFits(p, what+", "+open)
				p.Press("Escape")
				p.Until("!document.querySelector('dialog[open]')")
			}
		}
	}
}

// wantFits requires that the page is accessible and not wider than the window, and that no fact
// reaches into the next one.
func wantFits(p browser.Tab, what string) {
	p.T.Helper()
	var over int
	var wide []string
	p.Evaluate(&wide, "[...document.querySelectorAll('.facts > div')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText)")
	if len(wide) > 0 {
		p.T.Errorf("%s: wider than their columns: %q", what, wide)
	}
	p.Evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	if over > 0 {
		p.T.Errorf("%s: the page is %d pixels wider than the window", what, over)
	}
	p.WantAccessible(what)
}
