package programs

import (
	"os"
	"os/exec"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

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
