package programs

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A Caddy with examples/plugin says Millrace's version and takes the example's Caddyfile; two
// edges of the plugin's broker, which nobody else knows, pass messages on.
func TestPlugin(t *testing.T) {
	t.Parallel()
	program, err := harness.BuildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	harness.WantVersion(t, string(out))
	cmd := exec.Command(program, "validate", "--config", "../examples/plugin/Caddyfile", "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+harness.NewMasterToken(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Valid configuration") {
		t.Errorf("%v\n%s", err, out)
	}

	folder, err := os.MkdirTemp("", "mr") // the name of a Unix socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	join := func(e *harness.Edge) { e.Broker = "unix " + folder }
	near := harness.StartEdge(t, harness.DefaultCaddyfile, harness.WithPlugin(t), join)
	far := harness.StartEdge(t, harness.DefaultCaddyfile, harness.WithPlugin(t), join, harness.WithMaster(near))
	here := near.Dial(near.Issue(harness.AllowAll("room")).Token)
	there := far.Dial(far.Issue(harness.AllowAll("room")).Token)
	there.Subscribe("paint.room", "#")
	far.Poll("the other edge to know of the subscription", func() bool {
		here.Publish("paint.room", "a", "x")
		here.Ping()
		return far.Metrics()["millrace_deliveries_total"] > 0
	})
	there.ExpectDeliver("paint.room", "a", "x", "#")
}
