package browsers

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/harness"
)

// POST /demo/token answers with a token for the tenant demo alone, and the hash of the
// certificate that is served; package demo has who gets one. Only the command dev has it: it is
// no module.
func TestDemoToken(t *testing.T) {
	t.Parallel()
	d := harness.NewDevEdge(t)
	d.Start(t)
	defer d.Stop(t, syscall.SIGTERM)
	trust := &tls.Config{InsecureSkipVerify: true} // the certificate is looked at below
	quick := &http3.Transport{TLSClientConfig: trust}
	defer quick.Close()
	plain := &http.Transport{DisableKeepAlives: true, TLSClientConfig: trust}
	ask := func(transport http.RoundTripper, origin, host string) harness.Answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/demo/token", nil)
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
	leaf := d.LeafHash(t)
	hash, secure := base64.StdEncoding.EncodeToString(leaf[:]), fmt.Sprintf("https://localhost:%d", d.Ports[0])
	var token string
	for _, way := range []struct {
		transport http.RoundTripper
		origin    string
	}{{plain, fmt.Sprintf("http://localhost:%d", d.Ports[1])}, {plain, secure}, {quick, secure}} {
		ask(way.transport, way.origin, "evil.example").Problem(t, http.StatusForbidden, "local_only")
		var got map[string]any
		ask(way.transport, way.origin, "localhost").Decode(t, http.StatusOK, &got)
		token, _ = got["token"].(string) // no string: explain says so
		hashes := []any{map[string]any{"algorithm": "sha-256", "value": hash}}
		if got["tenant"] != "demo" || got["https_port"] != float64(d.Ports[0]) || !reflect.DeepEqual(got["certificate_hashes"], hashes) {
			t.Errorf("%s: got %v, want the hash %s alone", way.origin, got, hash)
		}
	}
	for tenant, want := range map[string]string{"demo": "allowed", "other": "refused"} {
		cmd := exec.Command(harness.Program, "pubsub", "token", "explain", "--address", fmt.Sprintf("localhost:%d", d.Ports[2]),
			"--action", "publish", "--tenant", tenant, "--channel", "a.b")
		cmd.Env = append(d.Env, "MILLRACE_TOKEN="+token)
		if out, _ := cmd.Output(); !strings.HasPrefix(string(out), want) { // its exit code says the same
			t.Errorf("to publish in %s: got %s, want %s", tenant, out, want)
		}
	}
	modules, err := exec.Command(harness.Program, "list-modules").Output()
	if err != nil || !strings.Contains(string(modules), "http.handlers.pubsub_ping") || strings.Contains(string(modules), "demo") {
		t.Errorf("list-modules: got %v\n%s", err, modules)
	}
}
