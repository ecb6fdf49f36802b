package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	packagedUnit      = "../packaging/millrace.service"
	packagedCaddyfile = "../packaging/Caddyfile"
)

// What the packages install is accepted by what reads it. scripts/soak.sh package installs
// a package and runs it.
func TestPackaging(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile(packagedUnit)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("unit", func(t *testing.T) {
		// verify looks for the program.
		file := filepath.Join(t.TempDir(), filepath.Base(packagedUnit))
		text := strings.ReplaceAll(string(unit), "=/usr/bin/millrace ", "="+millrace+" ")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// --man=no: the pages are made with the packages.
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
		// The exposure, from 0 to 10, in tenths.
		out, err = exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=24", file).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze security: %v\n%s", err, out)
		}
	})
	t.Run("Caddyfile", func(t *testing.T) {
		validate := exec.Command(millrace, "validate", "--config", packagedCaddyfile)
		validate.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir())
		if out, err := validate.CombinedOutput(); err != nil {
			t.Errorf("validate: %v\n%s", err, out)
		}
	})
	// systemd waits for the drain and the requests under way.
	t.Run("stop", func(t *testing.T) {
		caddyfile, err := os.ReadFile(packagedCaddyfile)
		if err != nil {
			t.Fatal(err)
		}
		grace := durationIn(t, caddyfile, `(?m)^\tgrace_period (.+)$`)
		stop := durationIn(t, unit, `(?m)^TimeoutStopSec=(.+)$`)
		const drain = 10 * time.Second // the default
		if stop < drain+grace+5*time.Second {
			t.Errorf("TimeoutStopSec is %s, for a drain of %s and a grace_period of %s", stop, drain, grace)
		}
	})
}

// durationIn returns the duration that the group of expr finds in text.
func durationIn(t *testing.T, text []byte, expr string) time.Duration {
	t.Helper()
	found := regexp.MustCompile(expr).FindSubmatch(text)
	if found == nil {
		t.Fatalf("nothing matches %s", expr)
	}
	d, err := time.ParseDuration(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
