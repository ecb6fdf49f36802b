package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	caddyModule = "github.com/caddyserver/caddy/v2"
	quicModule  = "github.com/quic-go/quic-go"
	top         = "../../"
)

// manifest is xcaddy.json.
type manifest struct {
	CaddyVersion string `json:"caddy_version"`
	Plugins      []struct {
		Module      string `json:"module"`
		Description string `json:"description"`
	} `json:"plugins"`
	Pins map[string]string `json:"pins"`
}

// Caddy and webtransport-go work with exactly one minor version of quic-go; a
// newer one does not compile, or compiles and misbehaves.
func TestQuicGoIsTheOneCaddyRequires(t *testing.T) {
	ours := requirements(t, top+"go.mod")
	caddys := requirements(t, strings.TrimSpace(run(t, "go", "list", "-m", "-f", "{{.GoMod}}", caddyModule)))
	if ours[quicModule] == "" || ours[quicModule] != caddys[quicModule] {
		t.Errorf("go.mod requires %s %q, but Caddy %s requires %q",
			quicModule, ours[quicModule], ours[caddyModule], caddys[quicModule])
	}
}

func TestManifestAgreesWithGoMod(t *testing.T) {
	m, ours := readManifest(t), requirements(t, top+"go.mod")
	if m.CaddyVersion != ours[caddyModule] {
		t.Errorf("xcaddy.json builds Caddy %s, go.mod requires %s", m.CaddyVersion, ours[caddyModule])
	}
	if m.Pins[quicModule] == "" {
		t.Errorf("xcaddy.json does not pin %s", quicModule)
	}
	for module, version := range m.Pins {
		if version != ours[module] {
			t.Errorf("xcaddy.json pins %s %s, go.mod requires %q", module, version, ours[module])
		}
	}
}

// The example of a plugin is built and tested with what the edge is, and needs no
// module that the edge does not need.
func TestPluginAgreesWithGoMod(t *testing.T) {
	ours := requirements(t, top+"go.mod")
	for module, version := range requirements(t, top+"examples/plugin/go.mod") {
		if want, known := ours[module]; known && version != want {
			t.Errorf("examples/plugin/go.mod requires %s %s, go.mod %s", module, version, want)
		}
	}
	all := sums(t, top+"go.sum")
	for _, line := range sums(t, top+"examples/plugin/go.sum") {
		if !slices.Contains(all, line) {
			t.Errorf("examples/plugin/go.sum has what go.sum has not: %s", line)
		}
	}
}

// sums returns the lines of a go.sum.
func sums(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestManifestAgreesWithMain(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var plugins []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path, caddyModule+"/") {
			plugins = append(plugins, path)
		}
	}
	if want := readManifest(t).modules(); !slices.Equal(sorted(plugins), want) {
		t.Errorf("main.go imports the plugins %q, xcaddy.json names %q", plugins, want)
	}
}

func TestManifestAgreesWithDocs(t *testing.T) {
	page, err := os.ReadFile(top + "docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := xcaddyLines(string(page))
	if len(lines) == 0 {
		t.Fatal(`docs/install.md has no line that starts with "xcaddy build"`)
	}
	m := readManifest(t)
	for _, line := range lines {
		version, plugins := parseXcaddy(line)
		if version != m.CaddyVersion {
			t.Errorf("docs/install.md builds Caddy %q, xcaddy.json %q: %s", version, m.CaddyVersion, line)
		}
		if want := m.modules(); !slices.Equal(sorted(plugins), want) {
			t.Errorf("docs/install.md builds with %q, xcaddy.json with %q: %s", plugins, want, line)
		}
	}
}

func TestParseXcaddy(t *testing.T) {
	text := "text\n  xcaddy build v1.2.3 \\\n\t--with example.com/a@v9 \\\n\t--with=example.com/b=../b --output x\nmore --with y\n"
	lines := xcaddyLines(text)
	if len(lines) != 1 {
		t.Fatalf("got %d lines: %q", len(lines), lines)
	}
	version, plugins := parseXcaddy(lines[0])
	if version != "v1.2.3" || !slices.Equal(plugins, []string{"example.com/a", "example.com/b"}) {
		t.Errorf("got version %q, plugins %q", version, plugins)
	}
}

// xcaddyLines returns the shell commands in text that start with "xcaddy
// build", with continued lines joined.
func xcaddyLines(text string) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "xcaddy build") {
			lines = append(lines, line)
		}
	}
	return lines
}

// parseXcaddy returns the Caddy version of an xcaddy command and its plugins
// without version and replacement.
func parseXcaddy(line string) (version string, plugins []string) {
	args := strings.Fields(strings.ReplaceAll(line, "--with=", "--with "))
	for i, arg := range args {
		switch {
		case i == 2 && !strings.HasPrefix(arg, "-"):
			version = arg
		case i > 2 && args[i-1] == "--with":
			plugins = append(plugins, arg[:strings.IndexAny(arg+"@", "@=")])
		}
	}
	return version, plugins
}

func (m manifest) modules() []string {
	var modules []string
	for _, plugin := range m.Plugins {
		modules = append(modules, plugin.Module)
	}
	return sorted(modules)
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	file, err := os.Open(top + "xcaddy.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var m manifest
	dec := json.NewDecoder(file)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("xcaddy.json: %v", err)
	}
	return m
}

// requirements returns the versions that a go.mod file requires, by module.
func requirements(t *testing.T, goMod string) map[string]string {
	t.Helper()
	var parsed struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(run(t, "go", "mod", "edit", "-json", goMod)), &parsed); err != nil {
		t.Fatal(err)
	}
	versions := make(map[string]string)
	for _, r := range parsed.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out)
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
