package caddymodule

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// All edges that an app may meet are alike to it: that of `pubsub dev`, that of `pubsub caddyfile`,
// which is README's, and the Caddyfiles that we deliver. Places, hosts and tokens differ.
func TestSameEdge(t *testing.T) {
	text := func(file string) string {
		content, err := os.ReadFile("../" + file)
		must(t, err)
		return string(content)
	}
	templates := template.Must(template.ParseGlob("command/*.Caddyfile"))
	executed := func(name string) string {
		var text strings.Builder
		must(t, templates.ExecuteTemplate(&text, name, map[string]any{
			"Program": "millrace", "Site": "edge.example.com", "Admin": "off", "Bind": "127.0.0.1", "HTTPPort": 8080, "HTTPSPort": 8443,
			"Storage": "/a", "Log": "/b", "Tokens": "/c", "Histories": "/d", "Operator": "dev", "Hash": "x",
		}))
		return strings.ReplaceAll(text.String(), "\tpubsub_demo\n", "") // only the command registers it
	}
	production := executed("production.Caddyfile")
	if readme := regexp.MustCompile("(?s)\n## A public edge\n.*?\n```\n(.*?)```\n").FindStringSubmatch(text("README.md")); readme == nil || readme[1] != production {
		t.Errorf("README's public edge is not what `pubsub caddyfile edge.example.com` prints:\n%s", production)
	}
	want := appOf(t, "production.Caddyfile", production)
	if want["bandwidth"] == nil || want["histories"] == nil || want["presences"] == nil {
		t.Fatalf("production.Caddyfile has %v", want)
	}
	dev := appOf(t, "dev.Caddyfile", executed("dev.Caddyfile"))
	for _, place := range []string{"token_store", "master_tokens"} {
		delete(want, place)
		delete(dev, place)
	}
	if !reflect.DeepEqual(dev, want) {
		t.Errorf("dev.Caddyfile has\n%v\nproduction.Caddyfile\n%v", dev, want)
	}
	delivered := map[string]string{}
	for _, file := range []string{"Caddyfile.example", "packaging/Caddyfile", "deploy/container/Caddyfile"} {
		delivered[file] = text(file)
	}
	lines := regexp.MustCompile(`(?s)\n  pubsub: \|\n(.*?)\n  site:`).FindStringSubmatch(text("deploy/chart/millrace/values.yaml"))
	delivered["the chart"] = "{\npubsub {\nhistory_store badger\n" + lines[1] + "\n}\n}\n"
	for file, caddyfile := range delivered {
		got := appOf(t, file, caddyfile)
		for _, option := range []string{"bandwidth", "history_store", "histories", "presences"} {
			if !reflect.DeepEqual(got[option], want[option]) {
				t.Errorf("%s: %s is %v, in production.Caddyfile %v", file, option, got[option], want[option])
			}
		}
	}
}

// appOf returns the app of a Caddyfile, without paths.
func appOf(t *testing.T, name, caddyfile string) map[string]any {
	t.Helper()
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": name})
	must(t, err)
	var parsed struct {
		Apps struct {
			Pubsub map[string]any `json:"pubsub"`
		} `json:"apps"`
	}
	must(t, json.Unmarshal(config, &parsed))
	app := parsed.Apps.Pubsub
	if store, ok := app["history_store"].(map[string]any); ok {
		delete(store, "path")
	}
	if bandwidth, ok := app["bandwidth"].(map[string]any); ok && bandwidth["max"] == 16384.0 {
		delete(bandwidth, "max") // the default
	}
	return app
}
