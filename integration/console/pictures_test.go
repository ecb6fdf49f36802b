package console

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// The screens of the console with the names of their pictures, in the order of the header.
var consoleScreens = []struct{ file, screen string }{
	{"overview", "Overview"}, {"master-tokens", "Master tokens"}, {"tokens", "Access tokens"},
	{"connections", "Connections"}, {"presence", "Presence"}, {"live", "Live"}, {"histories", "Histories"}, {"edges", "Edges"},
}

// What can be opened on the screens: the button, by how its name begins, and what shows then.
var consoleOpens = map[string][]struct{ button, shows string }{
	"Master tokens": {{"New master token", "dialog h2"}, {"Edit shop", "dialog h2"}, {"Rotate shop", "dialog h2"}, {"Delete shop", "dialog h2"}},
	"Access tokens": {
		{"Issue a trial token", "dialog h2"}, {"Explain", "dialog h2"},
		{"Details of token", "tr.detail h2"}, {"Refresh", "dialog h2"}, {"Revoke", "dialog h2"},
	},
	"Connections": {{"Details of connection", "tr.detail h2"}, {"Disconnect", "dialog h2"}},
	"Live":        {{"Clear", ".empty, .messages"}},
	"Histories":   {{"Message ", "tr.detail pre"}, {"Purge the history", "dialog h2"}, {"Purge paint.room", "dialog h2"}},
	"Edges":       {{"Drain", "dialog h2"}},
}

// Each screen, light and dark, on a wide window and on a narrow one, is accessible and fits.
// scripts/console-pictures.sh keeps the pictures, in the folder that MILLRACE_PICTURES names.
func TestConsoleScreens(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("MILLRACE_PICTURES")
	if folder == "" {
		folder = t.TempDir()
	}
	windows := []struct {
		width, height int
		scheme        string
	}{{1200, 800, "light"}, {1200, 800, "dark"}, {360, 640, "light"}, {360, 640, "dark"}}
	if !harness.Soaking && os.Getenv("MILLRACE_PICTURES") == "" { // each width and each scheme once
		windows = append(windows[:1], windows[3])
	}
	e := harness.StartEdge(t, consoleCaddyfile)
	e.AdminCLI("master-token", "create", "--name", "shop", "--description", "The shop's backend, in production", "--tenant-prefix", "shop", "--ip-mask", "192.0.2.0/24").Want(0, "MT_", "")
	token := e.Issue(harness.AllowAll("room", "lobby"), harness.Grant("shop", nil, []string{"orders.#"}))
	for _, pattern := range []string{"news.#", "orders.*"} {
		subscriber := e.Dial(token.Token)
		subscriber.Subscribe("paint.room", pattern)
		go stayConnected(subscriber)
	}
	publisher := e.Dial(token.Token)
	keep(publisher, "paint.room", "chat.general", "hello, who is here?", `{"from":"ada","text":"I am"}`, "\x00\x01\x02\xfd", "see you tomorrow")
	keep(publisher, "paint.lobby", "chat.news", samplePayloads(60)...)
	go stayConnected(publisher)
	for _, subject := range []string{"ada", "Bertrand", "a guest with a rather long name, who was here before"} {
		go stayConnected(join(e, subject, "paint.room", "room.general", "room.ideas"))
	}
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"screens": func(t *testing.T, _ *harness.Edge, p browser.Tab) {
			fits := func(what string) {
				t.Helper()
				var over int
				p.Evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
				if over > 0 {
					t.Errorf("%s: the page is %d pixels wider than the window", what, over)
				}
				p.WantAccessible(what)
			}
			p.Window(1200, 800, "light")
			fits("sign in")
			p.SignIn("ada", harness.AdaPassword)
			for _, w := range windows {
				p.Window(w.width, w.height, w.scheme)
				for _, shown := range consoleScreens {
					file, screen := shown.file, shown.screen
					p.GoTo(screen)
					p.Until("!document.querySelector('main [aria-busy=true]') && !/Loading .*…/.test(document.querySelector('main').innerText)")
					if screen == "Live" {
						tailFor(p, publisher)
					}
					if screen == "Presence" {
						p.Click("link", "Show who is present in paint.room")
						p.See("table[aria-label='Members']", "Bertrand")
					}
					if screen == "Histories" {
						p.Click("button", "Read paint.room in chat")
						p.See("[role=status]", "4 messages of #")
					}
					fits(fmt.Sprintf("%s, %d pixels wide, %s", screen, w.width, w.scheme))
					if w.width > 1000 {
						p.Act("picture", harness.Object{"path": filepath.Join(folder, fmt.Sprintf("%s-%s.png", file, w.scheme))})
					}
					for _, open := range consoleOpens[screen] {
						p.Until(`(() => {
							const button = [...document.querySelectorAll("main button")].find((b) => (b.ariaLabel ?? b.innerText).startsWith(%s))
							button?.click()
							return button
						})()`, open.button) // it may come with a list that is still being read
						p.Until("document.querySelector(%s)", open.shows)
						fits(fmt.Sprintf("%s, %s, %d pixels wide, %s", screen, open.button, w.width, w.scheme))
						p.Press("Escape")
						p.Until("!document.querySelector('dialog[open]')")
					}
				}
			}
		},
	})
}

// stayConnected reads what comes, and so answers pings, until the connection ends: the screens
// take longer than the edge waits for an answer.
func stayConnected(s *harness.Socket) {
	conn := s.Ws()
	if conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
	}
}

// tailFor has messages in the live tail.
func tailFor(p browser.Tab, publisher *harness.Socket) {
	p.T.Helper()
	p.Fill("Tenant", "paint.room")
	p.Click("button", "Start")
	p.See("[role=status]", "receiving")
	for i := range 40 {
		publisher.Publish("paint.room", "news.prices", fmt.Sprintf(`{"item":"ultramarine","price":%d.%02d}`, 17+i%3, 7*i%100))
	}
	p.See(".messages", "ultramarine")
	p.Choose("Payload as", "json")
}
