package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scripts/check-deps.sh says at once all that a machine lacks.
func TestCheckDeps(t *testing.T) {
	t.Parallel()
	check := func(target, path string, env ...string) (string, error) {
		t.Helper()
		bash, err := exec.LookPath("bash")
		must(t, err)
		cmd := exec.Command(bash, "../scripts/check-deps.sh", target)
		cmd.Env = append(append(os.Environ(), "PATH="+path), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check("check", os.Getenv("PATH")); err != nil || out != "" {
		t.Errorf("where all is there: %v: %s", err, out)
	}
	bare := t.TempDir() // as Debian is, with Go and Node
	for _, tool := range []string{"go", "node", "npm", "sort", "head"} {
		program, err := exec.LookPath(tool)
		must(t, err)
		must(t, os.Symlink(program, filepath.Join(bare, tool)))
	}
	out, err := check("check", bare, "CHROMIUM=/none/chromium", "FIREFOX=/none/firefox", "CC=")
	if err == nil {
		t.Error("it finds nothing missing")
	}
	for _, want := range []string{"C compiler", "curl", "git", "make", "python3", "venv", "/none/chromium", "/none/firefox", "apt-get install "} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %s:\n%s", want, out)
		}
	}
	if out, err = check("test", bare, "CHROMIUM=/none/chromium"); err == nil || strings.Contains(out, "compiler") || strings.Contains(out, "chromium") {
		t.Errorf("make test needs less: %v, %s", err, out)
	}
}

// Each soak has a row in docs/hardening.md.
func TestSoaksAreDocumented(t *testing.T) {
	t.Parallel()
	script, _ := document(t, "../scripts/soak.sh", "")
	doc, _ := document(t, "../docs/hardening.md", "")
	soaks := regexp.MustCompile(`(?m)^soak_(\w+)\(\)`).FindAllStringSubmatch(script, -1)
	if len(soaks) < 4 {
		t.Errorf("scripts/soak.sh has the soaks %q", soaks)
	}
	for _, soak := range soaks {
		if !strings.Contains(doc, "\n| `"+soak[1]+"` | ") {
			t.Errorf("docs/hardening.md has no row for the soak %s", soak[1])
		}
	}
}
