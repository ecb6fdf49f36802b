package guides

import (
	"encoding/json"
	"os"
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

// The tests that the page shows pass: that for Go in clienttest, that for pytest in sdk/python/tests/hosts, and
// with Jest in sdk/js/test/bundles.
func TestTestingPage(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/how-to/testing.md")
	p.Write("package.json", `{"type": "module"}`)
	p.Run("npm install")
	p.Block("pip install")
	p.Block("def test_a_message_arrives")
	program := strings.ReplaceAll(p.Block("GOBIN").Text, "go install github.com/millrace/millrace/cmd/millrace@main",
		`bash -c 'mkdir $GOBIN && ln -s $MILLRACE_PROGRAM $GOBIN/millrace'`) // no download, and no build
	p.Files("vitest.config.js", "chat.test.js")
	if out := p.Shell(program + "\nnode_modules/.bin/vitest run"); !strings.Contains(out, "1 passed") {
		t.Error(out)
	}
	_, shown, _ := strings.Cut(p.Block("func TestNews").Text, "func TestNews")
	tested, err := os.ReadFile("../clienttest/page_test.go")
	must(t, err)
	if _, code, _ := strings.Cut(string(tested), "func TestNews"); code != shown {
		t.Errorf("clienttest/page_test.go has another TestNews than the page:\n%s", code)
	}
	out := p.Shell("coproc edge { " + strings.Replace(p.Block("--exit-with-stdin").Text, "millrace", "exec "+harness.Program, 1) +
		"} 2>/dev/null\nread -r line <&${edge[0]} && echo \"$line\" && eval \"exec ${edge[1]}>&-\" && wait")
	var line map[string]string
	must(t, json.Unmarshal([]byte(out), &line))
	page, err := os.ReadFile("../docs/how-to/testing.md")
	must(t, err)
	for name := range line {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}
