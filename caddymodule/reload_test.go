package caddymodule

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/testcheck"
)

var must, noError = testcheck.Must, testcheck.NoError

// Nothing of a configuration stays after the reload that replaces it, although sessions stay
// that began under it: over WebSocket, and over WebTransport with the token in the handshake and
// behind it.
func TestReloadsLeaveNothing(t *testing.T) {
	certificate, trusted := testCertificate(t)
	dir, port := t.TempDir(), loopback.FreePort(t)
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	master := "MT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("1", 32)
	t.Setenv("MILLRACE_MASTER_TOKEN", master)
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	const reloads = 4
	alive := map[string][]func() bool{}
	var token string
	for i := range reloads + 1 {
		config := fmt.Sprintf(`{
			"admin": {"disabled": true},
			"apps": {
				"pubsub": {"region": %q, "token_store": {"driver": "badger", "path": %q}, "master_tokens": [{"token": "{env.MILLRACE_MASTER_TOKEN}"}]},
				"tls": {"certificates": {"load_pem": [%s]}},
				"http": {"servers": {"a": {
					"listen": ["127.0.0.1:%d"], "automatic_https": {"disable": true}, "tls_connection_policies": [{}], "routes": [{"handle": [
						{"handler": "pubsub_ping"}, {"handler": "pubsub_tokens"}, {"handler": "pubsub_websocket"}, {"handler": "pubsub_webtransport"}
					]}]
				}}}
			}
		}`, []string{"US", "EU"}[i%2], dir, certificate, port)
		must(t, caddy.Load([]byte(config), true))
		watch[app.App](t, alive, "pubsub")
		watch[caddyhttp.App](t, alive, "http")
		watch[caddytls.TLS](t, alive, "tls")
		if i == 0 {
			admin, err := client.NewTokenAdmin(url, master, client.WithTLS(trusted))
			must(t, err)
			issued, err := admin.Issue(t.Context(), client.IssueRequest{
				CreatedBy: "test", ExpiresIn: time.Hour, Grants: []client.Grant{{Tenants: []string{"room"}, Subscribe: []string{"#"}}},
			})
			must(t, err)
			token = issued.Token
		}
		for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
			ended := func(e client.Event) {
				if d, ok := e.(client.Disconnected); ok {
					t.Errorf("a session over %s ended: %v", transport, d.Err)
				}
			}
			connect := func() (*client.Client, error) {
				return client.Connect(t.Context(), []string{url}, client.Options{
					Token: token, TLS: trusted, Transports: []client.Transport{transport}, OnEvent: ended,
				})
			}
			c, err := connect()
			for tries := 0; err != nil && tries < 10; tries++ { // the socket of the configuration before may reset it
				c, err = connect()
			}
			must(t, err)
			t.Cleanup(func() { c.Close() })
		}
		authenticateLate(t, url, trusted, token)
	}
	left := func() string {
		runtime.GC()
		for name, all := range alive {
			for i, is := range all[:reloads] {
				if is() {
					return fmt.Sprintf("the app %s of configuration %d", name, i+1)
				}
			}
		}
		return ""
	}
	for end := time.Now().Add(30 * time.Second); left() != ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s is still there", left())
		}
	}
}

// A reload that fails is not counted, whichever of Caddy's apps started before it failed.
func TestFailedReloadsDoNotCount(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Cleanup(func() { noError(t, caddy.Stop()) })
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	dir, free := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t))
	load := func(address string) error {
		return caddy.Load(fmt.Appendf(nil, `{"admin": {"disabled": true}, "logging": {"logs": {"default": {"level": "ERROR"}}}, "apps": {
			"pubsub": {"token_store": {"driver": "badger", "path": %q}},
			"http": {"servers": {"a": {"listen": [%q], "routes": [{"handle": [{"handler": "pubsub_ping"}]}]}}}
		}}`, dir, address), true)
	}
	must(t, load(free))
	counted := reloadsKept(t)
	for range 8 { // the apps start in random order
		if load(taken.Addr().String()) == nil {
			t.Fatal("a port was opened twice")
		}
	}
	must(t, load(free))
	if n := reloadsKept(t) - counted; n != 1 {
		t.Errorf("%v reloads kept the hub, want 1", n)
	}
}

func reloadsKept(t *testing.T) (n float64) {
	t.Helper()
	ctx := caddy.ActiveContext()
	families, err := ctx.GetMetricsRegistry().Gather()
	must(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "millrace_reloads_total" && m.GetLabel()[0].GetValue() == "kept" {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// watch notes how to find out whether an app of the current configuration is still there.
func watch[T any](t *testing.T, alive map[string][]func() bool, name string) {
	t.Helper()
	module, err := caddy.ActiveContext().App(name)
	must(t, err)
	found := weak.Make(module.(*T))
	alive[name] = append(alive[name], func() bool { return found.Value() != nil })
}

// authenticateLate opens a session over WebTransport as browsers do, and keeps it.
func authenticateLate(t *testing.T, url string, trusted *tls.Config, token string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config := trusted.Clone()
	config.NextProtos = []string{"h3"}
	conn, err := quic.DialAddr(ctx, strings.TrimPrefix(url, "https://"), config, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
	})
	must(t, err)
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	h3, err := new(webtransport.Transport).NewClientConn(conn)
	must(t, err)
	_, session, err := h3.Dial(ctx, url+"/wt", nil)
	must(t, err)
	stream, err := session.OpenStream()
	must(t, err)
	auth := "AUTH:" + token
	_, err = fmt.Fprintf(stream, "\x00\x00\x00%c%s", len(auth), auth)
	must(t, err)
	answer := make([]byte, len("\x00\x00\x00\x07OK:AUTH"))
	_, err = stream.Read(answer)
	must(t, err)
	if got := string(answer[4:]); got != "OK:AUTH" {
		t.Fatalf("got %q, want OK:AUTH", got)
	}
}

// testCertificate is a certificate for 127.0.0.1 as Caddy takes it, and what trusts it.
func testCertificate(t *testing.T) (inCaddy string, trusted *tls.Config) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	must(t, err)
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return fmt.Sprintf(`{"certificate": %q, "key": %q}`, encode("CERTIFICATE", own.Certificate[0]), encode("PRIVATE KEY", key)), &tls.Config{RootCAs: roots}
}
