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

// What the packages install is accepted by what reads it. scripts/soak.sh package installs
// a package and runs it.
func TestPackaging(t *testing.T) {
	t.Parallel()
	const unitFile, caddyfile = "../packaging/millrace.service", "../packaging/Caddyfile"
	unit, _ := document(t, unitFile, "")
	written := t.TempDir()
	// verify looks for the program.
	adapted := filepath.Join(written, "millrace.service")
	if err := os.WriteFile(adapted, []byte(strings.ReplaceAll(unit, "=/usr/bin/millrace ", "="+harness.Program+" ")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"systemd-analyze", "verify", "--man=no", adapted},                           // no manual: the pages are made with the packages
		{"systemd-analyze", "security", "--offline=true", "--threshold=24", adapted}, // the exposure, from 0 to 10, in tenths
		{harness.Program, "validate", "--config", caddyfile},
		{"../scripts/package-pages.sh", harness.Program, written},
		{"bash", "-n", written + "/completions/millrace.bash"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "SOURCE_DATE_EPOCH=1")
		if out, err := cmd.CombinedOutput(); err != nil || command[1] == "verify" && len(out) > 0 {
			t.Errorf("%q: %v\n%s", command, err, out)
		}
	}

	// Each file that .goreleaser.yaml names is there, among them what the program writes for the
	// packages; goreleaser check is part of scripts/release.sh.
	config, _ := document(t, "../.goreleaser.yaml", "")
	sources := regexp.MustCompile(`(?m)^ +- src: (\S+)$|^ +(?:post|pre)\w+: (packaging/\S+)$`).FindAllStringSubmatch(config, -1)
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
	for file, want := range map[string]string{
		"millrace.bash": "complete -o default -F __start_millrace millrace", "_millrace": "#compdef millrace", "millrace.fish": "complete -c millrace ",
	} {
		if text, _ := document(t, filepath.Join(written, "completions", file), ""); !strings.Contains(text, want) {
			t.Errorf("%s has no line with %q", file, want)
		}
	}
	// Each manual page has the name and the summary that man-db needs.
	pages, err := filepath.Glob(written + "/man/*")
	if err != nil || len(pages) < 5 || !strings.Contains(strings.Join(pages, " "), "/millrace-pubsub-publish.8.gz") {
		t.Errorf("the manual pages: %q, %v", pages, err)
	}
	for _, page := range pages {
		text, err := exec.Command("gzip", "-dc", page).Output()
		if err != nil || !regexp.MustCompile(`(?m)\A\.nh\n\.TH "millrace" "8" .*\n\n\.SH NAME\nmillrace\S* - \w`).Match(text) {
			t.Errorf("%s has no title or no summary, %v:\n%.300s", page, err, text)
		}
	}

	// systemd waits for the drain and the requests under way.
	text, _ := document(t, caddyfile, "")
	grace := durationIn(t, text, `(?m)^\tgrace_period (.+)$`)
	stop := durationIn(t, unit, `(?m)^TimeoutStopSec=(.+)$`)
	const drain = 10 * time.Second // the default
	if stop < drain+grace+5*time.Second {
		t.Errorf("TimeoutStopSec is %s, for a drain of %s and a grace_period of %s", stop, drain, grace)
	}
}

// durationIn returns the duration that the group of expr finds in text.
func durationIn(t *testing.T, text, expr string) time.Duration {
	t.Helper()
	found := regexp.MustCompile(expr).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("nothing matches %s", expr)
	}
	d, err := time.ParseDuration(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return d
}
