// Package programs builds what tests run as processes of their own.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Folder is the environment variable that names a folder with programs that are already
// built: scripts/test.sh builds there, once, the programs that the tests of several packages
// run. Whoever sets it must make sure that they are built from the current sources.
const Folder = "MILLRACE_TEST_PROGRAMS"

// Build compiles a package that is a program, and returns the program's path:
// name in dir, or the program of this name in [Folder]. flags are those of go build.
// importPath is a package of the working directory's module, or of a module that it
// requires.
func Build(dir, name, importPath string, flags ...string) (path string, err error) {
	if built := os.Getenv(Folder); built != "" {
		// Whether the program exists shows when it starts: if it were checked here, go test
		// would not cache the results of the tests.
		return filepath.Join(built, name), nil
	}
	path = filepath.Join(dir, name)
	args := slices.Concat([]string{"build"}, flags, []string{"-o", path, importPath})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", importPath, err, out)
	}
	return path, nil
}
