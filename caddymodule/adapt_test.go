package caddymodule

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

const separator = "\n----------\n"

// TestAdapt reads each golden file: a Caddyfile, a line of dashes, and the JSON
// that it adapts to or the error that it is refused with, by the adapter or, as
// `caddy validate` would, when its modules are provisioned.
func TestAdapt(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("TEST_MASTER_TOKEN", "MT_"+strings.Repeat("0a", 16)+"_"+strings.Repeat("5e", 16))
	t.Setenv("TEST_WEBHOOK_SECRET", "whsec_"+strings.Repeat("5e", 16))
	files, err := filepath.Glob("testdata/adapt/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, _ := strings.Cut(string(text), separator)
			got := adapt(caddyfile + "\n")
			if *update {
				if err := os.WriteFile(file, []byte(caddyfile+separator+got+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if strings.TrimSpace(want) != got {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.HasPrefix(filepath.Base(file), "bad_") != strings.HasPrefix(got, "error: ") {
				t.Errorf("files whose names start with bad_ are refused, and no others")
			}
			if strings.Contains(got, strings.Repeat("5e", 16)) {
				t.Error("a secret came through")
			}
		})
	}
}

func adapt(caddyfile string) string {
	config, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return "error: " + err.Error()
	}
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		return "error: " + err.Error()
	}
	if err := caddy.Validate(&parsed); err != nil {
		// Which app is loaded first, and so leads to the module, is random.
		_, module, _ := strings.Cut(err.Error(), "provision pubsub: ")
		if module == "" {
			module = err.Error()
		}
		return "error: " + module
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, config, "", "\t"); err != nil {
		return "error: " + err.Error()
	}
	for _, w := range warnings {
		pretty.WriteString("\nwarning: " + w.String())
	}
	return pretty.String()
}

// TestCaddyfileExample keeps the example of a production edge working.
func TestCaddyfileExample(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("MILLRACE_MASTER_TOKEN", "MT_"+strings.Repeat("0a", 16)+"_"+strings.Repeat("5e", 16))
	text, err := os.ReadFile("../Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	got := adapt(string(text))
	if strings.HasPrefix(got, "error: ") || strings.Contains(got, "\nwarning: ") {
		t.Error(got)
	}
}

// The Caddyfiles of docs/operations.md load.
func TestOperationsCaddyfiles(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```\n({\n.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d Caddyfiles", len(blocks))
	}
	authority := filepath.Join(t.TempDir(), "ca-root.pem")
	server := httptest.NewTLSServer(nil) // for its certificate
	defer server.Close()
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, root, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		text := strings.ReplaceAll(b[1], "/etc/millrace/ca-root.pem", authority)
		if got := adapt(text); strings.HasPrefix(got, "error: ") || strings.Contains(got, "\nwarning: ") {
			t.Errorf("%s\n%s", text, got)
		}
	}
}
