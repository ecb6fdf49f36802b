package integration

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// findSecret returns the surroundings of a secret, in plain text or in any
// percent-encoding, or "".
func findSecret(text, secret string) string { return findIn(layers(text), secret) }

// layers returns a text unchanged and with its percent-encodings decoded.
func layers(text string) []string {
	var all []string
	for range 3 {
		all = append(all, strings.ToLower(text))
		if !percent.MatchString(text) {
			break
		}
		text = percent.ReplaceAllStringFunc(text, func(code string) string {
			c, err := strconv.ParseUint(code[1:], 16, 8)
			if err != nil { // the expression allows no such thing
				return code
			}
			return string(rune(c))
		})
	}
	return all
}

func findIn(layers []string, secret string) string {
	for _, text := range layers {
		if at := strings.Index(text, secret); at >= 0 {
			line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:at], '\n')+1:], "\n")
			return line
		}
	}
	return ""
}

var percent = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// places collects the outputs of a running edge.
func (w *watched) places() map[string]string {
	w.t.Helper()
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
		got := w.do(call{Method: "GET", URL: w.adminURL(path)})
		if got.Status != 200 || !bytes.Contains(got.Body, []byte(proof)) {
			w.t.Errorf("admin %s: got %d without %q", path, got.Status, proof)
		}
		places["admin "+path] = string(got.Body)
	}
	for what, a := range w.answers {
		var text strings.Builder
		if err := a.Header.Write(&text); err != nil {
			w.t.Fatal(err)
		}
		places["the answer to "+what] = text.String() + string(a.Body)
	}
	return places
}

// files reads all files in the edge's folder except that of the secret.
func (w *watched) files() map[string]string {
	w.t.Helper()
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
		w.t.Fatal(err)
	}
	for _, name := range []string{"/config/caddy/autosave.json", "/everything.log"} {
		if !strings.Contains(files[name], "pubsub") {
			w.t.Errorf("there is no %s to search", name)
		}
	}
	return files
}
