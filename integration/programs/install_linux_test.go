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
	"time"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/version"
)

// Commands of docs/install.md that need no package do what it says, pasted as they stand; they
// end with millrace pubsub dev. TestInstallCommandsAreRun says who runs the others.
func TestInstallCommands(t *testing.T) {
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	packArchive(t, dir)
	checkout, err := filepath.Abs("..")
	must(t, err)
	sections := map[string]struct {
		env    []string
		prints string
	}{
		"The program": {[]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, `\.tar\.gz: OK\n(?s:.*)` + version.String() + `(?s:.*)`},
		"From source": {append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+checkout+".insteadOf",
			"GIT_CONFIG_VALUE_0=https://github.com/millrace/millrace"), ""},
	}
	if !harness.Soaking {
		delete(sections, "From source") // it compiles everything
	}
	for section, c := range sections {
		t.Run(section, func(t *testing.T) {
			commands, err := exec.Command("../scripts/install-commands.sh", section).Output()
			must(t, err)
			// Ports and folders are others here. exec: so that a signal reaches the edge.
			script := regexp.MustCompile(`(\S*millrace pubsub dev)\n$`).ReplaceAllString(string(commands), `exec $1 "$$@"`)
			script = strings.NewReplacer("sudo ", "", "/usr/local/bin/", bin+"/", "_amd64", "_"+runtime.GOARCH).Replace(script)
			d := harness.NewDevEdge(t)
			cmd := exec.Command("bash", append([]string{"-ec", script, "sh"}, d.Flags[2:]...)...)
			cmd.Dir, cmd.Env = dir, append(d.Env, c.env...)
			d.Background = harness.StartBackground(t, cmd)
			d.AwaitMatchFor(harness.AtLength(5*time.Minute, time.Hour), d.Out, regexp.MustCompile(c.prints+`Ctrl\+C stops the edge\.\n`))
			d.Stop(t, syscall.SIGINT)
		})
	}
}

// packArchive packs the binary under test as a release does, with the names of
// .goreleaser.yaml, and writes the checksums beside it.
func packArchive(t *testing.T, dir string) {
	t.Helper()
	config, _ := guides.Document(t, "../.goreleaser.yaml", "")
	config = strings.NewReplacer("{{ .ProjectName }}", "millrace", "{{ .Version }}", version.Number(),
		"{{ .Os }}", runtime.GOOS, "{{ .Arch }}", runtime.GOARCH).Replace(config)
	release := "millrace_" + version.Number() + "_"
	archive, sums := release+runtime.GOOS+"_"+runtime.GOARCH, release+"checksums.txt"
	for _, name := range []string{archive, sums} {
		if !strings.Contains(config, ` name_template: "`+name+"\"\n") {
			t.Errorf(".goreleaser.yaml has no file %s", name)
		}
	}
	pack := exec.Command("bash", "-ec", `mkdir $1 && cp "$0" $1/millrace && tar -I 'gzip -1' -cf $1.tar.gz $1 && rm -r $1
		sha256sum $1.tar.gz >$2 && echo "$(head -c 64 $2)  not-here.deb" >>$2`, harness.Program, archive, sums)
	pack.Dir = dir
	must(t, pack.Run())
}
