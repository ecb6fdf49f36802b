package browsers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// All tests in a browser are below this one: they in one browser share
// it, and those of a group an edge.
func TestBrowser(t *testing.T) {
	t.Parallel()
	browser.InBrowsers(t, func(t *testing.T, b *browser.Browser) {
		t.Run("demo", func(t *testing.T) { demoTests(t, b) })
		t.Run("WebTransport", func(t *testing.T) { webTransportTests(t, b) })
		t.Run("presence", func(t *testing.T) { presencePageTest(t, b) })
	})
}

// demoTests are about the page of `pubsub dev`.
func demoTests(t *testing.T, c *browser.Browser) {
	d := harness.NewDevEdge(t)
	harness.PutBrowserRoot(t, filepath.Join(d.Dir, "caddy"))
	d.Start(t)
	defer d.Stop(t, syscall.SIGTERM)
	// The tour names the page.
	page := regexp.MustCompile(`http://localhost:\d+/demo\b`).FindString(d.Out.String())
	if want := fmt.Sprintf("http://localhost:%d/demo", d.Ports[1]); page != want {
		t.Fatalf("the tour names the page %q, want %q:\n%s", page, want, d.Out)
	}
	secure := fmt.Sprintf("https://localhost:%d/demo", d.Ports[0])

	for _, test := range []struct{ name, page, transport, credentials string }{
		{"WebSocket", page, "WebSocket", "the subprotocol list"},
		{"WebSocket over TLS", secure, "WebSocket", "the subprotocol list"},
		{"WebSocket from 127.0.0.1", strings.Replace(page, "localhost", "127.0.0.1", 1), "WebSocket", "the subprotocol list"},
		{"WebTransport", page, "WebTransport", "an AUTH line"},
		{"WebTransport over TLS", secure, "WebTransport", "an AUTH line"},
	} {
		c.Run(t, test.name, func(c *browser.Browser) {
			first, second := openDemo(c, "first", test.page, test.transport), openDemo(c, "second", test.page, test.transport)
			for _, p := range []browser.Tab{first, second} {
				p.See("#transport", test.transport)
				p.See("#credentials", test.credentials)
				p.See("#rtt", " ms")
			}
			subscribe(first, "news.*")
			subscribe(second, "#")
			publish(second, "other.x", "not for all")
			publish(first, "news.today", "Grüße")
			first.See("#log", "Grüße")
			if log := second.See("#log", "Grüße"); !strings.Contains(log, "not for all") {
				t.Errorf("the second tab shows %q", log)
			}
			if log := first.See("#log", "news.today"); strings.Contains(log, "not for all") {
				t.Errorf("the first tab shows %q, which it has not subscribed to", log)
			}

			revoke(d, c.T, first.See("#token-id", ""))
			first.See("#status", "Disconnected: the token was revoked; connect again for a new one (token_revoked")
			second.See("#status", "Connected by "+test.transport)

			// The next connection has its own token, and the same subscriptions.
			first.Click("button", "Connect")
			first.See("#subscribed li:not(.pending)", "news.*")
			publish(second, "news.later", "again")
			first.See("#log", "again")
			first.Click("button", "Unsubscribe news.*")
			first.Click("button", "Disconnect")
			first.See("#status", "Disconnected: as you asked.")
			second.Click("button", "Disconnect")
			second.See("#status", "Disconnected")
		})
	}

	c.Run(t, "an edge that stops and comes back", reconnectTest)
	c.Run(t, "names", func(c *browser.Browser) {
		p := openDemo(c, "tab", page, "WebSocket")
		p.Fill("Pattern", "a..b")
		p.Click("button", "Subscribe")
		wantInvalid(p, "pattern")
		p.Fill("Channel", "a.*")
		p.Click("button", "Publish")
		wantInvalid(p, "channel")
	})
	c.Run(t, "a browser that lacks something", func(c *browser.Browser) {
		for _, test := range []struct{ lack, selected, says string }{
			{`delete globalThis.WebTransport`, "WebSocket", "This browser has no WebTransport. WebSocket works."},
			{`lacking("serverCertificateHashes")`, "WebSocket", "It does not accept a certificate by its hash (serverCertificateHashes)"},
		} {
			p := c.Open(test.lack, page, script(c.T, "lacking_page.js")+test.lack)
			var selected string
			if p.Evaluate(&selected, `document.querySelector("[name=transport]:checked").value`); selected != test.selected {
				t.Errorf("%s: selected is %s, want %s", test.lack, selected, test.selected)
			}
			p.See("#abilities", test.says)
		}
	})
}

// reconnectTest is about what the page shows while it has no connection.
func reconnectTest(c *browser.Browser) {
	d := harness.NewDevEdge(c.T)
	d.Start(c.T)
	p := openDemo(c, "tab", fmt.Sprintf("http://127.0.0.1:%d/demo", d.Ports[1]), "WebSocket")
	subscribe(p, "#")
	c.Expected = regexp.MustCompile(`^error: (` +
		`WebSocket connection to '\S+' failed|Failed to load resource: (net::ERR_|the server responded with a status of 503)|` + // Chromium
		`Firefox can’t establish a connection to the server|The connection to \S+ was interrupted|Cross-Origin Request Blocked: .*CORS request did not succeed)|` +
		// An attempt that the page itself gives up, as the edge has not answered in time.
		`^warning: WebSocket connection to '\S+' failed: WebSocket is closed before the connection is established\.$`)
	d.Stop(c.T, syscall.SIGTERM)
	p.See("#log", "the edge is about to stop: moving to a new connection…")
	p.See("#status", "The connection is lost. Reconnecting…")
	p.See("#log", "lost: ")
	d.Start(c.T)
	p.See("#log", "there again, after ")
	p.See("#status", "Connected by WebSocket to the tenant demo.")
	publish(p, "news.today", "after that")
	p.See("#log", "after that")
	d.Stop(c.T, syscall.SIGTERM)
}

// script is a file for the browser under clients.
func script(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("clients", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// openDemo opens the page and connects.
func openDemo(c *browser.Browser, name, url, transport string) browser.Tab {
	c.T.Helper()
	p := c.Open(name, url, "")
	p.Click("radio", transport)
	p.Click("button", "Connect")
	p.See("#status", "Connected by "+transport+" to the tenant demo.")
	return p
}

func subscribe(p browser.Tab, pattern string) {
	p.T.Helper()
	p.Fill("Pattern", pattern)
	p.Click("button", "Subscribe")
	p.See("#subscribed li:not(.pending)", pattern)
}

func publish(p browser.Tab, channel, text string) {
	p.T.Helper()
	p.Fill("Channel", channel)
	p.Fill("Message", text)
	p.Click("button", "Publish")
}

// wantInvalid requires that the page has marked the field, and says why.
func wantInvalid(p browser.Tab, id string) {
	p.T.Helper()
	var message string
	if p.Evaluate(&message, `document.getElementById(%s).validationMessage`, id); !strings.HasPrefix(message, "1 to 32 parts") {
		p.T.Errorf("%s: the page says %q", id, message)
	}
}

func revoke(d *harness.DevEdge, t *testing.T, tokenID string) {
	t.Helper()
	cmd := exec.Command(harness.Program, "pubsub", "token", "revoke", "--address", fmt.Sprintf("localhost:%d", d.Ports[2]), tokenID)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("token revoke: %v\n%s", err, out)
	}
}
