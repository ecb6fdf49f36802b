package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// exampleEdge is an edge of `pubsub dev` with a copy of the examples in which
// only the ports are others: those of the edge, and that of the backend.
type exampleEdge struct {
	*harness.DevEdge
	root    string // has examples/ and sdk/
	backend string // its origin
	blocks  []string
	adapted *strings.Replacer
}

// startExamples returns when the edge runs and the Go examples are built.
func startExamples(t *testing.T) *exampleEdge {
	t.Helper()
	if err := harness.WatchSources(); err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{"../sdk/js/dist/index.js", "../examples/node_modules/@millrace/client"} {
		if _, err := os.Stat(needed); err != nil {
			t.Fatalf("the SDK is not built (%v): run scripts/install-test-deps.sh", err)
		}
	}
	e := &exampleEdge{DevEdge: harness.NewDevEdge(t), root: t.TempDir()}
	e.Start(t)
	t.Cleanup(func() { e.Stop(t, syscall.SIGTERM) })
	e.Env = append(e.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", e.Ports[2]))
	e.backend = fmt.Sprintf("http://localhost:%d", loopback.FreePort(t))
	ports := strings.NewReplacer("http://localhost:8080", fmt.Sprintf("http://localhost:%d", e.Ports[1]),
		"localhost:3000", strings.TrimPrefix(e.backend, "http://"))
	e.copyExamples(t, ports)
	built := e.build(t)
	python, err := filepath.Abs("clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	e.adapted = strings.NewReplacer(append([]string{
		"go run ./cmd/millrace", harness.Program, "examples/python/.venv/bin/python", "exec " + python,
		"python3 examples/", "exec " + python + " examples/",
	}, built...)...)

	text, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		e.blocks = append(e.blocks, block[1])
	}
	if len(e.blocks) != blocks {
		t.Fatalf("examples/README.md has %d blocks: the test knows %d", len(e.blocks), blocks)
	}
	return e
}

// The blocks of examples/README.md after the first, which builds the SDK.
const (
	masterBlock = iota + 1
	backendGoBlock
	backendNodeBlock
	workersBlock
	workerBlock
	publishBlock
	pythonWorkerBlock
	pythonPublishBlock
	_ // installs the SDK for Python
	_ // builds the page of the next
	streamingBlock
	pythonWorkersBlock
	_ // the notebook, which the soak notebook runs
	blocks
)

func (e *exampleEdge) copyExamples(t *testing.T, ports *strings.Replacer) {
	t.Helper()
	from, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(from, "examples"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(e.root, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			if entry.Name() == "node_modules" || entry.Name() == ".venv" {
				return fs.SkipDir
			}
			return os.MkdirAll(to, 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(ports.Replace(string(text))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"sdk", "examples/node_modules"} {
		if err := os.Symlink(filepath.Join(from, link), filepath.Join(e.root, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// build builds the Go examples from the copy, and returns what stands for
// `go run` of each: the module is that of the repository, with these files in
// place of its own.
func (e *exampleEdge) build(t *testing.T) (replacements []string) {
	t.Helper()
	programs := []string{"backend-go", "workers", "snippets/worker", "snippets/publish"}
	replace := map[string]string{}
	packages := make([]string, len(programs))
	out := t.TempDir()
	for i, program := range programs {
		original, err := filepath.Abs(filepath.Join("../examples", program, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = filepath.Join(e.root, "examples", program, "main.go")
		packages[i] = "./examples/" + program
		replacements = append(replacements, "go run "+packages[i], "exec "+filepath.Join(out, filepath.Base(program)))
	}
	overlay, err := json.Marshal(harness.Object{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"build", "-overlay", file, "-o", out + "/"}, packages...)...)
	cmd.Dir = ".."
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return replacements
}

// paste is what these blocks do in a shell, whose last command takes its place.
func (e *exampleEdge) paste(blocks ...string) *exec.Cmd {
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, block := range blocks {
		block = strings.TrimSuffix(strings.TrimSuffix(block, "\n"), " &") // the test itself goes on
		if strings.HasPrefix(block, "node ") {
			block = "exec " + block
		}
		script.WriteString(e.adapted.Replace(block) + "\n")
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir, cmd.Env = e.root, e.Env
	return cmd
}

// subscribers are the sessions of the edge that have a subscription, by their ids.
func (e *exampleEdge) subscribers(t *testing.T) (ids []int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "curl", "-sSf", "--noproxy", "*", fmt.Sprintf("http://localhost:%d/pubsub/connections", e.Ports[2])).Output()
	var list struct {
		Connections []struct{ ID, Subscriptions int }
	}
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		t.Fatalf("the edge lists %s (%v)", out, err)
	}
	for _, connection := range list.Connections {
		if connection.Subscriptions > 0 {
			ids = append(ids, connection.ID)
		}
	}
	return ids
}

// awaitSubscription returns when a session has a subscription that is not one of
// earlier, of tabs whose end the edge has not noticed yet.
func (e *exampleEdge) awaitSubscription(t *testing.T, earlier []int) {
	t.Helper()
	timeout := time.NewTimer(harness.WaitTimeout)
	defer timeout.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, id := range e.subscribers(t) {
			if !slices.Contains(earlier, id) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("nobody subscribed in %v", harness.WaitTimeout)
		}
	}
}

// startStreaming runs the backend that streams answers. In the middle of each, its model
// makes a connection, and waits for the end of that.
func (e *exampleEdge) startStreaming(t *testing.T) (server *harness.Background, pauses *net.TCPListener) {
	t.Helper()
	folder := filepath.Join(e.root, "examples/python/streaming")
	if err := os.Rename(filepath.Join(folder, "model.py"), filepath.Join(folder, "stand_in.py")); err != nil {
		t.Fatal(err)
	}
	paused, err := filepath.Abs("clients/paused_model.py")
	if err == nil {
		err = os.Symlink(paused, filepath.Join(folder, "model.py"))
	}
	if err != nil {
		t.Fatal(err)
	}
	pauses, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pauses.Close() })
	cmd := e.paste(e.blocks[masterBlock], e.blocks[streamingBlock])
	cmd.Env = append(slices.Clone(cmd.Env), fmt.Sprintf("MODEL_PORT=%d", pauses.Addr().(*net.TCPAddr).Port))
	server = harness.StartBackground(t, cmd)
	server.Await(server.Err, "running on "+e.backend)
	return server, pauses
}

// startBackend runs one of the backends.
func (e *exampleEdge) startBackend(t *testing.T, block int) *harness.Background {
	t.Helper()
	backend := harness.StartBackground(t, e.paste(e.blocks[masterBlock], e.blocks[block]))
	output := backend.Out // of Node; that of Go goes to the log
	if block == backendGoBlock {
		output = backend.Err
	}
	backend.Await(output, "open "+e.backend)
	return backend
}
