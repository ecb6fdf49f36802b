package caddymodule

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/millrace/millrace/caddymodule/app"
)

// FuzzGlobalBlock parses what stands in the global block pubsub: it becomes a
// configuration that can be loaded, or an error without a secret.
func FuzzGlobalBlock(f *testing.F) {
	files, err := filepath.Glob("testdata/adapt/*.txt")
	if err != nil || len(files) < 20 {
		f.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		config, _, _ := strings.Cut(string(text), separator)
		if _, block, found := strings.Cut(config, "\tpubsub {\n"); found {
			block, _, _ = strings.Cut(block, "\n\t}")
			f.Add(block)
		}
	}
	f.Add("master_token MT_" + strings.Repeat("0a", 16) + "_" + strings.Repeat("5e", 16))
	f.Add("limits MT_" + strings.Repeat("0a", 16) + "_" + strings.Repeat("5e", 16))
	f.Fuzz(func(t *testing.T, block string) {
		tokens, err := caddyfile.Tokenize([]byte("pubsub {\n"+block+"\n}"), "Caddyfile")
		if err != nil {
			return // Caddy's own error
		}
		option, err := parseGlobalOption(caddyfile.NewDispenser(tokens), nil)
		if err != nil {
			if tokenShape.MatchString(err.Error()) {
				t.Errorf("the error repeats a token: %v", err)
			}
			return
		}
		config := option.(httpcaddyfile.App).Value
		var got app.App
		decoder := json.NewDecoder(bytes.NewReader(config))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil {
			t.Errorf("%s: %v", config, err)
		}
		for _, m := range got.MasterTokens {
			if tokenShape.MatchString(m.Token) {
				t.Errorf("a literal secret got into the configuration: %s", config)
			}
		}
	})
}
