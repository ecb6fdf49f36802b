// Package pictures takes the pictures of the documents from the real pages, in Chromium. What it
// drives is tested in the packages browsers and console; only scripts/pictures.sh runs it.
package pictures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

var must = testcheck.Must

func TestMain(m *testing.M) { harness.Main(m) }

// folder is where the pictures go, as PNG; scripts/pictures.py makes the documents' files from them.
func folder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("MILLRACE_PICTURES")
	if folder == "" {
		t.Skip("make pictures runs this")
	}
	return folder
}

// A film is a moving picture: its frames, and how long each is shown, whatever time passed while it was made.
type film struct {
	page   browser.Tab
	folder string
	frames []frame
}

type frame struct {
	File string `json:"file"`
	MS   int    `json:"ms"`
}

// show adds what the page shows now, for some ms.
func (f *film) show(ms int) {
	f.page.T.Helper()
	file := fmt.Sprintf("%03d.png", len(f.frames))
	f.page.Act("picture", harness.Object{"path": filepath.Join(f.folder, file)})
	f.frames = append(f.frames, frame{file, ms})
}

// end writes the list of the frames beside them.
func (f *film) end() {
	list, err := json.Marshal(f.frames)
	must(f.page.T, err)
	must(f.page.T, os.WriteFile(filepath.Join(f.folder, "frames.json"), list, 0o600))
}
