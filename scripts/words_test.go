package scripts

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The documentation stays short enough to be read: all of it, without decisions, and each page
// that is not a reference.
func TestWords(t *testing.T) {
	const most, mostOfPage = 45_000, 2_500
	apart := regexp.MustCompile(`^(docs/decisions|wire/testdata)$|(^|/)(node_modules|dist|test-out|docs-out|\.[^/]+)$`)
	reference := regexp.MustCompile(`^docs/(reference/.*|configuration|protocol|errors)\.md$`)
	word := regexp.MustCompile(`\S*[A-Za-z0-9]\S*`)
	all := 0
	must(t, fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && apart.MatchString(name):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		words := len(word.FindAllString(read(t, "../"+name), -1))
		if all += words; words > mostOfPage && !reference.MatchString(name) {
			t.Errorf("%s has %d words, and may have %d: split it, or link to the page that says the rest", name, words, mostOfPage)
		}
		return nil
	}))
	if all > most || all < most/2 {
		t.Errorf("all Markdown has %d words, and may have %d: what a new page adds goes elsewhere", all, most)
	}
}
