package caddymodule

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/security.md and docs/where-it-runs.md name tests, files and sections that exist.
func TestSecurityIsShown(t *testing.T) {
	tests := testsOf(t, "..")
	for _, page := range []string{"security.md", "where-it-runs.md"} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllSubmatch(text, -1)
		if len(named) < 10 {
			t.Fatalf("%s names %d tests", page, len(named))
		}
		for _, m := range named {
			if !tests[string(m[1])] {
				t.Errorf("%s: there is no test %s", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`((?:sdk|scripts)/[^` ]+)`").FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", string(m[1]))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`).FindAllSubmatch(text, -1) {
			target, err := os.ReadFile(filepath.Join("../docs", string(m[1])))
			if err != nil {
				t.Error(err)
				continue
			}
			heading := strings.ReplaceAll(strings.TrimPrefix(string(m[2]), "#"), "-", " ")
			if heading != "" && !regexp.MustCompile(`(?mi)^#+ `+regexp.QuoteMeta(heading)+`$`).Match(target) {
				t.Errorf("%s has no section %q", m[1], heading)
			}
		}
	}
}

// docs/errors.md has a section for each code that a client may see: errors link to it.
func TestErrorsAreDocumented(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	codes := map[string]bool{}
	for path, forms := range map[string][]string{
		"docs/protocol.md":           {"(?m)^\\| `ERR:([a-z_]+)"},
		"tokenstore/rest/problem.go": {`Code += "([a-z_]+)"`},
		"client/errors.go":           {`Code += "([a-z_]+)"`, `Code: "([a-z_]+)"`},
		"sdk/js/src/errors.ts":       {`(?m)^ +\| "([a-z_]+)"`},
	} {
		found := false
		for _, form := range forms {
			for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(read(path), -1) {
				codes[m[1]], found = true, true
			}
		}
		if !found {
			t.Errorf("%s has no codes", path)
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| \d[^|]*\|[^|]*\|([^|]*)\|`).FindAllStringSubmatch(read("docs/protocol.md"), -1) { // of refusals
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			codes[m[1]] = true
		}
	}
	page := read("docs/errors.md")
	for code := range codes {
		if !strings.Contains(page, "\n### `"+code+"`\n") {
			t.Errorf("docs/errors.md has no section %q", code)
		}
	}
}

// testsOf are the names of the tests in Go in a folder and below.
func testsOf(t *testing.T, root string) map[string]bool {
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", ".cache", "clients"}, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
