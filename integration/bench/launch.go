package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// waitTimeout bounds every wait for one event of a process.
const waitTimeout = 30 * time.Second

// A launcher starts processes from one thread of its own, which may be confined to a
// core: the processes inherit that, and a Go program then runs with GOMAXPROCS=1. Where
// the system supports it, the processes end with the thread.
type launcher struct {
	calls chan func()
	done  chan struct{}
}

// newLauncher confines the thread to a core; -1: to none. With idle, it and its processes
// run only when no other process needs the core.
func newLauncher(core int, idle bool) (*launcher, error) {
	l := &launcher{calls: make(chan func()), done: make(chan struct{})}
	confined := make(chan error)
	go func() { // close stops it and waits
		defer close(l.done)
		ownThread(func() {
			confined <- confine(core, idle)
			for call := range l.calls {
				call()
			}
		})
	}()
	if err := <-confined; err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// ownThread runs a function on a thread that ends with it.
func ownThread(run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if onMainThread() {    // except this one, which Go parks: hold it, and use another
			defer runtime.UnlockOSThread()
			ownThread(run)
			return
		}
		run()
	}()
	<-done
}

func (l *launcher) close() {
	close(l.calls)
	<-l.done
}

// start is cmd.Start on the launcher's thread.
func (l *launcher) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = processAttributes()
	started := make(chan error)
	l.calls <- func() { started <- cmd.Start() }
	return <-started
}

// A child is a process that its starter always stops.
type child struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser // its standard input; closing it asks our own programs to end
	tail tail           // the last lines that it wrote to standard error

	exited chan struct{} // closed after err is set
	err    error
}

// startChild starts cmd, whose standard output is set by the caller or unused.
func (l *launcher) startChild(name string, cmd *exec.Cmd) (*child, error) {
	c := &child{name: name, cmd: cmd, exited: make(chan struct{})}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.in = in
	cmd.Stderr = &c.tail
	cmd.WaitDelay = time.Second
	if err := l.start(cmd); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() { // ends with the process, which stop ends
		c.err = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop ends the process, and waits for it. It may be called more than once.
func (c *child) stop() {
	c.in.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended, which is what we want
	select {
	case <-c.exited:
	case <-time.After(waitTimeout):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
}

// kill ends the process at once, and waits for it.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails when it has ended, which is what we want
	<-c.exited
}

// failure describes an unexpected end.
func (c *child) failure() error {
	how := "without an error"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("%s ended (%s); it wrote:\n%s", c.name, how, c.tail.String())
}

// await returns nil when the process has ended without error, and ends it when
// ctx does.
func (c *child) await(ctx context.Context) error {
	select {
	case <-c.exited:
		if c.err != nil {
			return c.failure()
		}
		return nil
	case <-ctx.Done():
		c.kill()
		return ctx.Err()
	}
}

// self returns a command that runs this program again. The environment tells a test
// program not to run its tests.
func self(args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	return cmd, nil
}

const childVariable = "MILLRACE_BENCH_CHILD"

// tail keeps the first and the last lines that were written, where a crash names its
// reason and place; safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	lines []string
	open  string
}

const (
	tailFirst = 5 // lines
	tailLast  = 15
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(t.open+string(p), "\n")
	t.open = lines[len(lines)-1]
	t.lines = append(t.lines, lines[:len(lines)-1]...)
	if n := len(t.lines); n > tailFirst+tailLast {
		t.lines = slices.Delete(t.lines, tailFirst, n-tailLast)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.Join(append(slices.Clone(t.lines), t.open), "\n"))
}
