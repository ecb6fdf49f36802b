package sdk

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	for path, begins := range map[string]string{ScriptPath: "var millrace=(", ModulePath: "export{"} {
		file := At(path)
		serve := func(method, target, tag string, acceptsGzip bool) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(method, "https://edge.example"+target, nil), httptest.NewRecorder()
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			file.Serve(w, r, acceptsGzip)
			h := w.Header()
			if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cross-Origin-Resource-Policy") != "cross-origin" ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s %s: %v", method, target, h)
			}
			return w
		}
		plain, compressed := serve("GET", path, "", false), serve("GET", path, "", true)
		sum := sha512.Sum384(plain.Body.Bytes())
		if got := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); got != file.Integrity {
			t.Errorf("%s has %s, not %s", path, got, file.Integrity)
		}
		if code := plain.Body.String(); !strings.Contains(code, begins) || plain.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%s: %v, %.200s", path, plain.Header(), code)
		}
		unpacked, err := gzip.NewReader(compressed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(got, plain.Body.Bytes()) || compressed.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s, compressed: %v, %v", path, compressed.Header(), err)
		}
		for _, acceptsGzip := range []bool{false, true} {
			tag := serve("HEAD", path, "", acceptsGzip).Header().Get("ETag")
			if got := serve("GET", path, tag, acceptsGzip); got.Code != http.StatusNotModified || serve("GET", path, tag, !acceptsGzip).Code != http.StatusOK {
				t.Errorf("%s with its entity tag: %d", path, got.Code)
			}
		}
		for target, want := range map[string]string{URL("", path): "public, max-age=31536000, immutable", path: "no-cache", path + "?v=0": "no-cache"} {
			if got := serve("GET", target, "", false).Header().Get("Cache-Control"); got != want {
				t.Errorf("%s: Cache-Control %q, want %q", target, got, want)
			}
		}
		if got := serve("POST", path, "", false); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d %v", path, got.Code, got.Header())
		}
	}
	for _, path := range []string{"/sdk", "/sdk/", "/sdk/index.js", "/SDK/millrace.js", "/sdk/%6dillrace.js"} {
		if At(path) != nil {
			t.Errorf("there is a file at %s", path)
		}
	}
}
