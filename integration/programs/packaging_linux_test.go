package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
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
		text := strings.ReplaceAll(string(unit), "=/usr/bin/millrace ", "="+harness.Program+" ")
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
		validate := exec.Command(harness.Program, "validate", "--config", packagedCaddyfile)
		validate.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir())
		if out, err := validate.CombinedOutput(); err != nil {
			t.Errorf("validate: %v\n%s", err, out)
		}
	})
	// Each file that .goreleaser.yaml names is there, among them what the program writes
	// for the packages; goreleaser check is part of scripts/release.sh.
	t.Run("files", func(t *testing.T) {
		config, err := os.ReadFile("../.goreleaser.yaml")
		if err != nil {
			t.Fatal(err)
		}
		written := t.TempDir()
		pages := exec.Command("../scripts/package-pages.sh", harness.Program, written)
		pages.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1")
		if out, err := pages.CombinedOutput(); err != nil {
			t.Fatalf("scripts/package-pages.sh: %v\n%s", err, out)
		}
		sources := regexp.MustCompile(`(?m)^ +- src: (\S+)$|^ +(?:post|pre)\w+: (packaging/\S+)$`).FindAllStringSubmatch(string(config), -1)
		if len(sources) < 20 {
			t.Errorf(".goreleaser.yaml names %d files: is it read?", len(sources))
		}
		for _, source := range sources {
			pattern := filepath.Join("..", source[1]+source[2])
			if path, found := strings.CutPrefix(source[1], "dist/package/"); found {
				pattern = filepath.Join(written, path)
			}
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) == 0 {
				t.Errorf("%s: no such file, %v", pattern, err)
			}
			for _, file := range files {
				if info, err := os.Stat(file); err != nil || info.Size() == 0 {
					t.Errorf("%s is empty: %v", file, err)
				}
			}
		}
		checkPages(t, written)
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

// checkPages checks that the completions are for our commands, and that each manual page has
// the name and the summary that man-db needs.
func checkPages(t *testing.T, folder string) {
	t.Helper()
	for file, want := range map[string]string{
		"millrace.bash": "complete -o default -F __start_millrace millrace", "_millrace": "#compdef millrace", "millrace.fish": "complete -c millrace ",
	} {
		file = filepath.Join(folder, "completions", file)
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no line with %q: %v", file, want, err)
		}
	}
	if out, err := exec.Command("bash", "-n", filepath.Join(folder, "completions", "millrace.bash")).CombinedOutput(); err != nil {
		t.Errorf("the completions for bash: %v\n%s", err, out)
	}
	for _, page := range []string{"millrace", "millrace-run", "millrace-pubsub", "millrace-pubsub-publish", "millrace-pubsub-dev"} {
		if _, err := os.Stat(filepath.Join(folder, "man", page+".8.gz")); err != nil {
			t.Error(err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "man", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := exec.Command("gzip", "-dc", page).Output()
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		if !regexp.MustCompile(`(?m)\A\.nh\n\.TH "millrace" "8" .*\n\n\.SH NAME\nmillrace\S* - \w`).Match(text) {
			t.Errorf("%s has no title or no summary:\n%.300s", page, text)
		}
	}
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
