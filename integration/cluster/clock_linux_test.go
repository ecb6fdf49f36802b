package cluster

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

// Signals that set the clock of the program with a clock (cluster/testdata/clock): Linux cannot
// give one process another time of day than the others.
const (
	clockAhead  = syscall.Signal(40) // by an hour
	clockBehind = syscall.Signal(41) // by an hour
	clockRight  = syscall.Signal(42)
)

// withClock returns an option of edges whose clock can be set, which means building all of the
// program again, with a changed time.Now.
func withClock(t *testing.T) harness.Option {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	testcheck.Must(t, err)
	dir, library := t.TempDir(), filepath.Join(strings.TrimSpace(string(root)), "src/time")
	source, err := os.ReadFile(library + "/time.go")
	testcheck.Must(t, err)
	const line = "\tsec, nsec, mono := runtimeNow()\n"
	changed := harness.Replaced(t, string(source), line, line+"\tsec += clockOffset.Load()\n")
	testcheck.Must(t, os.WriteFile(dir+"/time.go", []byte(changed), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		library + "/time.go":       dir + "/time.go",
		library + "/offset.go":     "cluster/testdata/clock/offset.go.txt",
		"../cmd/millrace/clock.go": "cluster/testdata/clock/clock.go.txt",
	}})
	testcheck.Must(t, err)
	testcheck.Must(t, os.WriteFile(dir+"/overlay.json", overlay, 0o600))
	build := exec.Command("go", "build", "-overlay", dir+"/overlay.json", "-o", dir+"/millrace", "../cmd/millrace")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(e *harness.Edge) { e.Program = dir + "/millrace" }
}
