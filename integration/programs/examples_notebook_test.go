package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The notebook runs from its first cell to its last, in a real kernel, and draws. That
// needs some hundred MB of packages, so only the soak notebook does it, which says in
// MILLRACE_JUPYTER where the program jupyter is.
func TestNotebook(t *testing.T) {
	t.Parallel()
	jupyter := os.Getenv("MILLRACE_JUPYTER")
	if jupyter == "" {
		t.Skip("runs in the soak notebook")
	}
	d := harness.NewDevEdge(t)
	d.Start(t)
	master := exec.Command(harness.Program, "pubsub", "master-token", "create", "--name", "notebook", "--tenant-prefix", "demo", "--quiet")
	master.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	token, err := master.Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../examples/python/live.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	adapted := strings.ReplaceAll(string(text), "localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]))
	if err := os.WriteFile(filepath.Join(dir, "live.ipynb"), []byte(adapted), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(jupyter, "execute", "live.ipynb", "--output=done.ipynb")
	run.Dir = dir
	run.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+strings.TrimSpace(string(token)))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	done, err := os.ReadFile(filepath.Join(dir, "done.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"40 values", "image/png"} {
		if !strings.Contains(string(done), want) {
			t.Errorf("the notebook has no %s:\n%s", want, done)
		}
	}
	d.Stop(t, syscall.SIGTERM)
}
