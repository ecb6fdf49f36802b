package demo

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed page
var page embed.FS

// contentTypes replaces the type table of the machine, which may be wrong about .js: with
// nosniff the page would not run then.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// pages are the paths of the pages; all other files are below OldPath by their names.
var pages = map[string]string{"page/index.html": PagePath, "page/explore.html": ExplorePath}

// file is one answer, ready to send.
type file struct {
	contentType, etag string
	data              []byte
}

// files returns the files of the pages, by their paths.
func files() map[string]file {
	served := map[string]file{}
	err := fs.WalkDir(page, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := page.ReadFile(name)
		at, isPage := pages[name]
		if !isPage {
			at = OldPath + strings.TrimPrefix(name, "page")
		}
		sum := sha256.Sum256(data)
		served[at] = file{contentTypes[path.Ext(name)], `"` + hex.EncodeToString(sum[:16]) + `"`, data}
		return err
	})
	if err != nil {
		panic("demo: the embedded files cannot be read: " + err.Error())
	}
	return served
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache") // revalidate; the entity tag saves the transfer
	header.Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}
