package operations

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// otherRoutes are beside ours, with a log.
const otherRoutes = `	tls internal
	log {
		output file {{.Dir}}/access.log
	}
	encode
	respond /who "{client_ip} {http.request.proto} {http.request.tls.server_name}"
	respond /fail "no" 418
	handle /www/* {
		root * {{.Dir}}
		file_server
	}
`

// All that Caddy serves over HTTP/3 it serves as before, though the port is ours: routes,
// certificates, access logs, trusted proxies, compression.
func TestHTTP3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := strings.Repeat("All the world's a page.\n", 10_000)
	www := errors.Join(os.Mkdir(filepath.Join(dir, "www"), 0o700), os.WriteFile(filepath.Join(dir, "www/page.txt"), []byte(page), 0o600))
	proxied := strings.Replace(harness.DefaultCaddyfile, "{", "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.0/8\n\t\ttrusted_proxies_strict\n\t}\n", 1)
	e := harness.StartEdge(t, strings.Replace(proxied, "\ttls internal\n", otherRoutes, 1), harness.InDir(dir))
	e.Must(www)
	get := func(over http.RoundTripper, path, name, value string) harness.Answer {
		return e.Do(harness.Call{Method: "GET", URL: e.HttpsURL(path), Header: http.Header{name: {value}}, Over: over})
	}
	over3 := e.Http3()
	e.OpenWebTransport(harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
	for _, c := range []struct {
		path, name, value string // of a header
		status            int
		body              string
	}{
		{"/ping", "Accept", "*/*", 200, "pong"},
		{"/www/page.txt", "Range", "bytes=4-6", 206, page[4:7]},
		{"/fail?n=1", "Accept", "*/*", 418, "no"},
		{"/none.txt", "Accept", "*/*", 404, "no such page"},
		{"/who", "Accept", "*/*", 200, "127.0.0.1 HTTP/3.0 localhost"},
		{"/who?proxied", "X-Forwarded-For", "203.0.113.9", 200, "203.0.113.9 HTTP/3.0 localhost"},
	} {
		if got := get(over3, c.path, c.name, c.value); got.Status != c.status || string(got.Body) != c.body {
			t.Errorf("%s: %d %q, want %d %q", c.path, got.Status, got.Body, c.status, c.body)
		}
		logged := regexp.MustCompile(fmt.Sprintf(`"proto":"HTTP/3.0".*"uri":"%s".*"status":%d`, regexp.QuoteMeta(c.path), c.status))
		e.Poll("the access log", func() bool { // once, with its status
			log, err := os.ReadFile(filepath.Join(dir, "access.log"))
			return err == nil && len(logged.FindAll(log, -1)) == 1
		})
	}
	if got := get(over3, "/www/page.txt", "Accept-Encoding", "zstd"); got.Header.Get("Content-Encoding") != "zstd" || len(got.Body) > len(page)/2 {
		t.Errorf("compressed: %d bytes in encoding %q", len(got.Body), got.Header.Get("Content-Encoding"))
	}
	if got := get(over3, "/ping", "Long", strings.Repeat("x", 20<<10)); got.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 20 KiB: got %d, want 431", got.Status)
	}
	got, want := get(nil, "/ping", "Accept", "*/*"), fmt.Sprintf(`h3=":%d"; ma=2592000`, e.HTTPS)
	if alt := got.Header.Get("Alt-Svc"); alt != want {
		t.Errorf("got Alt-Svc %q, want %q", alt, want)
	}
	// By this key, which package takeover uses, clients hear that an edge was killed.
	if _, err := os.Stat(filepath.Join(dir, "data/caddy/pubsub/stateless_reset.key")); err != nil {
		t.Error(err)
	}
}

// Sessions belong to the app, not to the site that accepted them; clients reconnect if the app
// goes, those of WebTransport also if that does.
func TestReloadsOfSites(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	overTLS := harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token}
	ws, wt := e.MustOpen(overTLS), e.DialWebTransport(token)
	ws.Subscribe("paint.room", "x.*")
	wt.Subscribe("paint.room", "x.*")
	e.Reload(strings.Replace(harness.DefaultCaddyfile, "tls internal\n\tpubsub\n", "tls internal\n", 1)) // the site of both
	_, one := e.Open(overTLS)
	_, two := e.OpenWebTransport(harness.Handshake{Token: token})
	if one.Status != 404 || two.Status != 404 {
		t.Errorf("handshakes with a site without handlers: got %d and %d, want 404", one.Status, two.Status)
	}
	for _, publisher := range []*harness.Socket{ws, wt} { // they are on one hub
		publisher.Publish("paint.room", "x.y", "to both")
		ws.ExpectDeliver("paint.room", "x.y", "to both", "x.*")
		wt.ExpectDeliver("paint.room", "x.y", "to both", "x.*")
	}

	goes := func(caddyfile string, others ...*harness.Socket) {
		done := make(chan error, 1)
		go func() { // ends with the command, when the clients have gone
			_, err := e.TryReload(caddyfile)
			done <- err
		}()
		for _, s := range others {
			s.ExpectText("RECONNECT")
			s.Close()
		}
		wt.ExpectText("RECONNECT")
		wt.ExpectClose(wire.CloseGoingAway)
		e.Must(<-done)
	}
	goes(strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\twebtransport off", 1))
	ws.Ping()
	e.Reload(harness.DefaultCaddyfile)
	e.Poll("WebTransport to be back", func() bool {
		wt, _, _ = e.TryWebTransport(harness.Handshake{Token: token}) // while the port changes hands there is no answer
		return wt != nil
	})
	goes("{"+harness.GlobalOptions+"}\n"+strings.ReplaceAll(harness.Sites, "\tpubsub\n", ""), ws) // no app
}
