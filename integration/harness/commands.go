package harness

import (
	"bytes"
	"context"
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
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
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

// UnknownID is the id of no token.
const UnknownID = "0123456789abcdef0123456789abcdef"

// Background is a command that runs beside the test. It is killed when the test
// ends, if it has not ended by then.
type Background struct {
	t        *testing.T
	Cmd      *exec.Cmd
	Out, Err *capture.Output
	Exited   chan struct{}
}

func StartBackground(t *testing.T, cmd *exec.Cmd) *Background {
	t.Helper()
	p := &Background{t: t, Cmd: cmd, Out: &capture.Output{}, Err: &capture.Output{}, Exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process, which the cleanup ends
		_ = cmd.Wait() // exitCode tells
		close(p.Exited)
	}()
	t.Cleanup(func() {
		select {
		case <-p.Exited:
		default:
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			<-p.Exited
		}
	})
	return p
}

// patience is how long a process may take for what it does next: much of a busy machine's time,
// since ExitCode waits for all that a script does.
const patience = 5 * time.Minute

// Await returns when the process has written text.
func (p *Background) Await(o *capture.Output, text string) {
	p.t.Helper()
	p.awaitMatch(o, regexp.MustCompile(regexp.QuoteMeta(text)))
}

// awaitMatch returns the match, and its groups, when the process has written one.
func (p *Background) awaitMatch(o *capture.Output, expression *regexp.Regexp) []string {
	p.t.Helper()
	return p.AwaitMatchFor(patience, o, expression)
}

func (p *Background) AwaitMatchFor(limit time.Duration, o *capture.Output, expression *regexp.Regexp) []string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := expression.FindStringSubmatch(o.String()); found != nil {
			return found
		}
		select {
		case <-tick.C:
			continue
		case <-p.Exited:
			if found := expression.FindStringSubmatch(o.String()); found != nil {
				return found
			}
		case <-ctx.Done():
		}
		p.t.Fatalf("%q did not write %q\nstdout:\n%s\nstderr:\n%s", p.Cmd.Args, expression, p.Out, p.Err)
	}
}

func (p *Background) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ExitCode waits for the process to end by itself.
func (p *Background) ExitCode() int {
	p.t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(patience):
		p.t.Fatalf("%q did not end in %v\nstdout:\n%s\nstderr:\n%s", p.Cmd.Args, patience, p.Out, p.Err)
	}
	return p.Cmd.ProcessState.ExitCode()
}

func (e *Edge) Root() string {
	return filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")
}

func (e *Edge) Wss() []string {
	return []string{"--url", fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), "--ca", e.Root()}
}

// Subscriber starts `pubsub subscribe` and returns when it has subscribed.
func (e *Edge) Subscriber(token string, args ...string) *Background {
	e.T.Helper()
	cmd := e.Command(append([]string{"pubsub", "subscribe"}, args...)...)
	cmd.Env = slices.Concat(cmd.Env, []string{"MILLRACE_TOKEN=" + token})
	p := StartBackground(e.T, cmd)
	p.Await(p.Err, "OK:SUB:")
	return p
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

// LeafHash is that of the certificate that the HTTPS port serves.
func (d *DevEdge) LeafHash(t *testing.T) [sha256.Size]byte {
	t.Helper()
	return LeafHash(t, d.Ports[0])
}

func LeafHash(t *testing.T, port int) [sha256.Size]byte {
	t.Helper()
	dialer := &net.Dialer{Timeout: WaitTimeout}
	conn, err := tls.DialWithDialer(dialer, "tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{
		ServerName: "localhost", InsecureSkipVerify: true, // as a browser, which compares the hash
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
}

// Measured is the result of bench as JSON.
type Measured struct {
	Scenario       string   `json:"scenario"`
	Published      int64    `json:"published"`
	Delivered      int64    `json:"delivered"`
	Lost           int64    `json:"lost"`
	Duplicates     int64    `json:"duplicates"`
	Reordered      int64    `json:"reordered"`
	Seconds        float64  `json:"seconds"`
	Rate           float64  `json:"deliveries_per_second"`
	CPU            float64  `json:"server_cpu_seconds_per_million"`
	ServerCores    float64  `json:"server_cores"`
	GeneratorCores float64  `json:"generator_cores"`
	P50            float64  `json:"p50_us"`
	P90            float64  `json:"p90_us"`
	P99            float64  `json:"p99_us"`
	P999           float64  `json:"p999_us"`
	Max            float64  `json:"max_us"`
	Connections    int      `json:"connections"`
	Handshakes     float64  `json:"handshakes_per_second"`
	Memory         *float64 `json:"server_bytes_per_connection"`
	Interrupted    bool     `json:"interrupted"`
	Errors         []string `json:"errors"`
}
