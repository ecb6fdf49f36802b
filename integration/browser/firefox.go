package browser

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
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
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// firefoxPrefs are what the remote agent of Firefox does not set by itself.
var firefoxPrefs = harness.Object{
	"network.proxy.type":                         0,     // everything is on loopback
	"browser.chrome.site_icons":                  false, // otherwise it complains of pages without an icon
	"dom.min_background_timeout_value":           4,     // ms; a tab behind another is not slower
	"dom.timeout.enable_budget_timer_throttling": false,
	"network.captive-portal-service.enabled":     false,
	"network.connectivity-service.enabled":       false,
	"services.settings.server":                   "data:,#remote-settings-dummy/v1",
	// Otherwise a host whose WebSockets failed is tried again only after up to a minute.
	"network.websocket.delay-failed-reconnects": false,
	// Otherwise there is no HTTP/3 with an authority that a policy has installed.
	"network.http.http3.disable_when_third_party_roots_found": false,
}

// startFirefox starts the browser, and opens a session of WebDriver BiDi; both end
// with the test. It trusts [browserRoot], by a policy.
func startFirefox(t *testing.T) browserDriver {
	t.Helper()
	profile := t.TempDir()
	program := installFirefox(t, profile)
	prefs := "\n"
	for name, value := range firefoxPrefs {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		prefs += fmt.Sprintf("user_pref(%q, %s);\n", name, encoded)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1",
		"MOZ_REMOTE_SETTINGS_DEVTOOLS=1") // or the server of its settings is not to be changed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its processes are ended together
	t.Cleanup(func() {                                    // after the one of startBackground: what it has left behind
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			t.Error(err)
		}
	})
	process := harness.StartBackground(t, cmd)
	address := process.AwaitMatchFor(browserStart, process.Err, regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)\n`))[1]

	f := &firefox{contexts: map[string]*firefoxContext{}, tabs: map[string]firefoxTab{}}
	var err error
	if f.bidi, err = dialBiDi(address, f.Event); err != nil {
		t.Fatalf("%v; Firefox wrote:\n%s", err, process.Err)
	}
	t.Cleanup(func() {
		defer f.bidi.Close()
		if err := f.bidi.Do(nil, "browser.close", harness.Object{}); err != nil {
			t.Errorf("%v; Firefox wrote:\n%s", err, process.Err)
		}
		select {
		case <-process.Exited:
		case <-time.After(harness.WaitTimeout):
			t.Errorf("Firefox does not end; it wrote:\n%s", process.Err)
		}
	})
	if err := f.bidi.Do(nil, "session.subscribe", harness.Object{"events": []string{"log.entryAdded"}}); err != nil {
		t.Fatal(err)
	}
	f.awaitRoot(t)
	return f
}

// awaitRoot returns when the browser trusts [browserRoot]: it carries out its policies
// while it opens its session.
func (f *firefox) awaitRoot(t *testing.T) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "trusted")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is refused before
	server.TLS = &tls.Config{Certificates: []tls.Certificate{harness.BrowserLeaf(t)}}
	server.StartTLS()
	defer server.Close()
	address := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	var made struct{ Context string }
	if err := f.bidi.Do(&made, "browsingContext.create", harness.Object{"type": "tab"}); err != nil {
		t.Fatal(err)
	}
	var refused error
	if err := (firefoxTab{f, made.Context}).Until(func() (bool, error) {
		refused = f.bidi.Do(nil, "browsingContext.navigate", harness.Object{"context": made.Context, "url": address, "wait": "complete"})
		return refused == nil, nil
	}); err != nil {
		t.Fatalf("Firefox does not trust the authority of its policies: %v", refused)
	}
	if err := f.bidi.Do(nil, "browsingContext.close", harness.Object{"context": made.Context}); err != nil {
		t.Fatal(err)
	}
}

// installFirefox makes an installation in dir: links to the real one's files, with a
// policy file of its own, since Firefox looks for that beside its program, and
// nowhere else where a test could put one for itself alone.
func installFirefox(t *testing.T, dir string) (program string) {
	t.Helper()
	named := cmp.Or(os.Getenv("FIREFOX"), "/usr/bin/firefox-esr")
	original, err := filepath.EvalSymlinks(named)
	if err != nil {
		t.Fatalf("Firefox is not installed (%v): run scripts/install-test-deps.sh", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(original), "omni.ja")); err != nil {
		t.Fatalf("%s is not the program of an installation of Firefox, but perhaps a script that starts it: %v", named, err)
	}
	installed := filepath.Join(dir, "installation")
	root := filepath.Join(dir, "root.crt")
	certificate, _ := harness.BrowserRoot(t)
	policies, err := json.Marshal(harness.Object{"policies": harness.Object{"Certificates": harness.Object{"Install": []string{root}}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(installed, filepath.Base(original))
	files := []struct {
		path string
		text []byte
		mode os.FileMode
	}{
		{root, certificate, 0o600},
		{program, text, 0o700}, // a link would lead it to its own folder
		{filepath.Join(installed, "distribution", "policies.json"), policies, 0o600},
	}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(file.path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file.path, file.text, file.mode); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(original))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != filepath.Base(original) && name != "distribution" {
			if err := os.Symlink(filepath.Join(filepath.Dir(original), name), filepath.Join(installed, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return program
}
