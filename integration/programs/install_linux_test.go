package programs

import (
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

// Commands of docs/install.md that need neither a package nor a long build do what it says,
// pasted as they stand. TestInstallCommandsAreRun says who runs the others.
func TestInstallCommands(t *testing.T) {
	t.Parallel()
	t.Run("program", func(t *testing.T) {
		dir, bin := t.TempDir(), t.TempDir()
		version := packArchive(t, dir)
		adapted := strings.NewReplacer("sudo ", "", "/usr/local/bin/", bin+"/", "_amd64", "_"+runtime.GOARCH)
		d := harness.NewDevEdge(t)
		d.Env = append(d.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		startByCommands(d, t, dir, adapted.Replace(installCommands(t, "The program")), ".tar.gz: OK\n", "Millrace "+version+",")
		d.Stop(t, syscall.SIGINT)
	})
	if harness.Soaking { // it compiles everything without the race detector
		t.Run("source", func(t *testing.T) {
			checkout, err := filepath.Abs("..")
			must(t, err)
			// The build has no time limit, so it comes first; the last command runs where it ended.
			commands, last, _ := strings.Cut(installCommands(t, "From source"), "./millrace pubsub dev")
			build := exec.Command("bash", "-ec", commands+"\npwd")
			build.Dir, build.Stderr = t.TempDir(), os.Stderr
			build.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+checkout+".insteadOf",
				"GIT_CONFIG_VALUE_0=https://github.com/millrace/millrace")
			folder, err := build.Output()
			must(t, err)
			d := harness.NewDevEdge(t)
			startByCommands(d, t, strings.TrimSpace(string(folder)), "./millrace pubsub dev"+last)
			d.Stop(t, syscall.SIGINT)
		})
	}
}

// installCommands returns the commands of a section of docs/install.md as the soaks get them.
func installCommands(t *testing.T, section string) string {
	t.Helper()
	out, err := exec.Command("../scripts/install-commands.sh", section).Output()
	must(t, err)
	return string(out)
}

// startByCommands runs commands, the last of which is millrace pubsub dev, and returns when
// they have printed words and that has started.
func startByCommands(d *harness.DevEdge, t *testing.T, dir, commands string, words ...string) {
	t.Helper()
	// Ports and folders are others here. exec: so that a signal reaches the edge.
	script := regexp.MustCompile(`(\S*millrace pubsub dev)\n$`).ReplaceAllString(commands, `exec $1 "$$@"`)
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
	const archive, sums = "{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}", "{{ .ProjectName }}_{{ .Version }}_checksums.txt"
	for _, name := range []string{archive, sums} {
		if !strings.Contains(config, ` name_template: "`+name+"\"\n") {
			t.Errorf(".goreleaser.yaml has no file %s", name)
		}
	}
	named := strings.NewReplacer("{{ .ProjectName }}", "millrace", "{{ .Version }}", version, "{{ .Os }}", runtime.GOOS, "{{ .Arch }}", runtime.GOARCH)
	pack := exec.Command("bash", "-ec", `mkdir $1 && cp "$0" $1/millrace && tar -I 'gzip -1' -cf $1.tar.gz $1 && rm -r $1
		sha256sum $1.tar.gz >$2 && echo "$(head -c 64 $2)  not-here.deb" >>$2`, harness.Program, named.Replace(archive), named.Replace(sums))
	pack.Dir = dir
	must(t, pack.Run())
	return version
}
