package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// All tests in a browser are below this one: they in one browser share
// it, and those of a group an edge.
func TestBrowser(t *testing.T) {
	t.Parallel()
	inBrowsers(t, func(t *testing.T, b *browser) {
		t.Run("demo", func(t *testing.T) { demoTests(t, b) })
		t.Run("WebTransport", func(t *testing.T) { webTransportTests(t, b) })
		t.Run("presence", func(t *testing.T) { presencePageTest(t, b) })
	})
}

// demoTests are about the page of `pubsub dev`.
func demoTests(t *testing.T, c *browser) {
	d := newDevEdge(t)
	putBrowserRoot(t, filepath.Join(d.dir, "caddy"))
	d.start(t)
	defer d.stop(t, syscall.SIGTERM)
	// The tour names the page.
	page := regexp.MustCompile(`http://localhost:\d+/demo\b`).FindString(d.out.String())
	if want := fmt.Sprintf("http://localhost:%d/demo", d.ports[1]); page != want {
		t.Fatalf("the tour names the page %q, want %q:\n%s", page, want, d.out)
	}
	secure := fmt.Sprintf("https://localhost:%d/demo", d.ports[0])

	for _, test := range []struct{ name, page, transport, credentials string }{
		{"WebSocket", page, "WebSocket", "the subprotocol list"},
		{"WebSocket over TLS", secure, "WebSocket", "the subprotocol list"},
		{"WebSocket from 127.0.0.1", strings.Replace(page, "localhost", "127.0.0.1", 1), "WebSocket", "the subprotocol list"},
		{"WebTransport", page, "WebTransport", "an AUTH line"},
		{"WebTransport over TLS", secure, "WebTransport", "an AUTH line"},
	} {
		c.run(t, test.name, func(c *browser) {
			first, second := c.openDemo("first", test.page, test.transport), c.openDemo("second", test.page, test.transport)
			for _, p := range []tab{first, second} {
				p.see("#transport", test.transport)
				p.see("#credentials", test.credentials)
				p.see("#rtt", " ms")
			}
			first.subscribe("news.*")
			second.subscribe("#")
			second.publish("other.x", "not for all")
			first.publish("news.today", "Grüße")
			first.see("#log", "Grüße")
			if log := second.see("#log", "Grüße"); !strings.Contains(log, "not for all") {
				t.Errorf("the second tab shows %q", log)
			}
			if log := first.see("#log", "news.today"); strings.Contains(log, "not for all") {
				t.Errorf("the first tab shows %q, which it has not subscribed to", log)
			}

			d.revoke(c.t, first.see("#token-id", ""))
			first.see("#status", "Disconnected: the token was revoked; connect again for a new one (token_revoked")
			second.see("#status", "Connected by "+test.transport)

			// The next connection has its own token, and the same subscriptions.
			first.click("button", "Connect")
			first.see("#subscribed li:not(.pending)", "news.*")
			second.publish("news.later", "again")
			first.see("#log", "again")
			first.click("button", "Unsubscribe news.*")
			first.click("button", "Disconnect")
			first.see("#status", "Disconnected: as you asked.")
			second.click("button", "Disconnect")
			second.see("#status", "Disconnected")
		})
	}

	c.run(t, "an edge that stops and comes back", reconnectTest)
	c.run(t, "names", func(c *browser) {
		p := c.openDemo("tab", page, "WebSocket")
		p.fill("Pattern", "a..b")
		p.click("button", "Subscribe")
		p.wantInvalid("pattern")
		p.fill("Channel", "a.*")
		p.click("button", "Publish")
		p.wantInvalid("channel")
	})
	c.run(t, "a browser that lacks something", func(c *browser) {
		for _, test := range []struct{ lack, selected, says string }{
			{`delete globalThis.WebTransport`, "WebSocket", "This browser has no WebTransport. WebSocket works."},
			{`lacking("serverCertificateHashes")`, "WebSocket", "It does not accept a certificate by its hash (serverCertificateHashes)"},
		} {
			p := c.open(test.lack, page, script(c.t, "lacking_page.js")+test.lack)
			var selected string
			if p.evaluate(&selected, `document.querySelector("[name=transport]:checked").value`); selected != test.selected {
				t.Errorf("%s: selected is %s, want %s", test.lack, selected, test.selected)
			}
			p.see("#abilities", test.says)
		}
	})
}

// reconnectTest is about what the page shows while it has no connection.
func reconnectTest(c *browser) {
	d := newDevEdge(c.t)
	d.start(c.t)
	p := c.openDemo("tab", fmt.Sprintf("http://127.0.0.1:%d/demo", d.ports[1]), "WebSocket")
	p.subscribe("#")
	c.expected = regexp.MustCompile(`^error: (` +
		`WebSocket connection to '\S+' failed|Failed to load resource: (net::ERR_|the server responded with a status of 503)|` + // Chromium
		`Firefox can’t establish a connection to the server|The connection to \S+ was interrupted|Cross-Origin Request Blocked: .*CORS request did not succeed)|` +
		// An attempt that the page itself gives up, as the edge has not answered in time.
		`^warning: WebSocket connection to '\S+' failed: WebSocket is closed before the connection is established\.$`)
	d.stop(c.t, syscall.SIGTERM)
	p.see("#log", "the edge is about to stop: moving to a new connection…")
	p.see("#status", "The connection is lost. Reconnecting…")
	p.see("#log", "lost: ")
	d.start(c.t)
	p.see("#log", "there again, after ")
	p.see("#status", "Connected by WebSocket to the tenant demo.")
	p.publish("news.today", "after that")
	p.see("#log", "after that")
	d.stop(c.t, syscall.SIGTERM)
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
func (c *browser) openDemo(name, url, transport string) tab {
	c.t.Helper()
	p := c.open(name, url, "")
	p.click("radio", transport)
	p.click("button", "Connect")
	p.see("#status", "Connected by "+transport+" to the tenant demo.")
	return p
}

func (p tab) subscribe(pattern string) {
	p.t.Helper()
	p.fill("Pattern", pattern)
	p.click("button", "Subscribe")
	p.see("#subscribed li:not(.pending)", pattern)
}

func (p tab) publish(channel, text string) {
	p.t.Helper()
	p.fill("Channel", channel)
	p.fill("Message", text)
	p.click("button", "Publish")
}

// wantInvalid requires that the page has marked the field, and says why.
func (p tab) wantInvalid(id string) {
	p.t.Helper()
	var message string
	if p.evaluate(&message, `document.getElementById(%s).validationMessage`, id); !strings.HasPrefix(message, "1 to 32 parts") {
		p.t.Errorf("%s: the page says %q", id, message)
	}
}

func (d *devEdge) revoke(t *testing.T, tokenID string) {
	t.Helper()
	cmd := exec.Command(millrace, "pubsub", "token", "revoke", "--address", fmt.Sprintf("localhost:%d", d.ports[2]), tokenID)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("token revoke: %v\n%s", err, out)
	}
}
