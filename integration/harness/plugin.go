package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	dir, plugin := filepath.Join(Built, "plugin"), filepath.Join(root, "examples", "plugin")
	// The versions are ours, so that nothing is downloaded.
	mod, err1 := os.ReadFile(filepath.Join(root, "go.mod"))
	sum, err2 := os.ReadFile(filepath.Join(root, "go.sum"))
	more, err3 := os.ReadFile(filepath.Join(plugin, "go.sum"))
	mod = bytes.Replace(mod, []byte("module github.com/millrace/millrace\n"), []byte("module caddy\n"), 1)
	mod = fmt.Appendf(mod, "\nrequire example.com/millrace-plugin v0.0.0\nrequire github.com/millrace/millrace v0.0.0\n"+
		"replace example.com/millrace-plugin => %s\nreplace github.com/millrace/millrace => %s\n", plugin, root)
	if err := errors.Join(err1, err2, err3, os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600),
		os.WriteFile(filepath.Join(dir, "go.sum"), slices.Concat(sum, more), 0o600),
		os.WriteFile(filepath.Join(dir, "main.go"), []byte(pluginMain), 0o600)); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "caddy", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a Caddy with the plugin: %w\n%s", err, out)
	}
	return filepath.Join(dir, "caddy"), nil
})

// WithPlugin runs the edge by a Caddy that has the module examples/plugin.
func WithPlugin(t *testing.T) Option {
	t.Helper()
	program := value(BuildPlugin())(t)
	return func(e *Edge) { e.Program = program }
}
