package programs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// scripts/check-deps.sh says at once all that a machine lacks.
func TestCheckDeps(t *testing.T) {
	t.Parallel()
	bare := t.TempDir() // as Debian is, with Go and Node
	link := exec.Command("bash", "-ec", `for tool in go node npm sort head; do ln -s "$(command -v $tool)" "$0"; done`, bare)
	must(t, link.Run())
	none := []string{"PATH=" + bare, "CHROMIUM=/none/chromium", "FIREFOX=/none/firefox", "CC="}
	const all = "curl git make python3 venv apt-get compiler /none/chromium /none/firefox"
	for _, c := range []struct {
		target string
		env    []string
		lacks  string
	}{{"check", nil, ""}, {"check", none, all}, {"test", none, "curl git make python3 venv apt-get"}} {
		cmd := exec.Command("bash", "../scripts/check-deps.sh", c.target)
		cmd.Env = append(os.Environ(), c.env...)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.lacks == "") || (len(out) == 0) != (c.lacks == "") {
			t.Errorf("%s: %v:\n%s", c.target, err, out)
		}
		for _, word := range strings.Fields(all) {
			if strings.Contains(string(out), word) != strings.Contains(c.lacks, word) {
				t.Errorf("%s lacks %s: want %q; got\n%s", c.target, word, c.lacks, out)
			}
		}
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
