package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
)

// The README's tour does what the README says.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	text, _ := guides.Document(t, "../README.md", "")
	_, tour, _ := strings.Cut(text, "\n## Five-minute tour\n")
	tour, _, _ = strings.Cut(tour, "\n## ")
	commands, outputs := blocksOf(tour, "sh"), blocksOf(tour, "")
	if len(commands) != 5 || len(outputs) != 3 {
		t.Fatalf("the tour has %d blocks of commands and %d of what they print: the test knows 5 and 3", len(commands), len(outputs))
	}
	issue, subscribe, publish, refused, revoke := commands[0], commands[1], commands[2], commands[3], commands[4]
	// printed compares with a block of the README, in which … stands for anything.
	printed := func(got, block string) {
		t.Helper()
		want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(block)), "…", ".+")
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got) {
			t.Errorf("printed\n%s\nthe README says\n%s", got, block)
		}
	}
	x := guides.OpenTerminal(t, "/tmp/tour.json", filepath.Join(t.TempDir(), "tour.json"))
	printed(x.RunBlocks(t, issue), outputs[0])
	subscriber := x.StartBlocks(t, "OK:SUB:demo.room:news.#", subscribe)
	out := x.RunBlocks(t, publish, refused, revoke)
	if n := strings.Count(out, "\nrefused\n"); n != 2 {
		t.Errorf("refused %d times, want 2:\n%s", n, out)
	}
	printed(out, outputs[2])
	subscriber.ExitCode()
	printed(subscriber.Out.String(), outputs[1])
	if got := subscriber.Out.String(); !strings.Contains(got, "token_revoked") || !strings.Contains(got, "4403") {
		t.Errorf("after the revocation the subscriber prints %s", got)
	}
}

func blocksOf(text, language string) (blocks []string) {
	for _, b := range guides.Parse(text) {
		if b.Language == language {
			blocks = append(blocks, b.Text)
		}
	}
	return blocks
}

// The code of docs/recipes.md does what the page says.
func TestRecipes(t *testing.T) {
	t.Parallel()
	_, program := guides.Document(t, "../docs/recipes.md", "js")
	driver, _ := guides.Document(t, "clients/recipes.mjs", "")
	x := guides.OpenTerminal(t)
	modules, err := filepath.Abs("clients/node_modules")
	must(t, err)
	code := x.Adapted.Replace(strings.Join(program, "") + driver)
	must(t, os.WriteFile(filepath.Join(x.Folder, "recipes.mjs"), []byte(code), 0o600))
	out := x.RunBlocks(t, "export MILLRACE_MASTER_TOKEN=$(./millrace pubsub master-token create --name recipes --tenant-prefix demo --quiet)",
		"ln -s "+modules+" . && node recipes.mjs")
	if got, want := strings.Fields(out), []string{"sender", "read-only", "rights", "presence", "kicked"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A Caddy with examples/plugin says Millrace's version and takes the example's Caddyfile.
// The plugin's own tests have what its hook and its broker do.
func TestPlugin(t *testing.T) {
	t.Parallel()
	program, err := harness.BuildPlugin()
	must(t, err)
	cmd := exec.Command("bash", "-ec", `"$0" validate --config ../examples/plugin/Caddyfile --adapter caddyfile >&2; "$0" version`, program)
	cmd.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+harness.NewMasterToken(), "EDGE_FOLDER="+t.TempDir(),
		"XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(t, err)
	harness.WantVersion(t, string(out))
}
