package programs

import (
	"path/filepath"
	"strings"
	"testing"
)

// What is in the folder is not built again.
func TestFolder(t *testing.T) {
	t.Setenv(Folder, "/built")
	for path, flags := range map[string][]string{"/built/program": nil, "/built/race/program": {"-race"}} {
		if got, err := Build(t.TempDir(), "program", "./none", flags...); err != nil || got != filepath.FromSlash(path) {
			t.Errorf("with the flags %q: got %q, %v, want %q", flags, got, err, path)
		}
	}
}

func TestBuild(t *testing.T) {
	t.Setenv(Folder, "")
	if _, err := Build(t.TempDir(), "program", "./none"); err == nil || !strings.Contains(err.Error(), "building ./none") {
		t.Errorf("a package that is not there: got %v", err)
	}
}
