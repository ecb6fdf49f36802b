package version

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

const top = "../../"

// Every place that names the version names this one.
func TestPlacesAgree(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9a-z.]+)?$`).MatchString(Number()) {
		t.Errorf("%q is not a version", Number())
	}
	for _, folder := range []string{"sdk/js", "sdk/react", "sdk/testing", "console"} {
		var manifest struct {
			Version          string
			PeerDependencies map[string]string
		}
		read(t, folder+"/package.json", &manifest)
		if peer := manifest.PeerDependencies["@millrace/client"]; folder != "sdk/js" && folder != "console" && peer != "^"+Number() {
			t.Errorf("%s/package.json: the peer @millrace/client is %q, want %q", folder, peer, "^"+Number())
		}
		var lock struct {
			Version  string
			Packages map[string]struct{ Version string }
		}
		read(t, folder+"/package-lock.json", &lock)
		for file, got := range map[string]string{
			"package.json": manifest.Version, "package-lock.json": lock.Version, "the package in package-lock.json": lock.Packages[""].Version,
		} {
			if got != Number() {
				t.Errorf("%s: %s has the version %q, want %q", folder, file, got, Number())
			}
		}
	}
	python, err := os.ReadFile(top + "sdk/python/src/millrace/_version.py")
	if err != nil || !strings.Contains(string(python), "\n__version__ = \""+Number()+"\"\n") {
		t.Errorf("sdk/python: _version.py does not have the version %q: %v", Number(), err)
	}
	changes, err := os.ReadFile(top + "CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## \[(\d[^]]*)\]`).FindStringSubmatch(string(changes))
	if heading == nil || heading[1] != Number() {
		t.Errorf("the first version in CHANGELOG.md is %q, want %q", heading, Number())
	}
	install, err := os.ReadFile(top + "docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`millrace[_-](\d[\d.]*\d)`).FindAllStringSubmatch(string(install), -1)
	if len(files) < 4 {
		t.Errorf("docs/install.md has the files %q", files)
	}
	for _, file := range files {
		if file[1] != Number() {
			t.Errorf("docs/install.md has a file of another version than %s: %s", Number(), file[0])
		}
	}
	mod, err := os.ReadFile(top + "go.mod")
	if err != nil || !strings.HasPrefix(string(mod), "module "+Module+"\n") {
		t.Errorf("go.mod is not that of %s: %v", Module, err)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(top + file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func TestRevision(t *testing.T) {
	settings := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	dependency := func(m debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main:     debug.Module{Path: "caddy"},
			Deps:     []*debug.Module{{Path: "example.com/other", Version: "v0.0.0-20260101000000-aaaaaaaaaaaa"}, &m},
			Settings: settings("vcs.revision", "somebody else's"),
		}
	}
	ours := debug.Module{Path: Module, Version: "(devel)"}
	for want, info := range map[string]*debug.BuildInfo{
		"0123abcd":       {Main: ours, Settings: settings("vcs", "git", "vcs.revision", "0123abcd", "vcs.modified", "false")},
		"0123abcd-dirty": {Main: ours, Settings: settings("vcs.modified", "true", "vcs.revision", "0123abcd")},
		"bbbbbbbbbbbb":   dependency(debug.Module{Path: Module, Version: "v0.1.1-0.20261125193623-bbbbbbbbbbbb"}),
		"cccccccccccc":   dependency(debug.Module{Path: Module, Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.0.0-20261125193623-cccccccccccc"}}),
	} {
		if got := revision(info); got != want {
			t.Errorf("revision %q, want %q", got, want)
		}
	}
	for _, info := range []*debug.BuildInfo{{Main: ours}, dependency(debug.Module{Path: Module, Version: "v0.1.0"}), {Main: ours, Settings: settings("vcs.modified", "true")}, dependency(debug.Module{Path: "none"})} {
		if got := revision(info); got != Unknown {
			t.Errorf("revision %q of a build that does not know it", got)
		}
	}
}
