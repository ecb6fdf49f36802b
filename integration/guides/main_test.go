package guides

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// everyPage is true when each page has its test.
const everyPage = false

// Each page whose blocks a reader runs is opened by a test of ./integration. [Open] fails a
// test that does not run all of its blocks.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	must(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".venv") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, "_test.go") {
			code, failed := os.ReadFile(path)
			tests.Write(code)
			err = failed
		}
		return err
	}))
	pages := []string{"../README.md"}
	for _, folder := range []string{"quickstart", "how-to"} {
		found, err := filepath.Glob("../docs/" + folder + "/*.md")
		must(t, err)
		pages = append(pages, found...)
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		must(t, err)
		name := strings.TrimPrefix(page, "../")
		if everyPage && len(Parse(string(content))) > 0 && !strings.Contains(tests.String(), name+`"`) {
			t.Errorf("no test opens %s", name)
		}
	}
}
