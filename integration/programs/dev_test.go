package programs

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
)

// step returns the commands that dev prints below this heading.
func step(t *testing.T, x *guides.Terminal, heading string) string {
	t.Helper()
	found := regexp.MustCompile(`\n# ` + heading + `.*\n((?:.+\n)+)`).FindStringSubmatch(x.Out.String())
	if found == nil {
		t.Fatalf("the tour has no step %q:\n%s", heading, x.Out)
	}
	return found[1]
}

// The commands that dev prints do what it says. Its page has tests of its own: TestBrowser.
func TestDev(t *testing.T) {
	t.Parallel()
	x := guides.OpenTerminal(t)
	first := x.Out.String()
	page := fmt.Sprintf("Open http://localhost:%d/ : a page that is already live\n", x.Ports[1])
	if got := len(harness.MasterToken.FindAllString(first, -1)); got != 2 || !strings.HasPrefix(first, page) {
		t.Errorf("%d times a master token, want twice: as it is, and in the tour; and first %q:\n%s", got, page, first)
	}
	issues := func(heading string) {
		t.Helper()
		if out := x.RunBlocks(t, step(t, x, heading)); !harness.AccessToken.MatchString(out) {
			t.Errorf("%s: %s", heading, out)
		}
	}
	issues("Issue an access token")
	subscribe := x.StartBlocks(t, "OK:SUB:demo:#", step(t, x, "Subscribe"))
	x.RunBlocks(t, step(t, x, "Publish"))
	subscribe.Await(subscribe.Out, "hello.world It runs\n")
	x.StartBlocks(t, "chat.hall Said before you came\n", step(t, x, "Come later and miss nothing"))
	if out := x.RunBlocks(t, step(t, x, "See who is there"), step(t, x, "Revoke")); !strings.HasPrefix(out, "CHANNEL  SUBJECT") {
		t.Errorf("presence prints %s", out)
	}
	subscribe.Await(subscribe.Out, "ERR:token_revoked")
	issues("Another token")
	if out := x.RunBlocks(t, step(t, x, "Go to production")); !strings.Contains(out, "\nedge.example.com {\n") {
		t.Errorf("the Caddyfile for production: %s", out)
	}
	checkAddresses(t, x)
	x.Stop(t, syscall.SIGINT)

	// All data is in its folder, closed to others, and without tokens; none is in the home folder.
	kept := x.RunBlocks(t, "cd '"+x.Dir+"'; ls -A \"$HOME\"; find . caddy histories tokens -prune -perm 700; test -s edge.log",
		"! grep -E '"+harness.AccessToken.String()+"|"+harness.MasterToken.String()+"' edge.log")
	if kept != ".\ncaddy\nhistories\ntokens\n" {
		t.Errorf("in the home folder, closed, and of tokens in the log: %s", kept)
	}

	// Later starts show no secret again, and give a new access token.
	x.Start(t)
	second := x.Out.String()
	a, b := harness.AccessToken.FindString(first), harness.AccessToken.FindString(second)
	if harness.MasterToken.MatchString(second) || b == "" || a == b {
		t.Errorf("the second start shows a master token, or no access token but %q:\n%s", a, second)
	}
	issues("Issue an access token") // with a master token made for it
	// What was published before is there, before what is published now.
	again := strings.Replace(step(t, x, "Come later and miss nothing"), "Said before you came", "Said after the restart", 1)
	late := x.StartBlocks(t, "chat.hall Said after the restart\n", regexp.MustCompile(`(?m)^.* pubsub subscribe `).ReplaceAllString(again, "exec $0"))
	if out := late.Out.String(); !strings.Contains(out, "chat.hall Said before you came\nchat.hall Said after") {
		t.Errorf("after the restart, the history has %s", out)
	}
	late.Signal(syscall.SIGINT)
	late.ExitCode()
	out, err := x.Command().CombinedOutput()
	if want := fmt.Sprintf("port %d is in use", x.Ports[0]); err == nil || !strings.Contains(string(out), want) {
		t.Errorf("a third start: got %v, want %q:\n%s", err, want, out)
	}
	x.Stop(t, syscall.SIGTERM)
}

// checkAddresses checks that the edge is at each name of this machine, that a path with a
// mistake does not look like success, and that other machines cannot connect: on Linux, what
// listens on all addresses is at 127.0.0.2, too.
func checkAddresses(t *testing.T, x *guides.Terminal) {
	t.Helper()
	for path, want := range map[string]string{
		"/ping": "200", "/ws": "426", "/": "200", "/demo": "302", "/console": "200", "/api-docs/openapi.json": "200", "/v1/get-tokens": "404",
	} {
		const hosts = "{localhost,127.0.0.1,127.0.0.2}"
		urls := fmt.Sprintf("https://%s:%d%[3]s http://%[1]s:%[4]d%[3]s", hosts, x.Ports[0], path, x.Ports[1])
		out := x.RunBlocks(t, "curl -sk --connect-timeout 9 --noproxy '*' -w '%{stderr}%{http_code} ' "+urls+" >/dev/null || true")
		if out != strings.Repeat(want+" "+want+" 000 ", 2) {
			t.Errorf("GET %s: status %s, want %s", urls, out, want)
		}
	}
}
