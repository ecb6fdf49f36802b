package harness

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/capture"
)

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
