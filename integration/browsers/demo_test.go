package browsers

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/harness"
)

// POST /demo/token answers with a token for the tenant demo and the hash of the certificate
// that is served; package demo has who gets one. Only the command dev has it: it is no module.
func TestDemoToken(t *testing.T) {
	t.Parallel()
	d := harness.NewDevEdge(t)
	d.Start(t)
	defer d.Stop(t, syscall.SIGTERM)
	trust := &tls.Config{InsecureSkipVerify: true} // the certificate is looked at below
	quick := &http3.Transport{TLSClientConfig: trust}
	defer quick.Close()
	plain := &http.Transport{DisableKeepAlives: true, TLSClientConfig: trust}
	ask := func(transport http.RoundTripper, scheme string, port int, host string) harness.Answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("%s://localhost:%d/demo/token", scheme, port), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return harness.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	}
	for _, way := range []struct {
		transport http.RoundTripper
		scheme    string
		port      int
	}{{plain, "http", d.Ports[1]}, {plain, "https", d.Ports[0]}, {quick, "https", d.Ports[0]}} {
		ask(way.transport, way.scheme, way.port, "evil.example").Problem(t, http.StatusForbidden, "local_only")
		checkDemoRights(d, t, checkDemoAnswer(d, t, ask(way.transport, way.scheme, way.port, "localhost")))
	}
	modules, err := exec.Command(harness.Program, "list-modules").Output()
	if err != nil || !strings.Contains(string(modules), "http.handlers.pubsub_ping") || strings.Contains(string(modules), "demo") {
		t.Errorf("list-modules: got %v\n%s", err, modules)
	}
}

// checkDemoAnswer checks the answer that the page gets, and returns its token.
func checkDemoAnswer(d *harness.DevEdge, t *testing.T, got harness.Answer) (token string) {
	t.Helper()
	var body struct {
		Token     string
		ExpiresAt time.Time `json:"expires_at"`
		Tenant    string
		Hashes    []struct {
			Algorithm string
			Value     []byte
		} `json:"certificate_hashes"`
		HTTPSPort int `json:"https_port"`
	}
	got.Decode(t, 200, &body)
	if rest := time.Until(body.ExpiresAt); rest < 14*time.Minute || rest > 15*time.Minute {
		t.Errorf("the token lives %v, want 15 minutes", rest)
	}
	if body.Tenant != "demo" || body.HTTPSPort != d.Ports[0] {
		t.Errorf("got the tenant %q and the port %d, want demo and %d", body.Tenant, body.HTTPSPort, d.Ports[0])
	}
	want := d.LeafHash(t)
	if len(body.Hashes) != 1 || body.Hashes[0].Algorithm != "sha-256" || string(body.Hashes[0].Value) != string(want[:]) {
		t.Errorf("got the hashes %v, want the SHA-256 %x alone", body.Hashes, want)
	}
	return body.Token
}

// checkDemoRights checks that the token is for all channels of the tenant demo.
func checkDemoRights(d *harness.DevEdge, t *testing.T, token string) {
	t.Helper()
	for _, right := range []struct{ tenant, channel, want string }{{"demo", "a.b", "allowed"}, {"other", "a", "refused"}} {
		for action, flag := range map[string]string{"publish": "--channel", "subscribe": "--pattern"} {
			cmd := exec.Command(harness.Program, "pubsub", "token", "explain", "--address", fmt.Sprintf("localhost:%d", d.Ports[2]),
				"--action", action, "--tenant", right.tenant, flag, right.channel)
			cmd.Env = append(d.Env, "MILLRACE_TOKEN="+token)
			if out, _ := cmd.Output(); !strings.HasPrefix(string(out), right.want) { // its exit code says the same
				t.Errorf("to %s in %s: got %s, want %s", action, right.tenant, out, right.want)
			}
		}
	}
}
