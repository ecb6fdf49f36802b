package plugin

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// A build that imports this package has both modules.
func TestRegistration(t *testing.T) {
	for _, id := range []string{"pubsub.hooks.office_hours", "pubsub.brokers.unix"} {
		if _, err := caddy.GetModule(id); err != nil {
			t.Error(err)
		}
	}
}

// The Go code in docs/extending.md stands in this module, so it compiles.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range append(files, "store_test.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	doc, err := os.ReadFile("../../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 4 {
		t.Errorf("docs/extending.md has %d blocks of Go", len(blocks))
	}
	for _, block := range blocks {
		for _, part := range strings.Split(block[1], "\n\n") {
			if part = strings.TrimSpace(part); !strings.Contains(code.String(), part+"\n") {
				t.Errorf("docs/extending.md has what no file here has:\n%s", part)
			}
		}
	}
}
