package browser

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
)

// firefoxPrefs are what the remote agent of Firefox does not set by itself.
const firefoxPrefs = `
user_pref("network.proxy.type", 0); // everything is on loopback
user_pref("browser.chrome.site_icons", false); // otherwise it complains of pages without an icon
user_pref("dom.min_background_timeout_value", 4); // ms; a tab behind another is not slower
user_pref("dom.timeout.enable_budget_timer_throttling", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
// Otherwise a host whose WebSockets failed is tried again only after up to a minute.
user_pref("network.websocket.delay-failed-reconnects", false);
// Otherwise there is no HTTP/3 with an authority that a policy has installed.
user_pref("network.http.http3.disable_when_third_party_roots_found", false);
`

// startFirefox starts the browser, and opens a session of WebDriver BiDi; both end with the
// test. It trusts [harness.BrowserRoot], by a policy.
func startFirefox(t *testing.T) browserDriver {
	t.Helper()
	profile := t.TempDir()
	program := installFirefox(t, profile)
	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1",
		"MOZ_REMOTE_SETTINGS_DEVTOOLS=1") // or the server of its settings is not to be changed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its processes are ended together
	t.Cleanup(func() {                                    // after that of StartBackground: what it has left behind
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			t.Error(err)
		}
	})
	process := harness.StartBackground(t, cmd)
	address := process.AwaitMatchFor(browserStart, process.Err, regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)\n`))[1]
	conn, response, err := websocket.DefaultDialer.Dial(address+"/session", nil)
	must(t, err)
	response.Body.Close()
	f := &firefox{conn: conn, tabs: map[string]string{}, complaints: map[string][]string{}}
	t.Cleanup(func() {
		defer conn.Close()
		if err := f.call(nil, "browser.close", harness.Object{}); err != nil {
			t.Errorf("%v; Firefox wrote:\n%s", err, process.Err)
		}
		process.ExitCode()
	})
	err = f.call(nil, "session.new", harness.Object{"capabilities": harness.Object{}})
	if err == nil {
		err = f.awaitRoot(t)
	}
	if err == nil {
		err = f.call(nil, "session.subscribe", harness.Object{"events": []string{"log.entryAdded"}})
	}
	if err != nil {
		t.Fatalf("%v; Firefox wrote:\n%s", err, process.Err)
	}
	return f
}

// awaitRoot returns when the browser trusts [harness.BrowserRoot]: it carries out its
// policies while it opens its session.
func (f *firefox) awaitRoot(t *testing.T) error {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is refused before
	server.TLS = &tls.Config{Certificates: []tls.Certificate{harness.BrowserLeaf(t)}}
	server.StartTLS()
	defer server.Close()
	return until(func() (bool, error) {
		_, refused := f.open("trust/", strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "")
		_, err := f.leave("trust", true)
		return refused == nil, err
	})
}

// installFirefox makes an installation in dir, with a profile: links to the real one's
// files, with a policy file of its own, since Firefox looks for that beside its program, and
// nowhere else where a test could put one for itself alone.
func installFirefox(t *testing.T, dir string) (program string) {
	t.Helper()
	named := cmp.Or(os.Getenv("FIREFOX"), "/usr/bin/firefox-esr")
	original, err := filepath.EvalSymlinks(named)
	if err != nil {
		t.Fatalf("Firefox is not installed (%v): run scripts/install-test-deps.sh", err)
	}
	from, to := filepath.Dir(original), filepath.Join(dir, "installation")
	if _, err := os.Stat(filepath.Join(from, "omni.ja")); err != nil {
		t.Fatalf("%s is not the program of an installation of Firefox, but perhaps a script that starts it: %v", named, err)
	}
	// The program is a copy: a link would lead it to its own folder.
	install := exec.Command("bash", "-ec", `mkdir "$2" && ln -s "$1"/* "$2" && cp --remove-destination "$0" "$2"
		rm -f "$2/distribution" && mkdir "$2/distribution"`, original, from, to)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := filepath.Join(dir, "root.crt")
	certificate, _ := harness.BrowserRoot(t)
	must(t, os.WriteFile(root, certificate, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "user.js"), []byte(firefoxPrefs), 0o600))
	policies := fmt.Sprintf(`{"policies": {"Certificates": {"Install": [%q]}}}`, root)
	must(t, os.WriteFile(filepath.Join(to, "distribution", "policies.json"), []byte(policies), 0o600))
	return filepath.Join(to, filepath.Base(original))
}
