package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/harness"
)

// roundTrip sends a request without body to the HTTPS site.
func roundTrip(e *harness.Edge, client http.RoundTripper, path string, header http.Header) harness.Answer {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.HttpsURL(path), nil)
	if err != nil {
		e.T.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	res, err := client.RoundTrip(req)
	if err != nil {
		e.T.Fatalf("%s: %v", path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		e.T.Fatalf("%s: %v", path, err)
	}
	return harness.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

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
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "www"), 0o700), os.WriteFile(filepath.Join(dir, "www/page.txt"), []byte(page), 0o600)); err != nil {
		t.Fatal(err)
	}
	proxied := strings.Replace(harness.DefaultCaddyfile, "{", "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.0/8\n\t\ttrusted_proxies_strict\n\t}\n", 1)
	e := harness.StartEdge(t, strings.Replace(proxied, "\ttls internal\n", otherRoutes, 1), harness.InDir(dir))
	client := e.Http3()
	e.OpenWebTransport(harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
	for _, c := range []struct {
		path   string
		header http.Header
		status int
		body   string
	}{
		{"/ping", nil, 200, "pong"},
		{"/www/page.txt", nil, 200, page},
		{"/www/page.txt?range", http.Header{"Range": {"bytes=4-6"}}, 206, page[4:7]},
		{"/fail?n=1", nil, 418, "no"},
		{"/none.txt", nil, 404, "no such page"},
		{"/who", nil, 200, "127.0.0.1 HTTP/3.0 localhost"},
		{"/who?proxied", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, 200, "203.0.113.9 HTTP/3.0 localhost"},
	} {
		if got := roundTrip(e, client, c.path, c.header); got.Status != c.status || string(got.Body) != c.body {
			t.Errorf("%s: %d and %d bytes, want %d and %d", c.path, got.Status, len(got.Body), c.status, len(c.body))
		}
		e.Poll("the access log", func() bool { // once, with its status
			log, err := os.ReadFile(filepath.Join(dir, "access.log"))
			n := 0
			for line := range strings.Lines(string(log)) {
				if strings.Contains(line, `"proto":"HTTP/3.0"`) && strings.Contains(line, fmt.Sprintf(`"uri":%q`, c.path)) && strings.Contains(line, fmt.Sprintf(`"status":%d,`, c.status)) {
					n++
				}
			}
			return err == nil && n == 1
		})
	}
	if got := roundTrip(e, client, "/www/page.txt", http.Header{"Accept-Encoding": {"zstd"}}); got.Header.Get("Content-Encoding") != "zstd" || len(got.Body) > len(page)/2 {
		t.Errorf("compressed: %d bytes in encoding %q", len(got.Body), got.Header.Get("Content-Encoding"))
	}
	if alt, want := roundTrip(e, e.Http2(), "/ping", nil).Header.Get("Alt-Svc"), fmt.Sprintf(`h3=":%d"; ma=2592000`, e.HTTPS); alt != want {
		t.Errorf("got Alt-Svc %q, want %q", alt, want)
	}
	if alt := e.Rest("GET", "/ping", "", nil).Header.Get("Alt-Svc"); alt != "" {
		t.Errorf("the plain HTTP site has Alt-Svc %q", alt)
	}
}

// A client whose edge was killed and is back hears at its next packet that its connection
// is gone; a reload keeps it.
func TestKilledEdgeResets(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	conn := e.DialQUIC(nil)
	e.Reload(strings.Replace(harness.DefaultCaddyfile, "no such page", "no such page here", 1))
	e.Kill()
	if ended := context.Cause(conn.Context()); ended != nil {
		t.Fatalf("before the edge is back: %v", ended)
	}
	samePorts := func(again *harness.Edge) { again.HTTP, again.HTTPS = e.HTTP, e.HTTPS }
	back := harness.StartEdge(t, harness.DefaultCaddyfile, harness.InDir(e.Dir), samePorts)
	back.Poll("a reset", func() bool {
		_ = conn.SendDatagram(make([]byte, 100)) // larger than a reset; the end says more
		return conn.Context().Err() != nil
	})
	if err := context.Cause(conn.Context()); !errors.As(err, new(*quic.StatelessResetError)) {
		t.Errorf("the connection ended with %v", err)
	}
}

