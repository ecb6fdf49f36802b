package browsers

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// demoRequest is one to POST /demo/token, unless it says otherwise.
type demoRequest struct {
	method, host, site, path string
}

// ask sends it to the edge over http, https or http/3, on loopback.
func ask(d *harness.DevEdge, t *testing.T, scheme string, r demoRequest) harness.Answer {
	t.Helper()
	protocol, port := "https", d.Ports[0]
	if scheme == "http" {
		protocol, port = "http", d.Ports[1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, fmt.Sprintf("%s://localhost:%d%s", protocol, port, r.path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.host != "" {
		req.Host = r.host
	}
	if r.site != "" {
		req.Header.Set("Sec-Fetch-Site", r.site)
	}
	req.Header.Set("Origin", "https://other.example") // no CORS header may answer it
	trust := &tls.Config{InsecureSkipVerify: true}    // the certificate is looked at below
	var transport http.RoundTripper = &http.Transport{DialContext: harness.DialLoopback, DisableKeepAlives: true, TLSClientConfig: trust}
	if scheme == "http/3" {
		quick := &http3.Transport{TLSClientConfig: trust}
		defer quick.Close()
		transport = quick
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%v is answered with %s", r, name)
		}
	}
	return harness.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

// Who gets a token from POST /demo/token, and which.
func TestDemoToken(t *testing.T) {
	t.Parallel()
	d := harness.NewDevEdge(t)
	d.Start(t)
	defer d.Stop(t, syscall.SIGTERM)
	good := demoRequest{http.MethodPost, "localhost", "same-origin", "/demo/token"}
	for _, scheme := range []string{"http", "https", "http/3"} {
		for name, test := range map[string]struct {
			change func(*demoRequest)
			status int
			code   string
		}{
			"the page's":           {func(*demoRequest) {}, 200, ""},
			"with a port":          {func(r *demoRequest) { r.host = "localhost:1" }, 200, ""},
			"127.0.0.1":            {func(r *demoRequest) { r.host = "127.0.0.1" }, 200, ""},
			"127.0.0.1 and a port": {func(r *demoRequest) { r.host = "127.0.0.1:8080" }, 200, ""},
			"[::1]":                {func(r *demoRequest) { r.host = "[::1]" }, 200, ""},
			"[::1] and a port":     {func(r *demoRequest) { r.host = "[::1]:8080" }, 200, ""},
			"another name":         {func(r *demoRequest) { r.host = "evil.example" }, 403, "local_only"},
			"a name like it":       {func(r *demoRequest) { r.host = "localhost.evil.example:8080" }, 403, "local_only"},
			"another address":      {func(r *demoRequest) { r.host = "127.0.0.2" }, 403, "local_only"},
			"cross-site":           {func(r *demoRequest) { r.site = "cross-site" }, 403, "cross_site"},
			"same-site":            {func(r *demoRequest) { r.site = "same-site" }, 403, "cross_site"},
			"typed in":             {func(r *demoRequest) { r.site = "none" }, 403, "cross_site"},
			"no Sec-Fetch-Site":    {func(r *demoRequest) { r.site = "" }, 403, "cross_site"},
			"GET":                  {func(r *demoRequest) { r.method = http.MethodGet }, 405, "method_not_allowed"},
			"OPTIONS":              {func(r *demoRequest) { r.method = http.MethodOptions }, 405, "method_not_allowed"},
			"a trailing slash":     {func(r *demoRequest) { r.path += "/" }, 404, "not_found"},
		} {
			t.Run(scheme+" "+name, func(t *testing.T) {
				request := good
				test.change(&request)
				got := ask(d, t, scheme, request)
				if cache := got.Header.Get("Cache-Control"); cache != "no-store" {
					t.Errorf("got Cache-Control %q, want no-store", cache)
				}
				if test.status != 200 {
					got.Problem(t, test.status, test.code)
					if harness.AccessToken.Match(got.Body) {
						t.Error("the refusal holds a token")
					}
					if allow := got.Header.Get("Allow"); test.status == 405 && allow != "POST" {
						t.Errorf("got Allow %q, want POST", allow)
					}
					return
				}
				checkDemoAnswer(d, t, got)
			})
		}
	}
	checkDemoRights(d, t, checkDemoAnswer(d, t, ask(d, t, "http", good)))
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

// Only the command dev has the demo: no configuration can name it.
func TestDemoIsNoModule(t *testing.T) {
	t.Parallel()
	if err := harness.WatchSources(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout) // an edge that starts does not end
		defer cancel()
		cmd := exec.CommandContext(ctx, harness.Program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	port := loopback.FreePort(t)
	caddyfile := write("Caddyfile", fmt.Appendf(nil, "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\nhttp://localhost:%d {\n\tpubsub_demo\n}\n", port))
	if out, err := run("run", "--config", caddyfile, "--adapter", "caddyfile"); err == nil || !strings.Contains(out, "unrecognized directive: pubsub_demo") {
		t.Errorf("a Caddyfile with pubsub_demo: got %v\n%s", err, out)
	}
	config, err := json.Marshal(harness.Object{"admin": harness.Object{"disabled": true}, "apps": harness.Object{"http": harness.Object{"servers": harness.Object{"s": harness.Object{
		"listen": []string{fmt.Sprintf("127.0.0.1:%d", port)},
		"routes": []harness.Object{{"handle": []harness.Object{{"handler": "pubsub_demo"}}}},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run("run", "--config", write("config.json", config)); err == nil || !strings.Contains(out, "unknown module: http.handlers.pubsub_demo") {
		t.Errorf("a configuration with pubsub_demo: got %v\n%s", err, out)
	}
	modules, err := run("list-modules")
	if err != nil || !strings.Contains(modules, "http.handlers.pubsub_ping") || strings.Contains(modules, "demo") {
		t.Errorf("list-modules: got %v\n%s", err, modules)
	}
}
