package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// BuildPlugin builds a Caddy with the module examples/plugin, and returns the program's path. The
// program is in a module of its own, as for xcaddy, and the others' versions are ours, so that
// nothing is downloaded.
func BuildPlugin() (string, error) {
	dir := filepath.Join(Built, "plugin")
	err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "main.go"), []byte(pluginMain), 0o600))
	root, err2 := filepath.Abs("..")
	if err = errors.Join(err, err2); err != nil {
		return "", err
	}
	cmd := exec.Command("bash", "-ec", `go mod init caddy; go work init . "$0" "$0/examples/plugin"; go build -o caddy .`, root)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a Caddy with the plugin: %w\n%s", err, out)
	}
	return filepath.Join(dir, "caddy"), nil
}
