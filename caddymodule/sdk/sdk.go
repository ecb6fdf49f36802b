// Package sdk has the SDK for JavaScript as files that an edge serves: one to load with a script
// tag, and one to import. `npm run embed` in sdk/js makes them.
package sdk

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore/rest"
)

// Where the files are.
const (
	ScriptPath = "/sdk/millrace.js"  // a classic script, with the global millrace
	ModulePath = "/sdk/millrace.mjs" // an ES module
)

var (
	//go:embed millrace.js
	script []byte
	//go:embed millrace.mjs
	module []byte
)

var files = map[string]*File{ScriptPath: newFile(script), ModulePath: newFile(module)}

// A File is one of them. It does not change, and may be used concurrently.
type File struct {
	// Integrity is for the attribute integrity of a script tag: `sha384-…`.
	Integrity string
	// Version changes with the file. It is the value of the parameter v with which caches keep the
	// file for good.
	Version string

	plain      []byte
	compressed func() []byte
}

func newFile(plain []byte) *File {
	strong, sum := sha512.Sum384(plain), sha256.Sum256(plain)
	return &File{
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(strong[:]), Version: hex.EncodeToString(sum[:8]),
		plain: plain, compressed: sync.OnceValue(func() []byte { return compress(plain) }),
	}
}

func compress(plain []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is legal
	_, _ = w.Write(plain)                                 // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// At returns the file at a path, which is compared exactly; nil: there is none.
func At(path string) *File { return files[path] }

// URL returns where a file is for pages that name its [File.Integrity]: an edge of another version
// has it at another URL, so that no cache answers with an older one.
func URL(origin, path string) string { return origin + path + "?v=" + files[path].Version }

// Serve answers GET and HEAD, also of pages elsewhere; acceptsGzip says whether it may compress.
func (f *File) Serve(w http.ResponseWriter, r *http.Request, acceptsGzip bool) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Add("Vary", "Accept-Encoding")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		rest.WriteProblem(w, rest.Problem{Status: http.StatusMethodNotAllowed, Code: string(rest.CodeMethodNotAllowed), Detail: "allowed: GET, HEAD"})
		return
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "no-cache") // revalidate; the entity tag saves the transfer
	if r.URL.Query().Get("v") == f.Version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, tag := f.plain, f.Version
	if acceptsGzip {
		body, tag = f.compressed(), f.Version+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
