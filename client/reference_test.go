package client_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The examples of docs/reference/go.md compile, each in a function that has a client.
func TestReferenceCompiles(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/go.md")
	if err != nil {
		t.Fatal(err)
	}
	code := `package examples
import ("context"; "crypto/rand"; "fmt"; "log"; "os"; "github.com/millrace/millrace/client")
var _ = []any{rand.Text, fmt.Print, log.Print, os.Getenv}
`
	examples := regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Fatal("the page has no examples")
	}
	for i, example := range examples {
		code += fmt.Sprintf("func example%d(ctx context.Context, c *client.Client, options client.Options) error {\n%s", i, example[1])
		for _, names := range regexp.MustCompile(`(?m)^(\w+(?:, \w+)*) :=`).FindAllSubmatch(example[1], -1) {
			code += "_ = []any{" + string(names[1]) + "}\n" // it need not use them
		}
		code += "return nil\n}\n"
	}
	folder := t.TempDir()
	file, overlay := filepath.Join(folder, "examples.go"), filepath.Join(folder, "overlay.json")
	here, err := filepath.Abs("examples/examples.go") // there is no such folder: go build takes the file's text for one in it
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{file: code, overlay: fmt.Sprintf(`{"Replace": {%q: %q}}`, here, file)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "build", "-overlay", overlay, "./examples").CombinedOutput() //nolint:gosec // our own
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
