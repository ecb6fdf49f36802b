package integration

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/programs"
)

// millrace is the path of the binary under test, and built the folder in which this
// process builds programs.
var millrace, built string

func TestMain(m *testing.M) {
	if os.Getenv(subprocessEnv) != "" { // another test runs this one
		os.Exit(m.Run())
	}
	waitTogether()
	os.Exit(buildAndRun(m))
}

// waitTogether runs more tests at a time than there are cores: most of the time
// they wait, for a drain or a broken network.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // there is such a flag
	}
}

func buildAndRun(m *testing.M) int {
	if err := useClient(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "millrace-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)

	if millrace, err = programs.Build(dir, "millrace", "../cmd/millrace", buildFlags...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	built = dir

	code := m.Run()
	if !clientOutcomes.print() && strings.Contains(flag.Lookup("test.run").Value.String(), "TestSDKs") {
		fmt.Fprintln(os.Stderr, "no scenario has this name")
		return 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// watchSources looks at every folder of the repository, once: go test keeps the
// result of these tests, does not know that they build a binary from there, and
// runs them again only when something changes that a test has looked at.
var watchSources = sync.OnceValue(func() error {
	return filepath.WalkDir("..", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			switch entry.Name() {
			case ".git", ".cache", "node_modules", "dist": // dist is what is built from the rest
				return fs.SkipDir
			}
		}
		return err
	})
})
