package sdk

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/programs"
)

// MinimalScenarios is what the client in examples/minimal-client passes; the rest it does not
// support.
var MinimalScenarios = []string{
	"connect", "messages", "payloads", "deliver to one", "slow consumer", "forbidden channels", "bad token", "revocation", "expiry",
	"refresh", "hooks", "plaintext", "forced transport",
}

// RunMinimalClient is what scripts/conformance.sh does with a copy of the minimal client; no
// scenarios means all.
func RunMinimalClient(t *testing.T, folder string, scenarios ...string) (output string, err error) {
	t.Helper()
	python, err := filepath.Abs("clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // for one that hangs
	defer cancel()
	run := "^TestSDKs$"
	if len(scenarios) > 0 {
		run += "/^(" + strings.ReplaceAll(strings.Join(scenarios, "|"), " ", "_") + ")$"
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+run)
	cmd.Env = append(os.Environ(), ClientVariable+"="+python+" driver.py", ClientFolderVariable+"="+folder)
	if os.Getenv(programs.Folder) == "" { // else the edge would be built once more
		dir := t.TempDir()
		for _, flags := range []string{".", "race"} {
			path := filepath.Join(dir, flags, "millrace")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(harness.Program, path)); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Env = append(cmd.Env, programs.Folder+"="+dir)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
