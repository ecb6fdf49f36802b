package programs

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The commands of docs/bench.md lose nothing, over each transport; package loadgen has how it
// counts, and package command what is refused. The runs are short here, and the windows small,
// so that no rate comes near the cap of a token, an error.
func TestBench(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "bench fanout", "bench fanout --duration 100ms --window 2 --subscribers 50",
		"bench idle", "bench idle --connections 10 --settle 10ms", "--subscribers 200", "--subscribers 10")
	_, blocks := document(t, "../docs/bench.md", "sh")
	pid := strings.NewReplacer("$(pgrep -nf 'millrace pubsub dev')", fmt.Sprint(x.Cmd.Process.Pid)) // another may be a test's
	commands := pid.Replace(strings.Join(blocks, ""))
	if out := x.run(t, commands); len(blocks) != 3 || strings.Count(out, " 0 lost") != 3 || !strings.Contains(out, `"scenario":"idle"`) {
		t.Errorf("%d blocks:\n%s", len(blocks), out)
	}
	const master = "export MILLRACE_MASTER_TOKEN=$(./millrace pubsub master-token create --name bench --quiet)\n"
	const rooms = "./millrace pubsub bench rooms --rooms 2 --members 3 --member-rate 20 --duration 200ms --warmup 10ms"
	var m harness.Measured
	out, err := x.paste(master + rooms + " --url ws://localhost:8080 --json").Output()
	if err != nil || json.Unmarshal(out, &m) != nil || m.Published == 0 || m.Delivered != 3*m.Published || m.P50 == 0 {
		t.Errorf("%v: %s", err, out)
	}

	// Ctrl+C ends a run with the figures until then, and leaves nothing behind.
	p := harness.StartBackground(t, x.paste(master+"exec ./millrace pubsub bench idle --settle 50m --url ws://localhost:8080 --json"))
	p.Await(p.Err, " of ")
	p.Signal(syscall.SIGINT)
	if code := p.ExitCode(); code != 0 || json.Unmarshal([]byte(p.Out.String()), &m) != nil || !m.Interrupted {
		t.Errorf("exit code %d, %s; stderr:\n%s", code, p.Out, p.Err)
	}
	var list harness.TokenList
	if err := json.Unmarshal([]byte(x.run(t, "./millrace pubsub token list --json")), &list); err != nil || len(list.Tokens) < 6 {
		t.Errorf("tokens: %+v, %v", list, err)
	}
	for _, token := range list.Tokens {
		if token.CreatedBy == "pubsub bench" && token.Status != "revoked" {
			t.Errorf("a token of bench is %s", token.Status)
		}
	}
}
