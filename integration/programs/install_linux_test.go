package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

const notRun = "testdata/install-not-run.txt"

// Each command of docs/install.md is run by a soak, or listed with a reason. Those that need
// neither a package nor a long build are run here, too, pasted as they stand.
func TestInstallCommands(t *testing.T) {
	t.Parallel()
	text, _ := document(t, "../docs/install.md", "sh")
	t.Run("all", func(t *testing.T) { checkInstallCommands(t, text) })
	t.Run("program", func(t *testing.T) {
		dir, bin := t.TempDir(), t.TempDir()
		version := packArchive(t, dir)
		adapted := strings.NewReplacer("sudo ", "", "/usr/local/bin/", bin+"/", "_amd64", "_"+runtime.GOARCH)
		d := harness.NewDevEdge(t)
		d.Env = append(d.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		startByCommands(d, t, dir, adapted.Replace(installCommands(t, "The program")), ".tar.gz: OK\n", "Millrace "+version+",")
		// Those for the edge of a package do the same to this one.
		adapted = strings.NewReplacer("sudo ", "", "unix//run/millrace/admin.sock", fmt.Sprintf("localhost:%d", d.Ports[2]))
		packaged := exec.Command("bash", "-ec", adapted.Replace(installCommands(t, "What the packages install")))
		packaged.Dir, packaged.Env = dir, d.Env
		if out, err := packaged.CombinedOutput(); err != nil || !harness.MasterToken.Match(out) {
			t.Errorf("What the packages install: %v\n%s", err, out)
		}
		for _, other := range regexp.MustCompile(`millrace[_-](\d[\d.]*\d)`).FindAllStringSubmatch(text, -1) {
			if other[1] != version {
				t.Errorf("the document has a file of another version than %s: %s", version, other[0])
			}
		}
		d.Stop(t, syscall.SIGINT)
	})
	if harness.Soaking { // it compiles everything without the race detector
		t.Run("source", func(t *testing.T) {
			checkout, err := filepath.Abs("..")
			must(t, err)
			d := harness.NewDevEdge(t)
			d.Env = append(d.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+checkout+".insteadOf",
				"GIT_CONFIG_VALUE_0=https://github.com/millrace/millrace")
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY"} {
				value, err := exec.Command("go", "env", name).Output()
				must(t, err)
				d.Env = append(d.Env, name+"="+strings.TrimSpace(string(value)))
			}
			// The build has no time limit, so it comes first; the last command runs where it ended.
			commands, last, _ := strings.Cut(installCommands(t, "From source"), "./millrace pubsub dev")
			build := exec.Command("bash", "-ec", commands+"\npwd")
			build.Dir, build.Env, build.Stderr = t.TempDir(), d.Env, os.Stderr
			folder, err := build.Output()
			must(t, err)
			startByCommands(d, t, strings.TrimSpace(string(folder)), "./millrace pubsub dev"+last)
			d.Stop(t, syscall.SIGINT)
		})
	}
}

// installCommands returns the commands of a section of docs/install.md as the soaks get them.
func installCommands(t *testing.T, section string) string {
	t.Helper()
	out, err := exec.Command("../scripts/install-commands.sh", section).CombinedOutput()
	if err != nil {
		t.Fatalf("the section %q: %v\n%s", section, err, out)
	}
	return string(out)
}

// checkInstallCommands requires that all commands of the document are in those that the soaks
// run, or listed with a reason.
func checkInstallCommands(t *testing.T, text string) {
	t.Helper()
	soaks := "'From source'" // here, in the soak release
	for _, script := range []string{"soak.sh", "soak-package.sh", "soak-package-inside.sh"} {
		text, _ := document(t, "../scripts/"+script, "")
		soaks += text
	}
	all, run, blocks := "\n", "\n", 0
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		own := blocksOf(body, "sh")
		blocks += len(own)
		all += strings.Join(own, "")
		got, _ := exec.Command("../scripts/install-commands.sh", title).Output() // it fails if it prints nothing
		if run += string(got); len(got) > 0 && !strings.Contains(soaks, "'"+title+"'") {
			t.Errorf("no soak runs the commands of %s: run them, or list them in %s", title, notRun)
		}
	}
	all = regexp.MustCompile(`(?m) +# .*$`).ReplaceAllString(all, "")
	if fences := strings.Count(text, "```"); strings.Count(all, "\n") < 15 || fences != 2*blocks || strings.Contains(all, "\\\n") {
		t.Errorf("%d lines begin or end one of %d blocks of commands, a line each:%s", fences, blocks, all)
	}
	list, _ := document(t, notRun, "")
	for _, line := range regexp.MustCompile(`(?m)^([^#].*?)(?:\t(.*))?$`).FindAllStringSubmatch(list, -1) {
		if run += line[1] + "\n"; len(strings.Fields(line[2])) < 3 || !strings.Contains(all, "\n"+line[1]+"\n") {
			t.Errorf("%s gives no reason for %s, or the document does not have it", notRun, line[1])
		}
	}
	for command := range strings.Lines(all[1:]) {
		if !strings.Contains(run, "\n"+command) {
			t.Errorf("neither run nor listed: %s", command)
		}
	}
}

// startByCommands runs commands, the last of which is millrace pubsub dev, and returns when
// they have printed words and that has started.
func startByCommands(d *harness.DevEdge, t *testing.T, dir, commands string, words ...string) {
	t.Helper()
	dev := regexp.MustCompile(`(\S*millrace pubsub dev)\n$`)
	if !dev.MatchString(commands) {
		t.Fatalf("these commands do not end with millrace pubsub dev:\n%s", commands)
	}
	// Ports and folders are others here. exec: so that a signal reaches the edge.
	script := dev.ReplaceAllString(commands, `exec $1 "$$@"`)
	cmd := exec.Command("bash", append([]string{"-ec", script, "sh"}, d.Flags[2:]...)...)
	cmd.Dir, cmd.Env = dir, d.Env
	d.Background = harness.StartBackground(t, cmd)
	for _, word := range append(words, "Ctrl+C stops the edge.\n") {
		d.Await(d.Out, word) // each with a time limit of its own
	}
}

// packArchive packs the binary under test as a release does, with the names of
// .goreleaser.yaml, and writes the checksums beside it. It returns the version.
func packArchive(t *testing.T, dir string) (version string) {
	t.Helper()
	out, err := exec.Command("../scripts/version.sh").Output()
	must(t, err)
	version = strings.TrimSpace(string(out))
	config, _ := document(t, "../.goreleaser.yaml", "")
	name := func(section string) string {
		t.Helper()
		found := regexp.MustCompile(`(?ms)^` + section + `:\n.*?name_template: "(.*?)"$`).FindStringSubmatch(config)
		if found == nil {
			t.Fatalf(".goreleaser.yaml names no %s", section)
		}
		return strings.NewReplacer("{{ .ProjectName }}", "millrace", "{{ .Version }}", version,
			"{{ .Os }}", runtime.GOOS, "{{ .Arch }}", runtime.GOARCH).Replace(found[1])
	}
	pack := exec.Command("bash", "-ec", `mkdir $1 && cp "$0" $1/millrace && tar -cf - $1 | gzip -1 >$1.tar.gz && rm -r $1
		sha256sum $1.tar.gz >$2 && echo "$(head -c 64 $2)  not-here.deb" >>$2`, harness.Program, name("archives"), name("checksum"))
	pack.Dir = dir
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return version
}
