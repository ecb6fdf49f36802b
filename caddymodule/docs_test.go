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

// Each promise of docs/security.md has tests in testdata/promises.txt, and no other one has. The
// tests and files that are named there and in testdata/platforms.txt exist.
func TestSecurityIsShown(t *testing.T) {
	exists := testsOf(t, "..")
	soaks, err := os.ReadFile("../scripts/soak.sh")
	if err != nil {
		t.Fatal(err)
	}
	shown := func(file string) (names []string) {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.TrimSpace(string(text))) {
			switch {
			case strings.HasPrefix(line, "#"):
			case !strings.HasPrefix(line, "\t"):
				names = append(names, strings.TrimSpace(line))
			default:
				for _, name := range strings.Fields(line) {
					_, err := os.Stat(filepath.Join("..", name))
					soak, isSoak := strings.CutPrefix(name, "soak:")
					if !exists[name] && err != nil && (!isSoak || !strings.Contains(string(soaks), "\nsoak_"+soak+"()")) {
						t.Errorf("%s: %s does not exist", file, name)
					}
				}
			}
		}
		if entries := regexp.MustCompile(`(?m)^[^\t#].*\n\t`).FindAll(text, -1); len(names) < 20 || len(entries) != len(names) {
			t.Errorf("%s has %d names, %d of them with tests", file, len(names), len(entries))
		}
		return names
	}
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, promises, _ := strings.Cut(string(page), "\n## What an edge promises\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	var promised []string
	for _, m := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\*`).FindAllStringSubmatch(promises, -1) {
		promised = append(promised, m[1])
	}
	if tested := shown("promises.txt"); !slices.Equal(promised, tested) {
		t.Errorf("docs/security.md promises\n%q\ntestdata/promises.txt has tests for\n%q", promised, tested)
	}
	shown("platforms.txt")
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
