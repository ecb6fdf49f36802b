// Package openapi serves the description of the token administration: an
// OpenAPI 3.1 document, and Swagger UI as the page that shows it. All files are
// embedded, and the page loads nothing from other hosts (docs/protocol.md, REST).
//
// The folder ui holds our page and, unchanged, files of the official
// distribution of Swagger UI with their licences; scripts/update-swagger-ui.sh
// refreshes those.
package openapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/millrace/millrace/tokenstore/rest"
)

// Where the document and its page are.
const (
	DocumentPath = "/api-docs/openapi.json"
	PagePath     = "/swagger-ui" // the page's files are below it
)

//go:embed openapi.json
var document []byte

//go:embed ui
var ui embed.FS

// contentSecurityPolicy lets the page load and call only what this edge serves. Images
// may be data: URLs because the style sheet has its icons in them. There is no exception for inline styles or scripts.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one answer, ready to send.
type file struct {
	contentType string
	etag        string
	data        []byte
}

// Handler serves [DocumentPath], [PagePath] and the files below it for GET and HEAD. It
// answers other methods with 405 and other paths with 404. Paths are exact.
func Handler() http.Handler {
	files := map[string]file{DocumentPath: newFile(document, "application/json")}
	entries, err := fs.ReadDir(ui, "ui")
	if err != nil {
		panic("openapi: the embedded folder is missing: " + err.Error())
	}
	for _, entry := range entries {
		data, err := ui.ReadFile("ui/" + entry.Name())
		if err != nil {
			panic("openapi: an embedded file cannot be read: " + err.Error())
		}
		if entry.Name() == "index.html" {
			files[PagePath] = newFile(data, "text/html; charset=utf-8")
			continue
		}
		files[PagePath+"/"+entry.Name()] = newFile(data, contentTypeOf(entry.Name()))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, files)
	})
}

func newFile(data []byte, contentType string) file {
	sum := sha256.Sum256(data)
	return file{contentType, `"` + hex.EncodeToString(sum[:16]) + `"`, data}
}

// contentTypeOf does not use the type table of the machine, which may be wrong about .js:
// with nosniff the page would not run then.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".png":
		return "image/png"
	default:
		return "text/plain; charset=utf-8"
	}
}

func serve(w http.ResponseWriter, r *http.Request, files map[string]file) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	f, found := files[r.URL.EscapedPath()]
	if !found {
		refuse(w, rest.CodeNotFound, "there is nothing at this path; paths are exact, without a trailing slash")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		refuse(w, rest.CodeMethodNotAllowed, "allowed: GET, HEAD")
		return
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-cache") // revalidate; the entity tag saves the transfer
	h.Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}

func refuse(w http.ResponseWriter, code rest.Code, detail string) {
	rest.WriteProblem(w, rest.Problem{Status: rest.Status[code], Detail: detail, Code: string(code)})
}
