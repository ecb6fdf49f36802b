package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
)

// What the packages install is accepted by what reads it. scripts/soak.sh package installs
// a package and runs it.
func TestPackaging(t *testing.T) {
	t.Parallel()
	unit, _ := guides.Document(t, "../packaging/millrace.service", "")
	config, _ := guides.Document(t, "../.goreleaser.yaml", "")
	written := t.TempDir()
	adapted := filepath.Join(written, "millrace.service") // verify looks for the program
	must(t, os.WriteFile(adapted, []byte(strings.ReplaceAll(unit, "=/usr/bin/millrace ", "="+harness.Program+" ")), 0o600))
	for _, command := range [][]string{
		{"systemd-analyze", "verify", "--man=no", adapted},                           // no manual: it comes with the package
		{"systemd-analyze", "security", "--offline=true", "--threshold=24", adapted}, // the exposure, from 0 to 10, in tenths
		{harness.Program, "validate", "--config", "../packaging/Caddyfile"},
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
	// packages, and each manual page has the name and the summary that man-db needs.
	var files []string
	sources := regexp.MustCompile(`(?m)^ +- src: (\S+)$|^ +(?:post|pre)\w+: (packaging/\S+)$`).FindAllStringSubmatch(config, -1)
	for _, source := range sources {
		pattern := strings.Replace("../"+source[1]+source[2], "../dist/package/", written+"/", 1)
		found, err := filepath.Glob(pattern)
		if files = append(files, found...); err != nil || len(found) == 0 {
			t.Errorf("%s: no such file, %v", pattern, err)
		}
	}
	if len(sources) < 20 || len(files) < 60 {
		t.Errorf(".goreleaser.yaml names %d times %d files: is it read?", len(sources), len(files))
	}
	contents := map[string]string{
		".gz":   `\A\.nh\n\.TH "millrace" "8" .*\n\n\.SH NAME\nmillrace\S* - \w`,
		".bash": " millrace\n", ".fish": "complete -c millrace ",
	}
	for _, file := range files {
		text, err := exec.Command("gzip", "-cdf", file).Output()
		if want := contents[filepath.Ext(file)]; err != nil || len(text) == 0 || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s, %v: got, want %s\n%.300s", file, err, want, text)
		}
	}
}
