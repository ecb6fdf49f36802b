package programs

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
)

// The commands of docs/performance.md lose nothing, over each transport; package loadgen has all
// scenarios and how it counts, package command what is refused. The runs are short here, and the windows small,
// so that no rate comes near the cap of a token, an error.
func TestBench(t *testing.T) {
	t.Parallel()
	x := guides.OpenTerminal(t, "millrace pubsub ", harness.Program+" pubsub ", "bench fanout", "bench fanout --duration 100ms --window 2 --subscribers 50",
		"bench idle", "bench idle --connections 10 --settle 10ms", "--subscribers 200", "--subscribers 10")
	_, blocks := guides.Document(t, "../docs/performance.md", "sh")
	pid := strings.NewReplacer("$(pgrep -nf 'millrace pubsub dev')", fmt.Sprint(x.Cmd.Process.Pid)) // another may be a test's
	commands := pid.Replace(strings.Join(blocks, ""))
	if out := x.RunBlocks(t, commands); len(blocks) != 3 || strings.Count(out, " 0 lost") != 3 || !strings.Contains(out, `"scenario":"idle"`) {
		t.Errorf("%d blocks:\n%s", len(blocks), out)
	}

	// Ctrl+C ends a run with the figures until then, and leaves nothing behind.
	p := harness.StartBackground(t, x.Paste("export MILLRACE_MASTER_TOKEN=$(./millrace pubsub master-token create --name bench --quiet)",
		"exec ./millrace pubsub bench idle --settle 50m --url ws://localhost:8080 --json"))
	p.Await(p.Err, " of ")
	p.Signal(syscall.SIGINT)
	var m harness.Measured
	if code := p.ExitCode(); code != 0 || json.Unmarshal([]byte(p.Out.String()), &m) != nil || !m.Interrupted {
		t.Errorf("exit code %d, %s; stderr:\n%s", code, p.Out, p.Err)
	}
	tokens := x.RunBlocks(t, "./millrace pubsub token list")
	if issued, revoked := strings.Count(tokens, " pubsub bench "), strings.Count(tokens, " revoked "); issued != 5 || revoked != 5 {
		t.Errorf("of %d tokens of 5 runs %d are revoked:\n%s", issued, revoked, tokens)
	}
}
