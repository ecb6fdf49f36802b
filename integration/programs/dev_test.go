package programs

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// step returns the commands that dev prints below this heading.
func (x *terminal) step(t *testing.T, heading string) string {
	t.Helper()
	_, commands, found := strings.Cut(x.Out.String(), "\n# "+heading)
	_, commands, _ = strings.Cut(commands, "\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	if !found || commands == "" {
		t.Fatalf("the tour has no step %q:\n%s", heading, x.Out)
	}
	return commands
}

// The commands that dev prints do what it says. Its page has tests of its own: TestBrowser.
func TestDev(t *testing.T) {
	t.Parallel()
	x := openTerminal(t)
	first := x.Out.String()
	if got := len(harness.MasterToken.FindAllString(first, -1)); got != 2 {
		t.Errorf("the first start shows the master token %d times, want twice: as it is, and in the tour", got)
	}
	if line := fmt.Sprintf("    demo   http://localhost:%d/demo, a page to try it in a browser\n", x.Ports[1]); !strings.Contains(first, line) {
		t.Errorf("the tour lacks the line %q:\n%s", line, first)
	}
	issues := func(heading string) {
		t.Helper()
		if out := x.run(t, x.step(t, heading)); !harness.AccessToken.MatchString(out) {
			t.Errorf("%s: %s", heading, out)
		}
	}
	issues("Issue an access token")
	subscribe := harness.StartBackground(t, x.paste(x.step(t, "Subscribe")))
	subscribe.Await(subscribe.Err, "OK:SUB:demo:#")
	x.run(t, x.step(t, "Publish"))
	subscribe.Await(subscribe.Out, "hello.world It runs\n")
	late := harness.StartBackground(t, x.paste(x.step(t, "Come later and miss nothing")))
	late.Await(late.Out, "chat.hall Said before you came\n")
	if out := x.run(t, x.step(t, "See who is there"), x.step(t, "Revoke")); !strings.HasPrefix(out, "CHANNEL  SUBJECT") {
		t.Errorf("presence prints %s", out)
	}
	subscribe.Await(subscribe.Err, "ERR:token_revoked")
	issues("Another token")
	checkAddresses(t, x)
	x.Stop(t, syscall.SIGINT)
	checkFolders(t, x)
	wantRefused(t, x.Command("--admin", "0.0.0.0:2019"), "--admin: must be a port on localhost")
	wantRefused(t, x.Command("--dir", "a{b}"), "--dir: ")

	// Later starts show no secret again, and give a new access token.
	x.Start(t)
	second := x.Out.String()
	if harness.MasterToken.MatchString(second) {
		t.Error("the second start shows a master token")
	}
	if a, b := harness.AccessToken.FindString(first), harness.AccessToken.FindString(second); b == "" || a == b {
		t.Errorf("the second start shows the access token %q, the first %q", b, a)
	}
	issues("Issue an access token") // with a master token made for it
	wantRefused(t, x.Command(), fmt.Sprintf("port %d is in use", x.Ports[0]))
	x.Stop(t, syscall.SIGTERM)
}

// checkAddresses checks that the edge is at each name of this machine, that a path with a
// mistake does not look like success, and that other machines cannot connect.
func checkAddresses(t *testing.T, x *terminal) {
	t.Helper()
	for path, want := range map[string]string{
		"/ping": "200", "/ws": "426", "/demo": "200", "/console": "200", "/api-docs/openapi.json": "200", "/v1/get-tokens": "404", "/": "404",
	} {
		urls := fmt.Sprintf("https://{localhost,127.0.0.1}:%d%[2]s http://{localhost,127.0.0.1}:%[3]d%[2]s", x.Ports[0], path, x.Ports[1])
		if got := x.run(t, "curl -sk --noproxy '*' -w '%{stderr}%{http_code} ' "+urls+" >/dev/null"); got != strings.Repeat(want+" ", 4) {
			t.Errorf("GET %s: status %s, want %s", urls, got, want)
		}
	}
	modules := x.run(t, "./millrace list-modules")
	if !strings.Contains(modules, "http.handlers.pubsub_ping") || strings.Contains(modules, "demo") {
		t.Errorf("the demo is a module:\n%s", modules)
	}
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		for _, port := range x.Ports {
			if conn, err := net.Dial("tcp", net.JoinHostPort(ip.IP.String(), fmt.Sprint(port))); err == nil {
				conn.Close()
				t.Errorf("dev listens on port %d of %s", port, ip.IP)
			}
		}
	}
}

// checkFolders checks that all data is in the folder, closed to others, and without tokens.
func checkFolders(t *testing.T, x *terminal) {
	t.Helper()
	for _, dir := range []string{"", "caddy", "tokens"} {
		if info, err := os.Stat(filepath.Join(x.Dir, dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder %q: mode %v, want 700; %v", dir, info.Mode(), err)
		}
	}
	log, err := os.ReadFile(filepath.Join(x.Dir, "edge.log"))
	if err != nil || harness.AccessToken.Match(log) || harness.MasterToken.Match(log) {
		t.Errorf("the log holds a token, or %v", err)
	}
	if left, err := os.ReadDir(x.Home); err != nil || len(left) > 0 {
		t.Errorf("dev left %v in the home folder, %v", left, err)
	}
}
