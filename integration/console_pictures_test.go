package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	if !soaking && os.Getenv("MILLRACE_PICTURES") == "" { // each width and each scheme once
		windows = append(windows[:1], windows[3])
	}
	e := startEdge(t, strings.Replace(consoleHistoryCaddyfile, "hook audit {", "presence rooms {\n\t\t\tchannels room.#\n\t\t}\n\t\thook audit {", 1))
	e.admin("master-token", "create", "--name", "shop", "--description", "The shop's backend, in production", "--tenant-prefix", "shop", "--ip-mask", "192.0.2.0/24").want(0, "MT_", "")
	token := e.issue(allowAll("room", "lobby"), grant("shop", nil, []string{"orders.#"}))
	for _, pattern := range []string{"news.#", "orders.*"} {
		subscriber := e.dial(token.Token)
		subscriber.subscribe("paint.room", pattern)
		go stayConnected(subscriber)
	}
	publisher := e.dial(token.Token)
	publisher.keep("paint.room", "chat.general", "hello, who is here?", `{"from":"ada","text":"I am"}`, "\x00\x01\x02\xfd", "see you tomorrow")
	publisher.keep("paint.lobby", "chat.news", samplePayloads(60)...)
	go stayConnected(publisher)
	for _, subject := range []string{"ada", "Bertrand", "a guest with a rather long name, who was here before"} {
		go stayConnected(e.join(subject, "paint.room", "room.general", "room.ideas"))
	}
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"screens": func(t *testing.T, _ *edge, p tab) {
			fits := func(what string) {
				t.Helper()
				var over int
				p.evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
				if over > 0 {
					t.Errorf("%s: the page is %d pixels wider than the window", what, over)
				}
				p.wantAccessible(what)
			}
			p.window(1200, 800, "light")
			fits("sign in")
			p.signIn("ada", adaPassword)
			for _, w := range windows {
				p.window(w.width, w.height, w.scheme)
				for _, shown := range consoleScreens {
					file, screen := shown.file, shown.screen
					p.goTo(screen)
					p.until("!document.querySelector('main [aria-busy=true]') && !/Loading .*…/.test(document.querySelector('main').innerText)")
					if screen == "Live" {
						tailFor(p, publisher)
					}
					if screen == "Presence" {
						p.click("link", "Show who is present in paint.room")
						p.see("table[aria-label='Members']", "Bertrand")
					}
					if screen == "Histories" {
						p.click("button", "Read paint.room in chat")
						p.see("[role=status]", "4 messages of #")
					}
					fits(fmt.Sprintf("%s, %d pixels wide, %s", screen, w.width, w.scheme))
					if w.width > 1000 {
						p.act("picture", object{"path": filepath.Join(folder, fmt.Sprintf("%s-%s.png", file, w.scheme))})
					}
					for _, open := range consoleOpens[screen] {
						p.until(`(() => {
							const button = [...document.querySelectorAll("main button")].find((b) => (b.ariaLabel ?? b.innerText).startsWith(%s))
							button?.click()
							return button
						})()`, open.button) // it may come with a list that is still being read
						p.until("document.querySelector(%s)", open.shows)
						fits(fmt.Sprintf("%s, %s, %d pixels wide, %s", screen, open.button, w.width, w.scheme))
						p.press("Escape")
						p.until("!document.querySelector('dialog[open]')")
					}
				}
			}
		},
	})
}

// stayConnected reads what comes, and so answers pings, until the connection ends: the screens
// take longer than the edge waits for an answer.
func stayConnected(s *socket) {
	conn := s.ws()
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
func tailFor(p tab, publisher *socket) {
	p.t.Helper()
	p.fill("Tenant", "paint.room")
	p.click("button", "Start")
	p.see("[role=status]", "receiving")
	for i := range 40 {
		publisher.publish("paint.room", "news.prices", fmt.Sprintf(`{"item":"ultramarine","price":%d.%02d}`, 17+i%3, 7*i%100))
	}
	p.see(".messages", "ultramarine")
	p.choose("Payload as", "json")
}
