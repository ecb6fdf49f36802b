package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/programs"
)

// Signals that set the clock of the program that soaks build (testdata/clock): Linux cannot
// give one process another time of day than the others.
const (
	clockAhead  = syscall.Signal(40) // by an hour
	clockBehind = syscall.Signal(41) // by an hour
	clockRight  = syscall.Signal(42)
)

// build builds the program: for a soak with a clock that can be set, which means building
// all of it again.
func build(dir string) (string, error) {
	if !harness.Soaking {
		return programs.Build(dir, "millrace", "../../cmd/millrace")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	now := filepath.Join(string(bytes.TrimSpace(root)), "src/time/time.go")
	source, err := os.ReadFile(now)
	if err != nil {
		return "", err
	}
	const line = "\tsec, nsec, mono := runtimeNow()\n"
	changed := bytes.Replace(source, []byte(line), []byte(line+"\tsec += clockOffset.Load()\n"), 1)
	if bytes.Equal(changed, source) {
		return "", errors.New("time.Now of this Go is another one: build needs to know it")
	}
	testdata, err := filepath.Abs("testdata/clock")
	if err != nil {
		return "", err
	}
	command, err := filepath.Abs("../../cmd/millrace")
	if err != nil {
		return "", err
	}
	written := filepath.Join(dir, "time.go")
	if err := os.WriteFile(written, changed, 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		now: written,
		filepath.Join(filepath.Dir(now), "offset.go"): filepath.Join(testdata, "offset.go.txt"),
		filepath.Join(command, "clock.go"):            filepath.Join(testdata, "clock.go.txt"),
	}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "millrace")
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", program, "../../cmd/millrace").CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return program, nil
}
