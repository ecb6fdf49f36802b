package examples

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The README shows the snippets as they are, in this order.
func TestReadmeSnippets(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## SDKs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for _, block := range regexp.MustCompile("(?ms)^```(?:html|js|go|python)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		got = append(got, block[1])
	}
	for _, file := range []string{
		"browser-subscribe.html", "browser-publish.html", "backend-token.mjs", "publish/main.go", "worker/main.go", "publish.py", "worker.py",
	} {
		code, err := os.ReadFile("snippets/" + file)
		if lines := strings.Count(string(code), "\n"); err != nil || lines > 34 {
			t.Errorf("%s has %d lines, %v", file, lines, err)
		}
		want = append(want, string(code))
	}
	if !slices.Equal(got, want) {
		t.Errorf("in the section SDKs the README shows\n%q\nthe snippets are\n%q", got, want)
	}
}
