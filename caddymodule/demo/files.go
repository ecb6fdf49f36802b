package demo

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
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
}

// file is one answer, ready to send.
type file struct {
	contentType, etag string
	data              []byte
}

// files returns the files of the page, by their paths.
func files() map[string]file {
	entries, err := page.ReadDir("page")
	if err != nil {
		panic("demo: the embedded folder is missing: " + err.Error())
	}
	served := make(map[string]file, len(entries))
	for _, entry := range entries {
		data, err := page.ReadFile("page/" + entry.Name())
		if err != nil {
			panic("demo: an embedded file cannot be read: " + err.Error())
		}
		sum := sha256.Sum256(data)
		at := PagePath + "/" + entry.Name()
		if entry.Name() == "index.html" {
			at = PagePath
		}
		served[at] = file{contentTypes[path.Ext(entry.Name())], `"` + hex.EncodeToString(sum[:16]) + `"`, data}
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
