package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/clientdriver"
	"github.com/millrace/millrace/internal/programs"
)

// An sdkProgram is how to run a driver (docs/writing-a-client.md): a program that runs
// clients of one SDK.
type Program struct {
	Command func() (*exec.Cmd, error)
	Outside bool     // MILLRACE_CLIENT names it; ours lack nothing
	Lacks   []string // what it said that it lacks
}

var Programs = map[string]*Program{
	"go": {Command: func() (*exec.Cmd, error) {
		path, err := sdkGo()
		return exec.Command(path), err
	}},
	"node": {Command: func() (*exec.Cmd, error) { return exec.Command("node", "clients/sdk_node.mjs"), HasSDK() }},
	// Two more that run the SDK for TypeScript, as Node does without the package ws.
	"deno": {Command: func() (*exec.Cmd, error) {
		return exec.Command("clients/node_modules/.bin/deno", "run", "-A", "--node-modules-dir=manual", "clients/sdk_node.mjs"), HasSDK()
	}},
	"bun": {Command: func() (*exec.Cmd, error) {
		return exec.Command("clients/node_modules/.bin/bun", "run", "clients/sdk_node.mjs"), HasSDK()
	}},
	"python": {Command: func() (*exec.Cmd, error) {
		return exec.Command("clients/.venv/bin/python", "clients/sdk_python.py"), nil
	}},
}

// sdkGo is the driver of the SDK for Go, built as the edge is.
var sdkGo = sync.OnceValues(func() (string, error) {
	return programs.Build(harness.Built, "sdkgo", "./clients/sdkgo")
})

// BuiltSDK is what scripts/npm.sh makes of the SDK for TypeScript. Node knows it
// by the name of the package.
const BuiltSDK = "clients/node_modules/@millrace/client/dist"

// HasSDK returns an error if it has not been built.
func HasSDK() error {
	if _, err := os.Stat(filepath.Join(BuiltSDK, "index.js")); err != nil {
		return fmt.Errorf("the SDK for TypeScript is not built (%w): run scripts/install-test-deps.sh", err)
	}
	return nil
}

// driverTimeout is how long a driver may take to start. On a busy machine Python takes half a
// minute to import what QUIC needs.
const driverTimeout = 4 * harness.WaitTimeout

// Start runs a driver that trusts the edges until the test ends.
func (p *Program) Start(t *testing.T, kind Kind, edges []*harness.Edge, router *Router) (*sdkDriver, error) {
	var roots bytes.Buffer
	for _, e := range edges {
		root, err := os.ReadFile(e.RootFile())
		if err != nil {
			return nil, err
		}
		roots.Write(root)
	}
	file := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, roots.Bytes(), 0o600); err != nil {
		return nil, err
	}
	cmd, err := p.Command()
	if err != nil {
		return nil, err
	}
	d, hello, err := StartDriver(cmd, file, driverTimeout, router.Route, func(err error) { router.Fail(kind.Where, err) })
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := d.End(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	})
	if !slices.Contains(hello.Transports, kind.Transport) || !p.Outside && len(hello.Lacks) > 0 {
		return nil, fmt.Errorf("its driver has the transports %q, and lacks %q", hello.Transports, hello.Lacks)
	}
	return d, nil
}

// sdkDriver is a driver that runs.
type sdkDriver struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr tail
	done   chan struct{} // closed when the program has ended
	hello  chan Report
	report func(Report) error // takes a report, or says what is wrong with it
	failed func(error)        // called once, when the driver fails

	mu     sync.Mutex
	err    error // why it failed
	ending bool
}

// StartDriver runs a driver. It returns when it has said hello, within some time.
func StartDriver(
	cmd *exec.Cmd, roots string, within time.Duration, report func(Report) error, failed func(error),
) (*sdkDriver, Report, error) {
	d := &sdkDriver{cmd: cmd, done: make(chan struct{}), hello: make(chan Report, 1), report: report, failed: failed}
	cmd.Env = append(os.Environ(), clientdriver.RootsVariable+"="+roots, clientdriver.NodeRootsVariable+"="+roots, "DENO_CERT="+roots)
	cmd.Stderr = &d.stderr
	var err error
	if d.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, Report{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, Report{}, err
	}
	if err := cmd.Start(); err != nil {
		return nil, Report{}, err
	}
	go d.follow(stdout) // ends with the program, which end ends
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case hello := <-d.hello:
		return d, hello, nil
	case <-d.done:
	case <-timeout.C:
		d.Fail(fmt.Errorf("the driver said nothing for %v, not even hello", within))
	}
	return nil, Report{}, d.End()
}

// follow reads what the program says until it ends.
func (d *sdkDriver) follow(stdout io.Reader) {
	defer close(d.done)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		r, err := clientdriver.ParseReport(lines.Bytes())
		switch {
		case err != nil:
		case (n == 1) != (r.Event == "hello"):
			err = errors.New("hello is the first line, and no other")
		case n == 1:
			d.hello <- r
		default:
			err = d.report(r)
		}
		if err != nil {
			d.Fail(fmt.Errorf("line %d of the driver's output is no report: %w: %s", n, err, Short(lines.Text())))
			break
		}
	}
	if err := lines.Err(); err != nil {
		d.Fail(fmt.Errorf("the driver's output: %w", err))
	}
	_, _ = io.Copy(io.Discard, stdout) // for a program that goes on
	err := d.cmd.Wait()
	d.mu.Lock()
	ending := d.ending
	d.mu.Unlock()
	switch {
	case err != nil:
		d.Fail(fmt.Errorf("the driver ended with %w", err))
	case !ending:
		d.Fail(errors.New("the driver ended before its input did"))
	}
}

func (d *sdkDriver) Fail(err error) {
	d.mu.Lock()
	first := d.err == nil
	if first {
		if said := d.stderr.String(); said != "" {
			err = fmt.Errorf("%w; its stderr ends with: %s", err, said)
		}
		d.err = err
	}
	d.mu.Unlock()
	if first {
		_ = d.stdin.Close() // there is nothing more to say to it
		d.failed(err)
	}
}

func (d *sdkDriver) Send(command Command) error {
	d.mu.Lock()
	err := d.err
	d.mu.Unlock()
	if err != nil {
		return err
	}
	line, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if in, ok := d.stdin.(interface{ SetWriteDeadline(time.Time) error }); ok { // as a pipe has
		_ = in.SetWriteDeadline(time.Now().Add(harness.WaitTimeout)) // else the next write says why
	}
	if _, err := d.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the driver takes no command: %w", err)
	}
	return nil
}

// End ends the program, and returns why it failed, if it did.
func (d *sdkDriver) End() error {
	d.mu.Lock()
	d.ending = true
	d.mu.Unlock()
	_ = d.stdin.Close() // the program then ends by itself
	kill := time.AfterFunc(harness.WaitTimeout, func() {
		d.Fail(fmt.Errorf("the driver did not end within %v of its input", harness.WaitTimeout))
		_ = d.cmd.Process.Kill() // it may just have ended
	})
	defer kill.Stop()
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// tail passes on what is written to it, and keeps its end.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b...)
	t.end = t.end[max(0, len(t.end)-2000):]
	return os.Stderr.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.end))
}
