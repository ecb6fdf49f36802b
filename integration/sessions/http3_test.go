package sessions

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// roundTrip sends a request without body to the HTTPS site.
func roundTrip(e *harness.Edge, client http.RoundTripper, method, path string, header http.Header) harness.Answer {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, e.HttpsURL(path), nil)
	if err != nil {
		e.T.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	res, err := client.RoundTrip(req)
	if err != nil {
		e.T.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		e.T.Fatalf("%s %s: %v", method, path, err)
	}
	return harness.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

// plainSites has routes beside ours, a log, and a proxy that it trusts.
const plainSites = `
http://localhost:{{.HTTP}} {
	pubsub
}
https://localhost:{{.HTTPS}} {
	tls internal
	log {
		output file {{.Dir}}/access.log
	}
	encode
	pubsub
	respond /who "{client_ip} {http.request.proto} {http.request.tls.server_name}"
	respond /fail "no" 418
	root * {{.Dir}}/www
	file_server
}
`

// All that Caddy serves over HTTP/3 it serves as before, though the port is
// ours: routes, certificates, access logs, trusted proxies, compression.
func TestHTTP3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := strings.Repeat("All the world's a page.\n", 10_000)
	if err := os.MkdirAll(filepath.Join(dir, "www"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "www/page.txt"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	caddyfile := strings.Replace(conformance.RacingCaddyfile, harness.Sites, plainSites, 1)
	e := harness.StartEdge(t, caddyfile, harness.InDir(dir))
	client := e.Http3()
	get := func(path string, header http.Header) harness.Answer {
		t.Helper()
		return roundTrip(e, client, "GET", path, header)
	}
	token := e.Issue(harness.AllowAll("room")).Token
	if got := get("/ping", nil); got.Status != 200 || string(got.Body) != "pong" || got.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("GET /ping: got %d %q %v", got.Status, got.Body, got.Header)
	}
	if got := get("/page.txt", nil); got.Status != 200 || string(got.Body) != page {
		t.Errorf("GET /page.txt: got %d and %d bytes, want the file of %d", got.Status, len(got.Body), len(page))
	}
	if got := get("/page.txt", http.Header{"Accept-Encoding": {"zstd"}}); got.Header.Get("Content-Encoding") != "zstd" || len(got.Body) > len(page)/2 {
		t.Errorf("GET /page.txt compressed: got %d bytes in encoding %q", len(got.Body), got.Header.Get("Content-Encoding"))
	}
	if got := get("/page.txt", http.Header{"Range": {"bytes=4-6"}}); got.Status != 206 || string(got.Body) != page[4:7] {
		t.Errorf("GET /page.txt of a range: got %d %q", got.Status, got.Body)
	}
	if got := get("/none.txt", nil); got.Status != 404 {
		t.Errorf("GET /none.txt: got %d", got.Status)
	}
	if got := get("/fail?n=1", nil); got.Status != 418 {
		t.Errorf("GET /fail: got %d", got.Status)
	}
	if got := get("/who", nil); string(got.Body) != "127.0.0.1 HTTP/3.0 localhost" {
		t.Errorf("GET /who: got %q", got.Body)
	}
	if got := get("/who", http.Header{"X-Forwarded-For": {"203.0.113.9"}}); !strings.HasPrefix(string(got.Body), "203.0.113.9 ") {
		t.Errorf("GET /who behind a trusted proxy: got %q", got.Body)
	}
	get("/v1/tokens", http.Header{"Authorization": {"Bearer " + e.Master}}).Decode(t, 200, new(harness.Object))
	get("/page.txt", http.Header{"Authorization": {"Bearer " + token}, "Wt-Available-Protocols": {`"llps.v1", "at.` + token + `"`}})
	e.MustOpenWebTransport(harness.Handshake{Protocols: []string{"llps.v1", "at." + token}}).Close()

	for name, client := range map[string]http.RoundTripper{
		"HTTP/1.1": &http.Transport{DialContext: harness.DialLoopback, TLSClientConfig: e.Http2().TLSClientConfig, DisableKeepAlives: true},
		"HTTP/2":   e.Http2(),
	} {
		got := roundTrip(e, client, "GET", "/ping", nil)
		if alt, want := got.Header.Get("Alt-Svc"), fmt.Sprintf(`h3=":%d"; ma=2592000`, e.HTTPS); alt != want {
			t.Errorf("over %s: got Alt-Svc %q, want %q", name, alt, want)
		}
	}
	if alt := e.Rest("GET", "/ping", "", nil).Header.Get("Alt-Svc"); alt != "" {
		t.Errorf("the plain HTTP site has Alt-Svc %q", alt)
	}
	e.Stop()

	text, err := os.ReadFile(filepath.Join(dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	logged := map[string]int{} // of HTTP/3
	for line := range strings.Lines(string(text)) {
		var record struct {
			Request struct{ Proto, URI, Method string }
			Status  int
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if record.Request.Proto == "HTTP/3.0" || record.Request.Method == "CONNECT" {
			logged[fmt.Sprint(record.Request.Method, " ", record.Request.URI, " ", record.Status)]++
		}
	}
	for record, times := range map[string]int{
		"GET /ping 200": 1, "GET /page.txt 200": 3, "GET /page.txt 206": 1, "GET /none.txt 404": 1, "GET /fail?n=1 418": 1, "GET /who 200": 2,
		"GET /v1/tokens 200": 1, "CONNECT /wt 200": 1,
	} {
		if logged[record] != times {
			t.Errorf("the access log has %d records of %s, want %d: %v", logged[record], record, times, logged)
		}
	}
	for _, secret := range []string{token, e.Master} {
		if strings.Contains(string(text)+e.Output(), secret[len(secret)-32:]) {
			t.Error("a log has a secret")
		}
	}
}

// A request that came as TLS early data may be a replay.
func TestEarlyData(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	tickets := tls.NewLRUClientSessionCache(1)
	get := func(method, path string) harness.Answer {
		t.Helper()
		client := e.Http3()
		client.TLSClientConfig.ClientSessionCache = tickets
		if method == http3.MethodGet0RTT {
			client.Dial = e.DialFarAway
		}
		return roundTrip(e, client, method, path, http.Header{"Authorization": {"Bearer " + token}})
	}
	e.Poll("a ticket", func() bool { // it comes behind the handshake
		get(http.MethodGet, "/ping")
		_, ok := tickets.Get("localhost")
		return ok
	})
	for path, want := range map[string]int{"/wt": http.StatusTooEarly, "/v1/tokens": http.StatusTooEarly, "/ping": 200} {
		e.Poll("early data", func() bool { // whether a request is early is the client's luck
			get(http.MethodGet, "/ping") // for another ticket
			return get(http3.MethodGet0RTT, path).Status == want
		})
	}
}

// What WebTransport is not possible on works without it.
func TestWithoutWebTransport(t *testing.T) {
	t.Parallel()
	const reason = "no WebTransport on this server"
	for _, c := range []struct {
		name, global, options string // in the global options, in those of pubsub
		sites                 string
		warns                 string // what the one warning about the site says; empty: there is none
		h3                    bool   // the site has HTTP/3
	}{
		{"off", "", "webtransport off", harness.Sites, "", true},
		{"no h3 among the protocols", "servers {\nprotocols h1 h2\n}\n", "", harness.Sites, "h3 is not among its protocols", false},
		{"no TLS", "", "", "http://localhost:{{.HTTP}} {\n\tpubsub\n}\nhttps://localhost:{{.HTTPS}} {\n\ttls internal\n\trespond /ping pong\n}\n", "it has no TLS", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caddyfile := "{" + harness.GlobalOptions + c.global + "\tpubsub {\n" + c.options + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + "\t}\n}\n" + c.sites
			e := harness.StartEdge(t, caddyfile)
			e.Dial(e.Issue(harness.AllowAll("room")).Token).Ping()
			if c.h3 {
				got := roundTrip(e, e.Http3(), "GET", "/ping", nil)
				if string(got.Body) != "pong" {
					t.Errorf("GET /ping over HTTP/3: got %d %q", got.Status, got.Body)
				}
			}
			if c.name == "off" {
				for name, client := range map[string]http.RoundTripper{"HTTP/2": e.Http2(), "HTTP/3": e.Http3()} {
					if got := roundTrip(e, client, "GET", "/wt", nil); string(got.Body) != "no such page" {
						t.Errorf("GET /wt over %s: got %d %q, want the site's own answer", name, got.Status, got.Body)
					}
				}
			}
			var warnings []string
			for line := range strings.Lines(e.Output()) {
				if strings.Contains(line, reason) {
					warnings = append(warnings, line)
				}
			}
			of := func(port int) (found []string) {
				for _, line := range warnings {
					if strings.Contains(line, fmt.Sprintf(":%d", port)) {
						found = append(found, line)
					}
				}
				return found
			}
			port := e.HTTPS
			if c.name == "no TLS" {
				port = e.HTTP
			}
			found := of(port)
			switch {
			case c.warns == "" && len(warnings) != 0:
				t.Errorf("got warnings %q, want none", warnings)
			case c.warns != "" && (len(found) != 1 || !strings.Contains(found[0], c.warns)):
				t.Errorf("got warnings %q about port %d, want one that says %q", warnings, port, c.warns)
			}
		})
	}
}

// A client whose edge was killed and is back hears at its next packet that its connection
// is gone; a reload keeps it.
func TestKilledEdgeResets(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	conn := e.DialQUIC(nil)
	e.Reload(strings.Replace(harness.DefaultCaddyfile, "no such page", "no such page here", 1))
	ask := func() error { return conn.SendDatagram(make([]byte, 100)) } // larger than a reset
	if err := ask(); err != nil {
		t.Error(err)
	}
	e.Kill()
	samePorts := func(again *harness.Edge) { again.HTTP, again.HTTPS = e.HTTP, e.HTTPS }
	if ended := context.Cause(conn.Context()); ended != nil {
		t.Fatalf("before the edge is back: %v", ended)
	}
	back := harness.StartEdge(t, harness.DefaultCaddyfile, harness.InDir(e.Dir), samePorts, harness.WithEnv("MILLRACE_MASTER_TOKEN="+e.Master))
	back.Poll("a reset", func() bool { _ = ask(); return conn.Context().Err() != nil })
	if err := context.Cause(conn.Context()); !errors.As(err, new(*quic.StatelessResetError)) {
		t.Errorf("the connection ended with %v", err)
	}
}
