package programs

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// step returns the commands that the tour prints below this heading.
func step(d *harness.DevEdge, t *testing.T, heading string) *exec.Cmd {
	t.Helper()
	_, commands, found := strings.Cut(d.Out.String(), "\n# "+heading)
	_, commands, _ = strings.Cut(commands, "\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	if !found || commands == "" {
		t.Fatalf("the tour has no step %q:\n%s", heading, d.Out)
	}
	cmd := exec.Command("bash", "-c", commands)
	cmd.Dir, cmd.Env = d.Home, d.Env
	return cmd
}

func mustRun(d *harness.DevEdge, t *testing.T, heading string) string {
	t.Helper()
	out, err := step(d, t, heading).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", heading, err, out)
	}
	return string(out)
}

// The commands that dev prints do what it says, pasted as they stand.
func TestDev(t *testing.T) {
	t.Parallel()
	d := harness.NewDevEdge(t)
	d.Start(t)
	first := d.Out.String()
	if got := len(harness.MasterToken.FindAllString(first, -1)); got != 2 {
		t.Errorf("the first start shows the master token %d times, want twice: as it is, and in the tour", got)
	}

	if out := mustRun(d, t, "Issue an access token"); !harness.AccessToken.MatchString(out) {
		t.Errorf("get-token answers %s", out)
	}
	subscribe := harness.StartBackground(t, step(d, t, "Subscribe"))
	subscribe.Await(subscribe.Err, "OK:SUB:demo:#")
	mustRun(d, t, "Publish")
	subscribe.Await(subscribe.Out, "hello.world It runs\n")
	late := harness.StartBackground(t, step(d, t, "Come later and miss nothing"))
	late.Await(late.Out, "chat.hall Said before you came\n")
	if out := mustRun(d, t, "See who is there"); !strings.HasPrefix(out, "CHANNEL  SUBJECT") {
		t.Errorf("presence prints %s", out)
	}
	if out := mustRun(d, t, "Revoke"); !strings.HasPrefix(out, "revoked ") {
		t.Errorf("token revoke prints %s", out)
	}
	subscribe.ExitCode()
	if got := subscribe.Err.String(); !strings.Contains(got, "ERR:token_revoked") || !strings.Contains(got, "4403") {
		t.Errorf("after the revocation the subscriber prints %s", got)
	}
	if out := mustRun(d, t, "Another token"); !harness.AccessToken.MatchString(out) {
		t.Errorf("token issue prints %s", out)
	}

	// The page has tests of its own: TestBrowser, TestDemoToken.
	page := fmt.Sprintf("http://localhost:%d/demo", d.Ports[1])
	if line := "    demo   " + page + ", a page to try it in a browser\n"; !strings.Contains(first, line) {
		t.Errorf("the tour lacks the line %q:\n%s", line, first)
	}
	for _, url := range []string{page, fmt.Sprintf("http://localhost:%d/ping", d.Ports[1]), fmt.Sprintf("http://localhost:%d/api-docs/openapi.json", d.Ports[1])} {
		if out, err := exec.Command("curl", "-sSf", "--noproxy", "*", url).CombinedOutput(); err != nil {
			t.Errorf("GET %s: %v\n%s", url, err, out)
		}
	}
	checkNames(d, t)
	checkLoopback(d, t)
	d.Stop(t, syscall.SIGINT)
	checkFolders(d, t)

	// Later starts show no secret again, and give a new access token.
	d.Start(t)
	second := d.Out.String()
	if harness.MasterToken.MatchString(second) {
		t.Error("the second start shows a master token")
	}
	if a, b := harness.AccessToken.FindString(first), harness.AccessToken.FindString(second); b == "" || a == b {
		t.Errorf("the second start shows the access token %q, the first %q", b, a)
	}
	if out := mustRun(d, t, "Issue an access token"); !harness.AccessToken.MatchString(out) { // with a master token made for it
		t.Errorf("get-token answers %s", out)
	}
	d.Stop(t, syscall.SIGTERM)
}

// checkNames checks that the edge is at each name of this machine, and that a path
// or a name with a mistake does not look like success.
func checkNames(d *harness.DevEdge, t *testing.T) {
	t.Helper()
	get := func(url string) (status int) {
		t.Helper()
		transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Errorf("GET %s: %v", url, err)
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	names := []string{"localhost", "127.0.0.1"}
	if probe, err := net.Listen("tcp", "[::1]:0"); err == nil {
		probe.Close()
		names = append(names, "[::1]")
	}
	for _, name := range names {
		for path, want := range map[string]int{"/ping": 200, "/ws": 426, "/demo": 200, "/v1/get-tokens": 404, "/pong": 404, "/": 404} {
			for i, scheme := range []string{"https", "http"} {
				url := fmt.Sprintf("%s://%s:%d%s", scheme, name, d.Ports[i], path)
				if got := get(url); got != want {
					t.Errorf("GET %s: status %d, want %d", url, got, want)
				}
			}
		}
	}
}

// checkLoopback checks that other machines cannot connect.
func checkLoopback(d *harness.DevEdge, t *testing.T) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		for _, port := range d.Ports {
			address := net.JoinHostPort(ip.IP.String(), fmt.Sprint(port))
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				t.Errorf("dev listens on %s", address)
			}
		}
	}
}

// checkFolders checks that all data is in the folder, and closed to others.
func checkFolders(d *harness.DevEdge, t *testing.T) {
	t.Helper()
	for _, dir := range []string{"", "caddy", "tokens"} {
		info, err := os.Stat(filepath.Join(d.Dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("folder %q: mode %o, want 700", dir, mode)
		}
	}
	log, err := os.ReadFile(filepath.Join(d.Dir, "edge.log"))
	if err != nil {
		t.Fatal(err)
	}
	if harness.AccessToken.Match(log) || harness.MasterToken.Match(log) {
		t.Error("the log holds a token")
	}
	left, err := os.ReadDir(d.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("dev left %s in the home folder", entry.Name())
	}
}

func TestDevRefuses(t *testing.T) {
	t.Parallel()
	d := harness.NewDevEdge(t)
	refuses := func(flag, value, says string) {
		t.Helper()
		if out, err := d.Command(flag, value).CombinedOutput(); err == nil || !strings.Contains(string(out), says) || !strings.Contains(string(out), flag) {
			t.Errorf("%s %s: got %v\n%s", flag, value, err, out)
		}
	}
	refuses("--admin", "0.0.0.0:2019", "--admin: must be a port on localhost")
	refuses("--dir", "a{b}", "--dir: ")
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", d.Ports[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	refuses("--http-port", fmt.Sprint(d.Ports[1]), fmt.Sprintf("port %d is in use", d.Ports[1]))
}
