package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An instruction is one of a Dockerfile, with its continued lines joined.
type instruction struct{ name, rest string }

func dockerfile(t *testing.T) (build, image []instruction) {
	t.Helper()
	content, err := os.ReadFile(top + "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(string(content), "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	var all []instruction
	for line := range strings.Lines(text) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, instruction{name, rest})
		}
	}
	last := slices.Index(all, instruction{"FROM", "scratch"})
	if last < 0 {
		t.Fatal("the image does not begin FROM scratch")
	}
	return all[:last], all[last+1:]
}

// one returns what follows the only instruction of this name.
func one(t *testing.T, list []instruction, name string) string {
	t.Helper()
	var found []string
	for _, i := range list {
		if i.name == name {
			found = append(found, i.rest)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %d times %s, want 1: %q", len(found), name, found)
	}
	return found[0]
}

func words(t *testing.T, list string) (words []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(list), &words); err != nil {
		t.Fatalf("%s: %v", list, err) // a shell would run it, and the image has none
	}
	return words
}

// What the image promises: no user root, no shell, nothing from elsewhere.
func TestDockerfile(t *testing.T) {
	build, image := dockerfile(t)
	for _, i := range slices.Concat(build, image) {
		if i.name == "ADD" || strings.Contains(i.rest, "curl ") || strings.Contains(i.rest, "wget ") {
			t.Errorf("%s %s: the image is built from this repository alone", i.name, i.rest)
		}
	}
	for _, i := range image {
		switch i.name {
		case "LABEL", "COPY", "ENV", "WORKDIR", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD":
		default:
			t.Errorf("unexpected %s %s", i.name, i.rest)
		}
	}
	user := one(t, image, "USER")
	if !regexp.MustCompile(`^[1-9][0-9]{3,}:[1-9][0-9]{3,}$`).MatchString(user) {
		t.Errorf("USER %s: Kubernetes sees by a number that it is not root", user)
	}
	volumes := words(t, one(t, image, "VOLUME"))
	for _, v := range volumes {
		if !slices.ContainsFunc(image, func(i instruction) bool {
			return i.name == "COPY" && strings.Contains(i.rest, "--chown="+user) && strings.HasSuffix(i.rest, " "+v)
		}) {
			t.Errorf("the volume %s does not belong to %s", v, user)
		}
	}
	if got := one(t, image, "ENV"); !slices.Equal(volumes, []string{"/data", "/config"}) || !strings.Contains(got, "XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config") {
		t.Errorf("volumes %q, ENV %s", volumes, got)
	}
	program := words(t, one(t, image, "ENTRYPOINT"))
	check, found := strings.CutPrefix(one(t, image, "HEALTHCHECK"), "--interval=15s --timeout=6s --start-period=30s CMD ")
	if !found || !slices.Equal(words(t, check), append(program, "pubsub", "ready")) {
		t.Errorf("HEALTHCHECK %s", check)
	}

	// The Go version is that of go.mod, and the Caddyfile uses the ports.
	goMod, err := os.ReadFile(top + "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	toolchain := regexp.MustCompile(`(?m)^toolchain go(\S+)$`).FindSubmatch(goMod)
	if from := one(t, build, "FROM"); toolchain == nil || !strings.Contains(from, " golang:"+string(toolchain[1])+"-") {
		t.Errorf("FROM %s: go.mod has %s", from, toolchain)
	}
	config, err := os.ReadFile(top + "deploy/container/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, image, "EXPOSE"); got != "80 443 443/udp 8080" || !strings.Contains(string(config), "http://:8080 {") ||
		strings.Contains(string(config), "_port ") {
		t.Errorf("EXPOSE %s, with\n%s", got, config)
	}
}
