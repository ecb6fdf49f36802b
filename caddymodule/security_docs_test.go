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

// docs/security.md names tests, files and sections that exist.
func TestSecurityIsShown(t *testing.T) {
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllSubmatch(text, -1)
	if len(named) < 20 {
		t.Fatalf("it names %d tests", len(named))
	}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	tests := map[string]bool{}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
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
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("there is no test %s", m[1])
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
