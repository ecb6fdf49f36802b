package harness

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/programs"
)

// Program is the path of the binary under test, and Built the folder in which this
// process builds programs.
var Program, Built string

// Main is TestMain of a package of tests. The tests run in the folder integration, which
// has their data; Main builds the binary first, and at the end looks for goroutines that
// the tests have left.
func Main(m *testing.M) { os.Exit(Run(m, nil)) }

// Run is Main for a package that has something to set up, in the folder integration. It
// returns the exit code.
func Run(m *testing.M, setUp func() error) int {
	err := os.Chdir("..")
	waitTogether()
	if err == nil {
		Built, err = os.MkdirTemp("", "millrace-integration-")
		defer os.RemoveAll(Built)
	}
	if err == nil && setUp != nil {
		err = setUp()
	}
	if err == nil {
		Program, err = programs.Build(Built, "millrace", "../cmd/millrace")
	}
	code := 1
	if err == nil {
		code = m.Run()
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
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

// WatchSources looks at every folder of the repository, once: go test keeps the
// result of these tests, does not know that they build a binary from there, and
// runs them again only when something changes that a test has looked at. It does not know, either,
// that Main has changed the folder: paths must be absolute.
var WatchSources = sync.OnceValue(func() error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			switch entry.Name() {
			case ".git", ".cache", "node_modules", "dist": // dist is what is built from the rest
				return fs.SkipDir
			}
		}
		return err
	})
})