// Sessions belong to the app, not to the site that accepted them; clients reconnect if the app
// goes, those of WebTransport also if that does.
func TestReloadsOfSites(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	overTLS := harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token}
	ws, wt, byLine := e.MustOpen(overTLS), e.DialWebTransport(token), e.MustOpenWebTransport(harness.Handshake{})
	byLine.SendLine("AUTH:" + token)
	byLine.ExpectText("OK:AUTH")
	all := []*harness.Socket{ws, wt, byLine}
	for _, s := range all {
		s.Subscribe("paint.room", "x.*")
	}
	meet := func() { // clients of both transports are on one hub
		t.Helper()
		for i, publisher := range all {
			publisher.Publish("paint.room", "x.y", fmt.Sprint(i))
			for _, s := range all {
				s.ExpectDeliver("paint.room", "x.y", fmt.Sprint(i), "x.*")
			}
		}
	}
	meet()
	e.Reload(strings.Replace(harness.DefaultCaddyfile, "tls internal\n\tpubsub\n", "tls internal\n", 1)) // the site of all three
	_, one := e.Open(overTLS)
	_, two := e.OpenWebTransport(harness.Handshake{Token: token})
	if one.Status != 404 || two.Status != 404 {
		t.Errorf("handshakes with a site without handlers: got %d and %d, want 404", one.Status, two.Status)
	}
	meet()

	for _, without := range []string{
		strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\twebtransport off", 1),
		strings.Replace(harness.DefaultCaddyfile, "{", "{\n\tservers {\n\t\tprotocols h1 h2\n\t}\n", 1),
		"{" + harness.GlobalOptions + "}\n" + strings.ReplaceAll(harness.Sites, "\tpubsub\n", ""), // no app
	} {
		e.Write(without)
		reload := e.Command("reload", "--config", e.File, "--adapter", "caddyfile", "--address", e.AdminAddress())
		done := make(chan error, 1)
		go func() { done <- reload.Run() }() // ends with the command, when the clients have gone
		if !strings.Contains(without, "pubsub") {
			ws.ExpectText("RECONNECT")
			ws.Close()
		}
		for _, s := range []*harness.Socket{wt, byLine} {
			s.ExpectText("RECONNECT")
			s.ExpectClose(1001)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !strings.Contains(without, "pubsub") {
			return
		}
		ws.Ping()
		if got := e.Do(harness.Call{Method: "GET", URL: e.HttpsURL("/wt")}); string(got.Body) != "no such page" && strings.Contains(without, "off") {
			t.Errorf("GET /wt: got %d %q, want the site's own answer", got.Status, got.Body)
		}
		e.Reload(harness.DefaultCaddyfile)
		for _, s := range []**harness.Socket{&wt, &byLine} {
			e.Poll("WebTransport to be back", func() bool {
				*s, _, _ = e.TryWebTransport(harness.Handshake{Token: token}) // while the port changes hands there is no answer
				return *s != nil
			})
		}
	}
}

// An edge that stops ends the sessions of clients that stay, and their connections.
func TestStopEndsConnections(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	var sockets []*harness.Socket
	for _, h := range []harness.Handshake{{Token: token}, {Token: token}, {}} { // the last has yet to authenticate
		conn := e.DialQUIC(nil)
		session, _ := e.OpenSession(conn, h)
		s := e.OnSession(conn, session) // which leaves the connection to the edge
		if h.Token != "" {
			s.Ping()
		}
		sockets = append(sockets, s)
	}
	e.Terminate()
	for _, s := range sockets[:2] {
		s.ExpectText("RECONNECT")
	}
	for _, s := range sockets {
		s.ExpectClose(1001)
		<-s.Wt().Quic.Context().Done()
		if end := new(quic.ApplicationError); !errors.As(context.Cause(s.Wt().Quic.Context()), &end) || !end.Remote || end.ErrorCode != 0x100 {
			t.Errorf("the connection ended with %v, want the edge to close it", context.Cause(s.Wt().Quic.Context()))
		}
	}
	e.Stop()
}
