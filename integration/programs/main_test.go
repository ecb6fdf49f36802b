// Package programs tests what people start: examples, the README, packages, commands.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A terminal runs commands of documents, pasted as they stand, beside an edge of `pubsub dev`:
// only the ports and the program's path are others here.
type terminal struct {
	*harness.DevEdge
	dir     string // where commands run
	adapted *strings.Replacer
}

// openTerminal returns when the edge runs. It ends with the test.
func openTerminal(t *testing.T, adapted ...string) *terminal {
	t.Helper()
	d := harness.NewDevEdge(t)
	d.Start(t)
	d.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	return &terminal{d, d.Home, strings.NewReplacer(append(adapted,
		"go build -o millrace ./cmd/millrace\n", "", "go run ./cmd/millrace", harness.Program, "./millrace", harness.Program,
		"localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]), "localhost:8443", fmt.Sprintf("localhost:%d", d.Ports[0]))...)}
}

// paste is what these blocks do in a shell.
func (x *terminal) paste(blocks ...string) *exec.Cmd {
	cmd := exec.Command("bash", "-ec", x.adapted.Replace(strings.Join(blocks, "\n")))
	cmd.Dir, cmd.Env = x.dir, x.Env
	return cmd
}

// start runs blocks beside the test. It returns when they have printed text, on stdout or stderr.
func (x *terminal) start(t *testing.T, text string, blocks ...string) *harness.Background {
	t.Helper()
	p := harness.StartBackground(t, x.paste(append([]string{"exec 2>&1"}, blocks...)...))
	p.Await(p.Out, text)
	return p
}

// run returns what they print.
func (x *terminal) run(t *testing.T, blocks ...string) string {
	t.Helper()
	p := x.start(t, "", blocks...)
	if code := p.ExitCode(); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", blocks, code, p.Out)
	}
	return p.Out.String()
}

var must = testcheck.Must

// document reads a file, and its blocks of code in a language.
func document(t *testing.T, path, language string) (text string, blocks []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content), blocksOf(string(content), language)
}

func blocksOf(text, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?ms)^```(.*?)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if block[1] == language {
			blocks = append(blocks, block[2])
		}
	}
	return blocks
}
