package integration

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// http3 is a plain HTTP/3 client of the HTTPS site, closed when the test ends.
func (e *edge) http3() *http3.Transport {
	e.t.Helper()
	config, err := e.tlsConfig()
	if err != nil {
		e.t.Fatal(err)
	}
	transport := &http3.Transport{
		TLSClientConfig: config,
		Dial: func(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(e.HTTPS)), t, q)
		},
	}
	e.t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			e.t.Error(err)
		}
	})
	return transport
}

// http2 is an HTTP/2 client of the HTTPS site.
func (e *edge) http2() *http.Transport {
	e.t.Helper()
	config, err := e.tlsConfig()
	if err != nil {
		e.t.Fatal(err)
	}
	transport := &http.Transport{DialContext: dialLoopback, TLSClientConfig: config, ForceAttemptHTTP2: true}
	e.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// roundTrip sends a request without body to the HTTPS site.
func (e *edge) roundTrip(client http.RoundTripper, method, path string, header http.Header) answer {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, e.httpsURL(path), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	res, err := client.RoundTrip(req)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{Status: res.StatusCode, Header: res.Header, Body: body}
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
	caddyfile := strings.Replace(racingCaddyfile, sites, plainSites, 1)
	e := startEdge(t, caddyfile, inDir(dir))
	client := e.http3()
	get := func(path string, header http.Header) answer {
		t.Helper()
		return e.roundTrip(client, "GET", path, header)
	}
	token := e.issue(allowAll("room")).Token
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
	get("/v1/tokens", http.Header{"Authorization": {"Bearer " + e.master}}).decode(t, 200, new(object))
	get("/page.txt", http.Header{"Authorization": {"Bearer " + token}, "Wt-Available-Protocols": {`"llps.v1", "at.` + token + `"`}})
	e.mustOpenWebTransport(handshake{Protocols: []string{"llps.v1", "at." + token}}).close()

	for name, client := range map[string]http.RoundTripper{
		"HTTP/1.1": &http.Transport{DialContext: dialLoopback, TLSClientConfig: e.http2().TLSClientConfig, DisableKeepAlives: true},
		"HTTP/2":   e.http2(),
	} {
		got := e.roundTrip(client, "GET", "/ping", nil)
		if alt, want := got.Header.Get("Alt-Svc"), fmt.Sprintf(`h3=":%d"; ma=2592000`, e.HTTPS); alt != want {
			t.Errorf("over %s: got Alt-Svc %q, want %q", name, alt, want)
		}
	}
	if alt := e.rest("GET", "/ping", "", nil).Header.Get("Alt-Svc"); alt != "" {
		t.Errorf("the plain HTTP site has Alt-Svc %q", alt)
	}
	e.stop()

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
	for _, secret := range []string{token, e.master} {
		if strings.Contains(string(text)+e.output(), secret[len(secret)-32:]) {
			t.Error("a log has a secret")
		}
	}
}

// A request that came as TLS early data may be a replay.
func TestEarlyData(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	tickets := tls.NewLRUClientSessionCache(1)
	get := func(method, path string) answer {
		t.Helper()
		client := e.http3()
		client.TLSClientConfig.ClientSessionCache = tickets
		if method == http3.MethodGet0RTT {
			client.Dial = e.dialFarAway
		}
		return e.roundTrip(client, method, path, http.Header{"Authorization": {"Bearer " + token}})
	}
	e.poll("a ticket", func() bool { // it comes behind the handshake
		get(http.MethodGet, "/ping")
		_, ok := tickets.Get("localhost")
		return ok
	})
	for path, want := range map[string]int{"/wt": http.StatusTooEarly, "/v1/tokens": http.StatusTooEarly, "/ping": 200} {
		e.poll("early data", func() bool { // whether a request is early is the client's luck
			get(http.MethodGet, "/ping") // for another ticket
			return get(http3.MethodGet0RTT, path).Status == want
		})
	}
}

// dialFarAway is the dialer of a client to whom each packet takes a while: it has
// opened its streams before the edge answers, as early data is meant to be used.
// The library reads the parameters of the session before, and replaces them by the
// edge's, without a lock; on loopback both happen at the same time.
func (e *edge) dialFarAway(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: farAway{socket}}
	e.t.Cleanup(func() {
		transport.Close()
		socket.Close()
	})
	return transport.DialEarly(ctx, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: e.HTTPS}, t, q)
}

// farAway is a socket whose packets arrive late.
type farAway struct{ net.PacketConn }

func (f farAway) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := f.PacketConn.ReadFrom(b)
	time.Sleep(20 * time.Millisecond) // the way of the packet
	return n, from, err
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
		{"off", "", "webtransport off", sites, "", true},
		{"no h3 among the protocols", "servers {\nprotocols h1 h2\n}\n", "", sites, "h3 is not among its protocols", false},
		{"no TLS", "", "", "http://localhost:{{.HTTP}} {\n\tpubsub\n}\nhttps://localhost:{{.HTTPS}} {\n\ttls internal\n\trespond /ping pong\n}\n", "it has no TLS", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caddyfile := "{" + globalOptions + c.global + "\tpubsub {\n" + c.options + pubsubStore + defaultMaster + fastBandwidth + "\t}\n}\n" + c.sites
			e := startEdge(t, caddyfile)
			e.dial(e.issue(allowAll("room")).Token).ping()
			if c.h3 {
				got := e.roundTrip(e.http3(), "GET", "/ping", nil)
				if string(got.Body) != "pong" {
					t.Errorf("GET /ping over HTTP/3: got %d %q", got.Status, got.Body)
				}
			}
			if c.name == "off" {
				for name, client := range map[string]http.RoundTripper{"HTTP/2": e.http2(), "HTTP/3": e.http3()} {
					if got := e.roundTrip(client, "GET", "/wt", nil); string(got.Body) != "no such page" {
						t.Errorf("GET /wt over %s: got %d %q, want the site's own answer", name, got.Status, got.Body)
					}
				}
			}
			var warnings []string
			for line := range strings.Lines(e.output()) {
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
	e := startEdge(t, defaultCaddyfile)
	conn := e.dialQUIC(nil)
	e.reload(strings.Replace(defaultCaddyfile, "no such page", "no such page here", 1))
	ask := func() error { return conn.SendDatagram(make([]byte, 100)) } // larger than a reset
	if err := ask(); err != nil {
		t.Error(err)
	}
	e.kill()
	samePorts := func(again *edge) { again.HTTP, again.HTTPS = e.HTTP, e.HTTPS }
	if ended := context.Cause(conn.Context()); ended != nil {
		t.Fatalf("before the edge is back: %v", ended)
	}
	back := startEdge(t, defaultCaddyfile, inDir(e.Dir), samePorts, withEnv("MILLRACE_MASTER_TOKEN="+e.master))
	back.poll("a reset", func() bool { _ = ask(); return conn.Context().Err() != nil })
	if err := context.Cause(conn.Context()); !errors.As(err, new(*quic.StatelessResetError)) {
		t.Errorf("the connection ended with %v", err)
	}
}
