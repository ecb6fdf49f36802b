package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The code of docs/recipes.md does what the page says.
func TestRecipes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	driver, err := os.ReadFile("clients/recipes.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for _, block := range regexp.MustCompile("(?s)```js\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		program.WriteString(block[1])
	}
	program.Write(driver)

	d := harness.NewDevEdge(t)
	d.Start(t)
	create := exec.Command(harness.Program, "pubsub", "master-token", "create", "--name", "recipes", "--tenant-prefix", "demo", "--quiet")
	create.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	master, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	modules, err := filepath.Abs("clients/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "recipes.mjs")
	code := strings.ReplaceAll(program.String(), "localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]))
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", file)
	node.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+strings.TrimSpace(string(master)))
	b := harness.StartBackground(t, node)
	if code := b.ExitCode(); code != 0 {
		t.Fatalf("exit code %d after %q; stderr:\n%s", code, b.Out, b.Err)
	}
	want := []string{"sender", "read-only", "rights", "presence", "kicked"}
	if got := strings.Fields(b.Out.String()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	d.Stop(t, syscall.SIGTERM)
}
