package harness

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
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

	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/loopback"
)

// ran is what a command of the binary wrote, and its exit code.
type ran struct {
	t        *testing.T
	Out, Err string
	Code     int
}

// Pubsub runs a subcommand of `pubsub` that may fail, in the edge's
// environment plus env.
func (e *Edge) Pubsub(env []string, stdin string, args ...string) ran {
	e.T.Helper()
	cmd := e.Command(append([]string{"pubsub"}, args...)...)
	cmd.Env = slices.Concat(cmd.Env, env)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		e.T.Fatal(err)
	}
	return ran{e.T, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// AdminCLI is pubsub with the edge's admin address.
func (e *Edge) AdminCLI(args ...string) ran {
	e.T.Helper()
	return e.Pubsub([]string{"CADDY_ADMIN=" + e.AdminAddress()}, "", args...)
}

// Want requires an exit code and that stdout and stderr contain these texts.
func (r ran) Want(code int, out, errs string) ran {
	r.t.Helper()
	if r.Code != code || !strings.Contains(r.Out, out) || !strings.Contains(r.Err, errs) {
		r.t.Fatalf("got exit code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", r.Code, code, out, r.Out, errs, r.Err)
	}
	return r
}

// Lines requires that the exit code is 0, and that stdout has so many lines.
func (r ran) Lines(n int) {
	r.t.Helper()
	if got := strings.Count(r.Want(0, "", "").Out, "\n"); got != n {
		r.t.Errorf("got %d lines, want %d:\n%s", got, n, r.Out)
	}
}

// Decode reads stdout as JSON; the exit code must be 0.
func (r ran) Decode(into any) {
	r.t.Helper()
	r.Want(0, "", "")
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		r.t.Fatalf("%v: %s", err, r.Out)
	}
}

// Background is a command that runs beside the test. It is killed when the test
// ends, if it has not ended by then.
type Background struct {
	t        testing.TB
	Cmd      *exec.Cmd
	Out, Err *capture.Output
	Exited   <-chan struct{}
}

func StartBackground(t testing.TB, cmd *exec.Cmd) *Background {
	t.Helper()
	exited := make(chan struct{})
	p := &Background{t, cmd, &capture.Output{}, &capture.Output{}, exited}
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	must(t, cmd.Start())
	go func() { // ends with the process
		_ = cmd.Wait() // cmd.ProcessState tells
		close(exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-p.Exited
	})
	return p
}

// patience is how long a process may take for what it does next: much of a busy machine's time,
// since ExitCode waits for all that a script does.
const patience = 5 * time.Minute

// Await returns when the process has written text.
func (p *Background) Await(o *capture.Output, text string) {
	p.t.Helper()
	p.AwaitMatchFor(patience, o, regexp.MustCompile(regexp.QuoteMeta(text)))
}

// AwaitMatchFor returns the match, and its groups, when the process has written one.
func (p *Background) AwaitMatchFor(limit time.Duration, o *capture.Output, expression *regexp.Regexp) (found []string) {
	p.t.Helper()
	err := p.poll(limit, func() bool {
		found = expression.FindStringSubmatch(o.String())
		return found != nil
	})
	if err != nil {
		p.t.Fatalf("%q did not write %q: %v\nstdout:\n%s\nstderr:\n%s", p.Cmd.Args, expression, err, p.Out, p.Err)
	}
	return found
}

// AwaitTrue returns when ready is true; the process must run until then.
func (p *Background) AwaitTrue(ready func() bool) {
	p.t.Helper()
	if err := p.poll(patience, ready); err != nil {
		p.t.Fatalf("%q: %v\nstdout:\n%s\nstderr:\n%s", p.Cmd.Args, err, p.Out, p.Err)
	}
}

// poll calls ready until it returns true; it is for what sends no event. The error says that the
// process has ended, or that limit has passed.
func (p *Background) poll(limit time.Duration, ready func() bool) error {
	for end := time.After(limit); !ready(); {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.Exited:
			if ready() {
				return nil
			}
			return fmt.Errorf("the process has ended: %v", p.Cmd.ProcessState)
		case <-end:
			return fmt.Errorf("%v have passed", limit)
		}
	}
	return nil
}

func (p *Background) Signal(s syscall.Signal) {
	p.t.Helper()
	must(p.t, p.Cmd.Process.Signal(s))
}

// ExitCode waits for the process to end by itself. If it does not, SIGABRT makes a Go program
// write its goroutines, and end.
func (p *Background) ExitCode() int {
	p.t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(patience):
		_ = p.Cmd.Process.Signal(syscall.SIGABRT)
		kill := time.AfterFunc(patience, func() { _ = p.Cmd.Process.Kill() })
		defer kill.Stop()
		<-p.Exited
		p.t.Errorf("%q did not end in %v\nstdout:\n%s\nstderr:\n%s", p.Cmd.Args, patience, p.Out, p.Err)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// DevEdge is `pubsub dev`, started in an empty home.
type DevEdge struct {
	*Background
	Home, Dir string
	Flags     []string
	Env       []string
	Ports     [3]int // HTTPS, HTTP, admin
}

func NewDevEdge(t *testing.T) *DevEdge {
	t.Helper()
	home := t.TempDir()
	d := &DevEdge{
		Home: home, Dir: filepath.Join(t.TempDir(), "data of the edge"),
		Env:   []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")},
		Ports: [3]int{loopback.FreePort(t), loopback.FreePort(t), loopback.FreePort(t)},
	}
	d.Flags = []string{
		"pubsub", "dev", "--dir", d.Dir, "--https-port", fmt.Sprint(d.Ports[0]), "--http-port", fmt.Sprint(d.Ports[1]),
		"--admin", fmt.Sprintf("localhost:%d", d.Ports[2]),
	}
	return d
}

func (d *DevEdge) Command(flags ...string) *exec.Cmd {
	cmd := exec.Command(Program, append(d.Flags, flags...)...)
	cmd.Dir, cmd.Env = d.Home, d.Env
	return cmd
}

// Start returns when the tour is printed.
func (d *DevEdge) Start(t *testing.T) {
	t.Helper()
	d.Background = StartBackground(t, d.Command())
	d.Await(d.Out, "Ctrl+C stops the edge.\n")
}

func (d *DevEdge) Stop(t *testing.T, s syscall.Signal) {
	t.Helper()
	d.Signal(s)
	if code := d.ExitCode(); code != 0 {
		t.Errorf("after %v: exit code %d; stderr:\n%s", s, code, d.Err)
	}
}

var AccessToken = regexp.MustCompile(`AT_([0-9a-f]{32})_[0-9a-f]{32}`)

// LeafHash is that of the certificate that a port serves.
func LeafHash(t *testing.T, port int) [sha256.Size]byte {
	t.Helper()
	conn := value(tls.DialWithDialer(&net.Dialer{Timeout: WaitTimeout}, "tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{
		ServerName: "localhost", InsecureSkipVerify: true, // as a browser, which compares the hash
	}))(t)
	defer conn.Close()
	return sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
}

// Measured is of the result of bench as JSON.
type Measured struct {
	Published, Delivered int64
	P50                  float64 `json:"p50_us"`
	Interrupted          bool
}
