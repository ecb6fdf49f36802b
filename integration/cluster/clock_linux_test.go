package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// Signals that set the clock of the program with a clock (cluster/testdata/clock): Linux cannot
// give one process another time of day than the others.
const (
	clockAhead  = syscall.Signal(40) // by an hour
	clockBehind = syscall.Signal(41) // by an hour
	clockRight  = syscall.Signal(42)
)

// withClock returns an option of edges whose clock can be set, which means building all of the
// program again.
func withClock(t *testing.T) harness.Option {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(err)
	now := filepath.Join(string(bytes.TrimSpace(root)), "src/time/time.go")
	source, err := os.ReadFile(now)
	must(err)
	const line = "\tsec, nsec, mono := runtimeNow()\n"
	changed := bytes.Replace(source, []byte(line), []byte(line+"\tsec += clockOffset.Load()\n"), 1)
	if bytes.Equal(changed, source) {
		t.Fatal("time.Now of this Go is another one: withClock needs to know it")
	}
	here, err := os.Getwd()
	must(err)
	dir := t.TempDir()
	written, program := filepath.Join(dir, "time.go"), filepath.Join(dir, "millrace")
	must(os.WriteFile(written, changed, 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		now: written,
		filepath.Join(filepath.Dir(now), "offset.go"):   filepath.Join(here, "cluster/testdata/clock/offset.go.txt"),
		filepath.Join(here, "../cmd/millrace/clock.go"): filepath.Join(here, "cluster/testdata/clock/clock.go.txt"),
	}})
	must(err)
	file := filepath.Join(dir, "overlay.json")
	must(os.WriteFile(file, overlay, 0o600))
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", program, "../cmd/millrace").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(e *harness.Edge) { e.Program = program }
}
