// Package scripts tests what scripts and documents say of each other, without building anything.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/testcheck"
)

var must = testcheck.Must

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	return string(content)
}

// check-deps.sh says at once all that a machine lacks.
func TestCheckDeps(t *testing.T) {
	read(t, "check-deps.sh") // so that go test knows when it changes
	here := "test"
	if os.Getenv("MILLRACE_CHECK") != "" {
		here = "check" // which has installed the browsers
	}
	bare := t.TempDir() // as Debian is, with Go and Node
	link := exec.Command("bash", "-ec", `for tool in go node npm sort head; do ln -s "$(command -v $tool)" "$0"; done`, bare)
	must(t, link.Run())
	none := []string{"PATH=" + bare, "CHROMIUM=/none/chromium", "FIREFOX=/none/firefox", "CC="}
	const all = "curl git make python3 venv apt-get compiler /none/chromium /none/firefox"
	for _, c := range []struct {
		target string
		env    []string
		lacks  string
	}{{here, nil, ""}, {"check", none, all}, {"test", none, "curl git make python3 venv apt-get"}} {
		cmd := exec.Command("bash", "check-deps.sh", c.target)
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

// soak.sh lists each soak, and says what it is.
func TestSoaksAreDocumented(t *testing.T) {
	soaks := regexp.MustCompile(`(?m)(^##.*\n)?^soak_(\w+)\(\)`).FindAllStringSubmatch(read(t, "soak.sh"), -1)
	cmd := exec.Command("scripts/soak.sh", "list")
	cmd.Dir = ".."
	list, err := cmd.Output()
	if len(soaks) < 4 || err != nil {
		t.Errorf("soak.sh has the soaks %q, %v", soaks, err)
	}
	for _, soak := range soaks {
		if soak[1] == "" || !regexp.MustCompile(`(?m)^  `+soak[2]+` +\S+ \S+`).Match(list) {
			t.Errorf("soak.sh does not say what the soak %s is", soak[2])
		}
	}
}

// Each command of docs/install.md is run by a soak, or listed with a reason of three words.
// TestInstallCommands runs some of them.
func TestInstallCommandsAreRun(t *testing.T) {
	text := read(t, "../docs/install.md")
	all, blocks := "", regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1)
	for _, block := range blocks {
		all += regexp.MustCompile(`(?m) +# .*$`).ReplaceAllString(block[1], "")
	}
	if fences := strings.Count(text, "```"); strings.Count(all, "\n") < 15 || fences != 2*len(blocks) || strings.Contains(all, "\\\n") {
		t.Errorf("%d lines begin or end one of %d blocks of commands, a line each:\n%s", fences, len(blocks), all)
	}
	soaks := "'From source'" // by TestInstallCommands, in the soak release
	for _, script := range []string{"soak.sh", "soak-package.sh", "soak-package-inside.sh"} {
		soaks += read(t, script)
	}
	run := regexp.MustCompile(`(?m)^[^\t\n]*\n|\t\S+ \S+ \S.*$`).ReplaceAllString(read(t, "../integration/testdata/install-not-run.txt"), "")
	read(t, "install-commands.sh")
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		got, _ := exec.Command("./install-commands.sh", title).Output() // it fails if it prints nothing
		if run += string(got); len(got) > 0 && !strings.Contains(soaks, "'"+title+"'") {
			t.Errorf("no soak runs the commands of %s: run them, or list them in install-not-run.txt", title)
		}
	}
	unique := func(text string) []string { return slices.Compact(slices.Sorted(strings.Lines(text))) }
	if got, want := unique(run), unique(all); !slices.Equal(got, want) {
		t.Errorf("run, or listed with a reason:\n%q\nin the document:\n%q", got, want)
	}
}

// systemd waits for the drain of the edge in a package, 10 s by default, and the requests under way.
func TestStopTime(t *testing.T) {
	text := read(t, "../packaging/Caddyfile") + read(t, "../packaging/millrace.service")
	found := regexp.MustCompile(`(?s)\n\tgrace_period (\S+)\n.*\nTimeoutStopSec=(\S+)\n`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal("no grace_period, or no TimeoutStopSec")
	}
	grace, err1 := time.ParseDuration(found[1])
	stop, err2 := time.ParseDuration(found[2])
	if err1 != nil || err2 != nil || stop < 10*time.Second+grace+5*time.Second {
		t.Errorf("TimeoutStopSec is %s, for a grace_period of %s", found[2], found[1])
	}
}

// The pictures of the documents are small, each is on a page, and whoever does not see one can read what it shows.
func TestPictures(t *testing.T) {
	pictures, err := os.ReadDir("../docs/pictures")
	must(t, err)
	var all int64
	for _, picture := range pictures {
		info, err := picture.Info()
		must(t, err)
		all += info.Size()
	}
	if all == 0 || all > 1_500_000 {
		t.Errorf("docs/pictures has %d bytes, want 1,500,000 at most", all)
	}
	shown := ""
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		must(t, err)
		for _, page := range pages {
			shown += read(t, page)
			for _, picture := range regexp.MustCompile(`<img [^>]*>|!\[[^]]*\]\(`).FindAllString(read(t, page), -1) {
				if !regexp.MustCompile(`\balt="[^"]|!\[[^]]`).MatchString(picture) {
					t.Errorf("%s: no alternative text: %s", page, picture)
				}
			}
		}
	}
	for _, picture := range pictures {
		if !strings.Contains(shown, "pictures/"+picture.Name()+`"`) {
			t.Errorf("no page shows docs/pictures/%s", picture.Name())
		}
	}
}
