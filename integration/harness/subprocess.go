package harness

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// subprocess is a test in a process of its own. In a soak it yields the CPU to all other
// processes, since what it simulates would have machines of its own.
type subprocess struct {
	t     testing.TB
	cmd   *exec.Cmd
	input interface{ Close() error }
	ended chan struct{}
	err   error // how it ended; read after ended is closed

	mu   sync.Mutex
	out  strings.Builder
	more chan struct{} // closed with the next output
}

const subprocessEnv = "MILLRACE_TEST_APART"

// StartSubprocess runs the test with this name, with its task in JSON, until end.
func StartSubprocess(t testing.TB, name string, task any) *subprocess {
	t.Helper()
	if Soaking {
		return StartSubprocessBy(t, name, task, "chrt", "--idle", "0")
	}
	return StartSubprocessBy(t, name, task)
}

// StartSubprocessBy is startSubprocess by another program, or none: then it yields to nobody,
// and can measure how late messages come.
func StartSubprocessBy(t testing.TB, name string, task any, by ...string) *subprocess {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	args := append(by, os.Args[0], "-test.run=^"+name+"$", "-test.v")
	p := &subprocess{t: t, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), subprocessEnv+"="+string(text))
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = p, os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // end has ended it, if all went well
		<-p.ended
	})
	return p
}

func (p *subprocess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(b)
	close(p.more)
	p.more = make(chan struct{})
	return len(b), nil
}

// Await waits until the process has written a word; the test ends if it does not.
func (p *subprocess) Await(word string, within time.Duration) {
	p.t.Helper()
	over := time.After(within)
	for {
		p.mu.Lock()
		is, more := strings.Contains(p.out.String(), word), p.more
		p.mu.Unlock()
		if is {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			p.End("")
			p.t.Fatalf("%v has ended before %q", p.cmd.Args, word)
		case <-over:
			p.t.Fatalf("%v in vain for %q of %v", within, word, p.cmd.Args)
		}
	}
}

// Has reports whether the process has written a word, or has ended.
func (p *subprocess) Has(word string) bool {
	select {
	case <-p.ended:
		return true
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.out.String(), word)
}

// End ends the process, and logs the lines of its output that contain lines.
func (p *subprocess) End(lines string) {
	p.t.Helper()
	_ = p.input.Close()
	<-p.ended
	for line := range strings.Lines(p.out.String()) {
		if p.err != nil || strings.Contains(line, lines) {
			p.t.Log(strings.TrimSpace(line))
		}
	}
	if p.err != nil {
		p.t.Errorf("%v: %v", p.cmd.Args, p.err)
	}
}

// IsSubprocess reports whether this process is such a subprocess, and reads its task.
func IsSubprocess(t *testing.T, task any) bool {
	t.Helper()
	text := os.Getenv(subprocessEnv)
	if text == "" {
		t.Log("another test runs this one, in a process of its own")
		return false
	}
	if err := json.Unmarshal([]byte(text), task); err != nil {
		t.Fatal(err)
	}
	return true
}

// AwaitParent waits until the process that started this one calls end.
func AwaitParent() { _, _ = os.Stdin.Read(make([]byte, 1)) }
