package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"

	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore/rest"
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

const (
	indexFile = "/index.html"
	// basePlaceholder stands there for the path of the console.
	basePlaceholder = "{{base}}"
)

// serveFile answers GET and HEAD of the page, name "", and of its files.
func (c *Console) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	file := name
	if name == "" {
		file = indexFile
	}
	data, err := page.ReadFile("page" + file)
	switch {
	case err != nil || name == indexFile: // the page has one address
		problem.Write(w, http.StatusNotFound, string(rest.CodeNotFound), "there is nothing at this path; paths are exact, without a trailing slash")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		problem.Write(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: GET, HEAD")
		return
	}
	if name == "" {
		data = bytes.ReplaceAll(data, []byte(basePlaceholder), []byte(c.Path))
	}
	sum := sha256.Sum256(data)
	w.Header().Set("Content-Type", contentTypes[path.Ext(file)])
	w.Header().Set("Cache-Control", "no-cache") // revalidate; the entity tag saves the transfer
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
