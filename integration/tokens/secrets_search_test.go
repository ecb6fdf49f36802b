package tokens

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/millrace/millrace/integration/harness"
)

// places collects the outputs of a running edge.
func (w *watched) places() map[string]string {
	w.T.Helper()
	places := map[string]string{}
	for path, proof := range map[string]string{
		"/config/":                       "pubsub",
		"/metrics":                       "caddy_http_requests_total",
		"/debug/vars":                    "cmdline",
		"/debug/pprof/cmdline":           "run",
		"/debug/pprof/goroutine?debug=2": "goroutine",
		"/pubsub/master-tokens":          "master_tokens",
		"/pubsub/tokens":                 "token_id",
		"/pubsub/connections":            "connections",
	} {
		got := w.Do(harness.Call{Method: "GET", URL: w.AdminURL(path)})
		if got.Status != 200 || !bytes.Contains(got.Body, []byte(proof)) {
			w.T.Errorf("admin %s: got %d without %q", path, got.Status, proof)
		}
		places["admin "+path] = string(got.Body)
	}
	for what, a := range w.answers {
		var text strings.Builder
		if err := a.Header.Write(&text); err != nil {
			w.T.Fatal(err)
		}
		places["the answer to "+what] = text.String() + string(a.Body)
	}
	return places
}

// files reads all files in the edge's folder except that of the secret.
func (w *watched) files() map[string]string {
	w.T.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "from.file" {
			return err
		}
		content, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, w.Dir)] = string(content)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	for _, name := range []string{"/config/caddy/autosave.json", "/everything.log"} {
		if !strings.Contains(files[name], "pubsub") {
			w.T.Errorf("there is no %s to search", name)
		}
	}
	return files
}
