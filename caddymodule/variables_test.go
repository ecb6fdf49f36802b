package caddymodule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// A variable that Caddy puts in place when it reads the file is refused likewise, in a value: in its
// place would be nothing.
func TestVariablesWithoutValue(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("TEST_EMPTY", "")
	t.Setenv("TEST_SET", "US")
	for option, wrong := range map[string]string{
		`token_store badger {$TEST_UNSET}/tokens`:            "TEST_UNSET",
		`token_store badger "{$TEST_UNSET}/to kens" { # why`: "TEST_UNSET",
		`token_store badger {$TEST_EMPTY:/var/lib}/tokens`:   "TEST_EMPTY",
		`region {$TEST_EMPTY}`:                               "TEST_EMPTY",
		`limits { # {$TEST_SET}
			max_connections {$TEST_UNSET}
		}`: "TEST_UNSET",
		`region {$TEST_SET}`:                    "",
		`token_store badger {$TEST_UNSET:data}`: "",
		`token_store badger {$TEST_UNSET:}`:     "",
		`{$TEST_UNSET}`:                         "",
		`region US # {$TEST_UNSET}`:             "",
	} {
		if strings.Contains(option, "why") {
			option += "\n\t\t\treserve 0\n\t\t}"
		}
		for _, in := range []string{"option", "directive"} {
			text := fmt.Sprintf("{\n\tpubsub {\n\t\t%s\n\t}\n}\nhttp://localhost:8080 {\n\tpubsub\n}\n", option)
			if in == "directive" {
				text = "http://localhost:8080 {\n\tpubsub_edges {\n\t\tedge edge{$TEST_UNSET}.example.com\n\t}\n}\n"
				wrong = "TEST_UNSET"
			}
			file := filepath.Join(t.TempDir(), "Caddyfile")
			must(t, os.WriteFile(file, []byte(text), 0o600))
			_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": file})
			want := "{$" + wrong + "}: the environment variable is empty or not set"
			if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: got %v, want %q", option, err, want)
			}
			// What is sent to the admin endpoint comes from another file, or from none.
			must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "e", "o")), 0o600))
			_, _, err = caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": file})
			if err != nil && strings.Contains(err.Error(), "is empty or not set") {
				t.Errorf("%s: another file was looked at: %v", option, err)
			}
		}
	}
}
