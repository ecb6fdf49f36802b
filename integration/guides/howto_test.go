package guides

import (
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// Each job is done by one of the workers, which end by themselves when they are told to.
func TestWorkQueuesPage(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/how-to/work-queues.md")
	p.edge()
	p.Shell("npm install ../millrace/sdk/js ws")
	p.Run("token issue")
	p.Files()
	node, python := p.program("node worker.mjs"), p.program("python3 worker.py")
	p.Shell(`until [ $(millrace pubsub connections --json | grep -o '"subscriptions":1' | wc -l) = 2 ]; do sleep 0.05; done
		node add.mjs && python3 add.py && node add.mjs && python3 add.py`)
	done := ""
	for _, worker := range []*harness.Background{node, python} {
		worker.Signal(syscall.SIGTERM)
		if code := worker.ExitCode(); code != 0 {
			t.Errorf("exit code %d\n%s", code, worker.Out)
		}
		done += worker.Out.String()
	}
	if cats, dogs := strings.Count(done, "done cat.png\n"), strings.Count(done, "done dog.png\n"); cats != 2 || dogs != 2 {
		t.Errorf("two cats and two dogs are to be done once each, by whichever worker:\n%s", done)
	}
}
