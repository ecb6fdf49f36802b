package programs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"

	"github.com/millrace/millrace/integration/harness"
)

const notRun = "testdata/install-not-run.txt"

// Each command of docs/install.md is run by a soak, or listed with a reason. Those that need
// neither a package nor a long build are run here, too, pasted as they stand.
func TestInstallCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) { checkInstallCommands(t, string(text)) })
	t.Run("program", func(t *testing.T) {
		dir, bin := t.TempDir(), t.TempDir()
		version := packArchive(t, dir)
		adapted := strings.NewReplacer("sudo ", "", "/usr/local/bin/", bin+"/", "_amd64", "_"+runtime.GOARCH)
		d := harness.NewDevEdge(t)
		d.Env[slices.Index(d.Env, "PATH="+os.Getenv("PATH"))] = "PATH=" + bin + ":" + os.Getenv("PATH")
		startByCommands(d, t, dir, adapted.Replace(installCommands(t, "The program")), ".tar.gz: OK\n", "Millrace "+version+",")
		// Those for the edge of a package do the same to this one.
		adapted = strings.NewReplacer("sudo ", "", "unix//run/millrace/admin.sock", fmt.Sprintf("localhost:%d", d.Ports[2]))
		packaged := exec.Command("bash", "-ec", adapted.Replace(installCommands(t, "What the packages install")))
		packaged.Dir, packaged.Env = dir, d.Env
		if out, err := packaged.CombinedOutput(); err != nil || !harness.MasterToken.Match(out) {
			t.Errorf("What the packages install: %v\n%s", err, out)
		}
		for _, other := range regexp.MustCompile(`millrace[_-](\d[\d.]*\d)`).FindAllStringSubmatch(string(text), -1) {
			if other[1] != version {
				t.Errorf("the document has a file of another version than %s: %s", version, other[0])
			}
		}
		d.Stop(t, syscall.SIGINT)
	})
	if harness.Soaking { // it compiles everything without the race detector
		t.Run("source", func(t *testing.T) {
			checkout, err := filepath.Abs("..")
			if err != nil {
				t.Fatal(err)
			}
			caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(caches), "\n")
			d := harness.NewDevEdge(t)
			d.Env = append(d.Env, "GOCACHE="+lines[0], "GOMODCACHE="+lines[1], "GOPROXY="+lines[2],
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+checkout+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/millrace/millrace")
			// The build has no time limit, so it comes first; the last command runs where it ended.
			commands, last, _ := strings.Cut(installCommands(t, "From source"), "./millrace pubsub dev")
			build := exec.Command("bash", "-ec", commands+"\npwd")
			build.Dir, build.Env, build.Stderr = t.TempDir(), d.Env, os.Stderr
			folder, err := build.Output()
			if err != nil {
				t.Fatalf("%s: %v", commands, err)
			}
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

// checkInstallCommands compares the commands of the document with those that the soaks run
// and those that are listed.
func checkInstallCommands(t *testing.T, text string) {
	t.Helper()
	list, err := os.ReadFile(notRun)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if command, reason, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(line, "#") {
			if len(strings.Fields(reason)) < 3 {
				t.Errorf("%s gives no reason for %s", notRun, command)
			}
			reasons[command] = reason
		}
	}
	var soaks strings.Builder
	for _, script := range []string{"soak.sh", "soak-package.sh", "soak-package-inside.sh"} {
		text, err := os.ReadFile("../scripts/" + script)
		if err != nil {
			t.Fatal(err)
		}
		soaks.Write(text)
	}
	listed := map[string]bool{}
	commands, blocks := 0, 0
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		var want []string
		for _, block := range regexp.MustCompile("(?ms)^```(.*?)\n(.*?)^```$").FindAllStringSubmatch(body, -1) {
			blocks++
			if block[1] != "sh" {
				t.Errorf("%s: a block of %q, which nothing runs", title, block[1])
			}
			for line := range strings.Lines(block[2]) {
				command := regexp.MustCompile(` +# .*|\n`).ReplaceAllString(line, "")
				commands++
				if strings.HasSuffix(command, `\`) {
					t.Errorf("%s: a command has more than one line: %s", title, command)
				}
				if reasons[command] != "" {
					listed[command] = true
				} else {
					want = append(want, command)
				}
			}
		}
		if len(want) == 0 {
			continue
		}
		if got := strings.Split(strings.TrimSpace(installCommands(t, title)), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s: the soaks run %q, the document has %q", title, got, want)
		}
		runner := "'" + title + "'"
		if title == "From source" {
			runner = "TestInstallCommands"
		}
		if !strings.Contains(soaks.String(), runner) {
			t.Errorf("no soak runs the commands of %s: run them, or list them in %s", title, notRun)
		}
	}
	if fences := strings.Count(text, "```"); commands < 15 || fences != 2*blocks {
		t.Errorf("of the document %d commands are read in %d blocks, and it has %d lines that begin or end a block", commands, blocks, fences)
	}
	for command := range reasons {
		if !listed[command] {
			t.Errorf("%s lists a command that the document does not have: %s", notRun, command)
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
	config, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("../scripts/version.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	version = strings.TrimSpace(string(out))
	name := func(section string) string {
		t.Helper()
		found := regexp.MustCompile(`(?ms)^` + section + `:\n.*?name_template: "(.*?)"$`).FindSubmatch(config)
		if found == nil {
			t.Fatalf(".goreleaser.yaml names no %s", section)
		}
		var name bytes.Buffer
		values := map[string]string{"ProjectName": "millrace", "Version": version, "Os": runtime.GOOS, "Arch": runtime.GOARCH}
		if err := template.Must(template.New("").Option("missingkey=error").Parse(string(found[1]))).Execute(&name, values); err != nil {
			t.Fatal(err)
		}
		return name.String()
	}
	folder, sum := name("archives"), sha256.New()
	program, err := os.Open(harness.Program)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	info, err := program.Stat()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, folder+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	compressed, err := gzip.NewWriterLevel(io.MultiWriter(archive, sum), gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	packed := tar.NewWriter(compressed)
	if err := packed.WriteHeader(&tar.Header{Name: folder + "/millrace", Mode: 0o755, Size: info.Size()}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(packed, program); err != nil {
		t.Fatal(err)
	}
	for _, closer := range []io.Closer{packed, compressed, archive} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	line := fmt.Sprintf("%x  %s.tar.gz\n%x  not-here.deb\n", sum.Sum(nil), folder, sum.Sum(nil))
	if err := os.WriteFile(filepath.Join(dir, name("checksum")), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return version
}
