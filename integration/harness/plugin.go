package harness

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

// BuildPlugin builds a Caddy with the module examples/plugin, in a module of its own as
// xcaddy does, and returns the program's path.
var BuildPlugin = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(Built, "plugin")
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
	args := []string{"build", "-mod=mod", "-o", "caddy", "."}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a Caddy with the plugin: %w\n%s", err, out)
	}
	return filepath.Join(dir, "caddy"), nil
})

// WithPlugin runs the edge by a Caddy that has the module examples/plugin.
func WithPlugin(t *testing.T) Option {
	t.Helper()
	program, err := BuildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	return func(e *Edge) { e.Program = program }
}
