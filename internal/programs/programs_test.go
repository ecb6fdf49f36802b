package programs

import (
	"path/filepath"
	"strings"
	"testing"
)

// What is in the folder is not built again.
func TestFolder(t *testing.T) {
	t.Setenv(Folder, "/built")
	if got, err := Build(t.TempDir(), "program", "./none"); err != nil || got != filepath.FromSlash("/built/program") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBuild(t *testing.T) {
	t.Setenv(Folder, "")
	if _, err := Build(t.TempDir(), "program", "./none"); err == nil || !strings.Contains(err.Error(), "building ./none") {
		t.Errorf("a package that is not there: got %v", err)
	}
}
