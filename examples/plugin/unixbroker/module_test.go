package unixbroker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func TestCaddyfile(t *testing.T) {
	for text, want := range map[string]string{
		"unix":                    "broker unix wants one argument, the folder of the sockets",
		"unix /a /b":              "broker unix wants one argument, the folder of the sockets",
		"unix /a {\n\tqueue 1\n}": "broker unix takes no options",
		"unix /a":                 "",
	} {
		m := new(Module)
		err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		if err == nil && m.Folder != "/a" {
			t.Errorf("%q: folder %q", text, m.Folder)
		}
	}
}

func TestProvision(t *testing.T) {
	t.Setenv("SOCKETS", "/run/edges")
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		"{env.SOCKETS}": "unix:/run/edges",
		"/a/../b":       "unix:/b",
		"x":             "unix:" + filepath.Join(wd, "x"),
	} {
		if len(filepath.Join(wd, "x")) > maxFolder && folder == "x" {
			continue
		}
		m := &Module{Folder: folder}
		if err := m.Provision(caddy.Context{}); err != nil || m.BrokerKey() != want {
			t.Errorf("%s: key %q, %v, want %q", folder, m.BrokerKey(), err, want)
		}
	}
	for folder, want := range map[string]string{
		"":                               "folder: must name the folder of the sockets",
		"{env.NO_SUCH_VARIABLE}/sockets": "folder: {env.NO_SUCH_VARIABLE}: the environment variable is empty or not set",
		"/" + strings.Repeat("x", 1000):  "folder: must have at most 80 bytes as an absolute path",
	} {
		if err := (&Module{Folder: folder}).Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", folder, err, want)
		}
	}
}
