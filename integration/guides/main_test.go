package guides

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) {
	code := harness.Run(m, nil)
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		if err := openedAll(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// openedAll says which page with blocks no test has opened, here or, by its name, in another
// package. [Open] fails a test that does not run all blocks of its page.
func openedAll() error {
	var others strings.Builder
	for _, folder := range []string{".", "../deploy/charttest"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch name := entry.Name(); {
			case err != nil:
			case name == "node_modules" || name == ".venv" || path == "guides":
				return fs.SkipDir
			case strings.HasSuffix(name, "_test.go"):
				code, failed := os.ReadFile(path)
				others.Write(code)
				err = failed
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	pages, err := filepath.Glob("../docs/*/*.md")
	if err != nil {
		return err
	}
	for _, page := range append(pages, "../README.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(page, "../")
		_, here := opened.Load(name)
		guide := !strings.HasPrefix(name, "docs/") || strings.Contains(name, "/quickstart/") || strings.Contains(name, "/how-to/")
		if guide && !here && len(Parse(string(content))) > 0 && !strings.Contains(others.String(), name+`"`) {
			return fmt.Errorf("no test opens %s, whose blocks readers run", name)
		}
	}
	return nil
}
