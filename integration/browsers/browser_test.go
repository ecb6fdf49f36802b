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

// The pages of `pubsub dev`, and one without SDK. What is in one of the browsers alone differs
// between them in nothing that the scenarios of the SDKs do not show. All tests in one share it.
func TestBrowser(t *testing.T) {
	t.Parallel()
	chromium, firefox := browser.Start(t, "chromium"), browser.Start(t, "firefox")
	d := harness.NewDevEdge(t)
	d.Start(t)
	livePages(t, d, chromium, firefox)
	page := fmt.Sprintf("http://localhost:%d/demo/explore", d.Ports[1])
	secure := fmt.Sprintf("https://localhost:%d/demo/explore", d.Ports[0])
	firefox.Run(t, "demo by WebTransport", func(b *browser.Browser) {
		demoTest(b, d, secure, "WebTransport", "an AUTH line")
	})
	chromium.Run(t, "demo by WebSocket", func(b *browser.Browser) {
		demoTest(b, d, page, "WebSocket", "the subprotocol list")
	})
	chromium.Run(t, "demo without WebTransport", func(b *browser.Browser) {
		p := b.Open("tab", page, `delete globalThis.WebTransport`)
		p.See("#abilities", "This browser has no WebTransport. WebSocket works.")
		p = b.Open("no hash", page, script(b.T, "lacking_page.js")+`lacking("serverCertificateHashes")`)
		p.See("#abilities", "It does not accept a certificate by its hash (serverCertificateHashes)")
	})
	firefox.Run(t, "SDK by script tags", func(b *browser.Browser) { scriptTagTest(b, d) })
	chromium.Run(t, "demo whose edge stops and comes back", func(b *browser.Browser) { reconnectTest(b, d) })
	chromium.Run(t, "WebTransport", webTransportTest)
}

func demoTest(c *browser.Browser, d *harness.DevEdge, page, transport, credentials string) {
	first, second := openDemo(c, "first", page, transport), openDemo(c, "second", page, transport)
	first.See("#transport", transport)
	first.See("#credentials", credentials)
	first.See("#rtt", " ms")
	subscribe(first, "news.*")
	subscribe(second, "#")
	publish(second, "other.x", "not for all")
	publish(first, "news.today", "Grüße")
	if log := second.See("#log", "Grüße"); !strings.Contains(log, "not for all") {
		c.T.Errorf("the second tab shows %q", log)
	}
	if log := first.See("#log", "news.today"); !strings.Contains(log, "Grüße") || strings.Contains(log, "not for all") {
		c.T.Errorf("the first tab shows %q", log)
	}
	id := first.See("#token-id", "")
	cli := func(args ...string) string { // explain says by its exit code, too, that something is refused
		cmd := exec.Command(harness.Program, append([]string{"pubsub", "token"}, args...)...)
		cmd.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := cli("explain", id, "--action", "publish", "--tenant", "other", "--channel", "a"); !strings.HasPrefix(out, "refused: ") {
		c.T.Errorf("the token of the demo in another tenant: %s", out)
	}
	cli("revoke", id)
	first.See("#status", "Disconnected: the token was revoked; connect again for a new one (token_revoked")
	second.See("#status", "Connected by "+transport)

	// The next connection has its own token, and the same subscriptions.
	first.Click("button", "Connect")
	first.See("#subscribed li:not(.pending)", "news.*")
	first.Fill("Channel", "a.*")
	first.Click("button", "Publish")
	var message string
	if first.Evaluate(&message, `document.getElementById("channel").validationMessage`); !strings.HasPrefix(message, "1 to 32 parts") {
		c.T.Errorf("of the channel a.* the page says %q", message)
	}
	publish(second, "news.later", "again")
	first.See("#log", "again")
	first.Click("button", "Unsubscribe news.*", "Disconnect")
	first.See("#status", "Disconnected: as you asked.")
	second.Click("button", "Disconnect")
	second.See("#status", "Disconnected")
}

// reconnectTest is about what the page shows while it has no connection. It ends the edge.
func reconnectTest(c *browser.Browser, d *harness.DevEdge) {
	p := openDemo(c, "tab", fmt.Sprintf("http://127.0.0.1:%d/demo/explore", d.Ports[1]), "WebSocket")
	subscribe(p, "#")
	c.Expected = regexp.MustCompile(`^error: (WebSocket connection to '\S+' failed|Failed to load resource: (net::ERR_|the server responded with a status of 503))|` +
		// An attempt that the page itself gives up, as the edge has not answered in time.
		`^warning: WebSocket connection to '\S+' failed: WebSocket is closed before the connection is established\.$`)
	d.Stop(c.T, syscall.SIGTERM)
	p.See("#log", "the edge is about to stop: moving to a new connection…")
	p.See("#status", "The connection is lost. Reconnecting…")
	d.Start(c.T)
	p.See("#log", "there again, after ")
	publish(p, "news.today", "after that")
	p.See("#log", "after that")
	d.Stop(c.T, syscall.SIGTERM)
}

// scriptTagTest loads the SDK into a page of another origin, by the tags that `pubsub sdk` prints, and
// not where the file is another one than they say.
func scriptTagTest(c *browser.Browser, d *harness.DevEdge) {
	cli := func(args ...string) string {
		cmd := exec.Command(harness.Program, append([]string{"pubsub"}, args...)...)
		cmd.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
		out, err := cmd.Output()
		if err != nil {
			c.T.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	origin := fmt.Sprintf("http://localhost:%d", d.Ports[1])
	token := cli("token", "issue", "--tenant", "demo", "--pub", "#", "--sub", "#", "--quiet")
	p := c.Open("script tag", fmt.Sprintf("http://127.0.0.1:%d/ping", d.Ports[1]), script(c.T, "script_tags.js"))
	c.Expected = regexp.MustCompile(`sha384`) // what the browser says of the file that it refuses
	var got string
	p.Evaluate(&got, `sdkByTags(%s, %s, %s)`, cli("sdk", origin), origin, token)
	if want := "script module refused"; got != want {
		c.T.Errorf("the page says %q, want %q", got, want)
	}
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

// openDemo opens the page to explore with, which connects, and chooses a transport.
func openDemo(c *browser.Browser, name, url, transport string) browser.Tab {
	c.T.Helper()
	p := c.Open(name, url, "")
	p.Click("radio", transport)
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
	p.Fill("Channel", channel, "Message", text)
	p.Click("button", "Publish")
}
