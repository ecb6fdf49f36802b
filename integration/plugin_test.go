package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pluginMain is a main as xcaddy writes it for
//
//	xcaddy build --with github.com/millrace/millrace/caddymodule --with example.com/millrace-plugin=…
const pluginMain = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	// plug in Caddy modules here
	_ "example.com/millrace-plugin"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/millrace/millrace/caddymodule"
)

func main() {
	caddycmd.Main()
}
`

// buildPlugin builds a Caddy with the module examples/plugin, in a module of its own as
// xcaddy does, and returns the program's path.
var buildPlugin = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(built, "plugin")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	// The versions are ours, so that nothing is downloaded.
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	mod = []byte(strings.Replace(string(mod), "module github.com/millrace/millrace\n", "module caddy\n", 1) +
		"\nrequire example.com/millrace-plugin v0.0.0\nrequire github.com/millrace/millrace v0.0.0\n" +
		"replace example.com/millrace-plugin => " + filepath.Join(root, "examples", "plugin") + "\n" +
		"replace github.com/millrace/millrace => " + root + "\n")
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return "", err
	}
	more, err := os.ReadFile(filepath.Join(root, "examples", "plugin", "go.sum"))
	if err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"go.mod": mod, "go.sum": slices.Concat(sum, more), "main.go": []byte(pluginMain)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	args := slices.Concat([]string{"build", "-mod=mod"}, buildFlags, []string{"-o", "caddy", "."})
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a Caddy with the plugin: %w\n%s", err, out)
	}
	return filepath.Join(dir, "caddy"), nil
})

// withPlugin runs the edge by a Caddy that has the module examples/plugin.
func withPlugin(t *testing.T) option {
	t.Helper()
	program, err := buildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	return func(e *edge) { e.program = program }
}

// Two edges of the plugin's broker, which nobody else knows, pass messages on.
func TestPluginBroker(t *testing.T) {
	t.Parallel()
	folder := shortDir(t)
	join := func(e *edge) { e.Broker = "unix " + folder }
	near := startEdge(t, defaultCaddyfile, withPlugin(t), join)
	far := startEdge(t, defaultCaddyfile, withPlugin(t), join, withMaster(near))
	here := near.dial(near.issue(allowAll("room")).Token)
	there := far.dial(far.issue(allowAll("room")).Token)
	there.subscribe("paint.room", "#")
	far.poll("the other edge to know of the subscription", func() bool {
		here.publish("paint.room", "a", "x")
		here.ping()
		return far.metrics()["millrace_deliveries_total"] > 0
	})
	there.expectDeliver("paint.room", "a", "x", "#")
}

// shortDir is a folder whose path leaves room for the name of a Unix socket, which has
// 107 bytes at most.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A Caddy of which Millrace is one module among others says Millrace's version, too.
func TestPluginVersion(t *testing.T) {
	t.Parallel()
	program, err := buildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	wantVersion(t, string(out))
}

// The Caddyfile of the example is one that an edge with the plugin takes.
func TestPluginCaddyfile(t *testing.T) {
	t.Parallel()
	program, err := buildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "validate", "--config", "../examples/plugin/Caddyfile", "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+newMasterToken(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Valid configuration") {
		t.Errorf("%v\n%s", err, out)
	}
}
