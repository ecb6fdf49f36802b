package guides

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A Terminal runs commands of documents, pasted as they stand, beside an edge of `pubsub dev`:
// only what it replaces differs, such as ports.
type Terminal struct {
	*harness.DevEdge
	Folder  string // where commands run
	Adapted *strings.Replacer
}

// OpenTerminal returns when the edge runs. It ends with the test.
func OpenTerminal(t *testing.T, adapted ...string) *Terminal {
	t.Helper()
	must(t, harness.WatchSources())
	d := harness.NewDevEdge(t)
	d.Start(t)
	d.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	return &Terminal{d, d.Home, strings.NewReplacer(append(adapted,
		"go build -o millrace ./cmd/millrace\n", "", "go run ./cmd/millrace", harness.Program, "./millrace", harness.Program,
		"localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]), "localhost:8443", fmt.Sprintf("localhost:%d", d.Ports[0]))...)}
}

// Paste is what these blocks do in a shell, which is a process group of its own.
func (x *Terminal) Paste(blocks ...string) *exec.Cmd {
	cmd := exec.Command("bash", "-ec", x.Adapted.Replace(strings.Join(blocks, "\n")))
	cmd.Dir, cmd.Env = x.Folder, x.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// StartBlocks runs blocks beside the test. It returns when they have printed text, on stdout or
// stderr. They end with the test.
func (x *Terminal) StartBlocks(t *testing.T, text string, blocks ...string) *harness.Background {
	t.Helper()
	p := x.background(t, blocks...)
	p.Await(p.Out, text)
	return p
}

func (x *Terminal) background(t *testing.T, blocks ...string) *harness.Background {
	t.Helper()
	cmd := x.Paste(append([]string{"exec 2>&1"}, blocks...)...)
	p := harness.StartBackground(t, cmd)
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // it may have ended
	return p
}

// RunBlocks returns what they print.
func (x *Terminal) RunBlocks(t *testing.T, blocks ...string) string {
	t.Helper()
	p := x.background(t, blocks...)
	if code := p.ExitCode(); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", blocks, code, p.Out)
	}
	return p.Out.String()
}
