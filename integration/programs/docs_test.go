package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
)

// The code of docs/recipes.md does what the page says.
func TestRecipes(t *testing.T) {
	t.Parallel()
	_, program := guides.Document(t, "../docs/recipes.md", "js")
	driver, _ := guides.Document(t, "clients/recipes.mjs", "")
	x := guides.OpenTerminal(t)
	modules, err := filepath.Abs("clients/node_modules")
	must(t, err)
	code := x.Adapted.Replace(strings.Join(program, "") + driver)
	must(t, os.WriteFile(filepath.Join(x.Folder, "recipes.mjs"), []byte(code), 0o600))
	out := x.RunBlocks(t, "export MILLRACE_MASTER_TOKEN=$(./millrace pubsub master-token create --name recipes --tenant-prefix demo --quiet)",
		"ln -s "+modules+" . && node recipes.mjs")
	if got, want := strings.Fields(out), []string{"sender", "read-only", "rights", "presence", "kicked"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A Caddy with examples/plugin says Millrace's version and takes the example's Caddyfile.
// The plugin's own tests have what its hook and its broker do.
func TestPlugin(t *testing.T) {
	t.Parallel()
	program, err := harness.BuildPlugin()
	must(t, err)
	cmd := exec.Command("bash", "-ec", `"$0" validate --config ../examples/plugin/Caddyfile --adapter caddyfile >&2; "$0" version`, program)
	cmd.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+harness.NewMasterToken(), "EDGE_FOLDER="+t.TempDir(),
		"XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(t, err)
	harness.WantVersion(t, string(out))
}
