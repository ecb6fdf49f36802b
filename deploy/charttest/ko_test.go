package charttest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// .ko.yaml has the fields of ko that it uses, and builds what the Dockerfile builds.
func TestKo(t *testing.T) {
	content, err := os.ReadFile("../../.ko.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		DefaultPlatforms []string `json:"defaultPlatforms"`
		Builds           []struct {
			ID, Main            string
			Env, Flags, Ldflags []string
		}
	}
	if err := yaml.UnmarshalStrict(content, &config); err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	b := config.Builds[0]
	line := strings.Join(slices.Concat([]string{"go build"}, b.Flags, []string{`-ldflags="` + strings.Join(b.Ldflags, " ") + `"`}), " ")
	if !strings.Contains(string(dockerfile), line+" ") ||
		!slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Equal(config.DefaultPlatforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("%+v; the Dockerfile should have %s", config, line)
	}
}
