package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// apart is a test in a process of its own that gives way to all others, since what it
// plays would have machines of its own.
type apart struct {
	t     testing.TB
	cmd   *exec.Cmd
	input interface{ Close() error }

	mu   sync.Mutex
	out  strings.Builder
	more chan struct{} // closed with the next output
}

const apartEnv = "MILLRACE_TEST_APART"

// startApart runs the test of that name with what it is to do, until end.
func startApart(t testing.TB, name string, what any) *apart {
	t.Helper()
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	a := &apart{t: t, cmd: exec.Command("chrt", "--idle", "0", os.Args[0], "-test.run=^"+name+"$", "-test.v"), more: make(chan struct{})}
	a.cmd.Env = append(os.Environ(), apartEnv+"="+string(text))
	if a.input, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	a.cmd.Stdout, a.cmd.Stderr = a, os.Stderr
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *apart) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.Write(p)
	close(a.more)
	a.more = make(chan struct{})
	return len(p), nil
}

// await waits until the process has written a word.
func (a *apart) await(word string, within time.Duration) {
	a.t.Helper()
	over := time.After(within)
	for {
		a.mu.Lock()
		is, more := strings.Contains(a.out.String(), word), a.more
		a.mu.Unlock()
		if is {
			return
		}
		select {
		case <-more:
		case <-over:
			a.t.Errorf("%v in vain for %q of %v", within, word, a.cmd.Args)
			return
		}
	}
}

// end has the process end, and logs the lines that it has written for that.
func (a *apart) end(lines string) {
	a.t.Helper()
	_ = a.input.Close()
	err := a.cmd.Wait()
	for line := range strings.Lines(a.out.String()) {
		if err != nil || strings.Contains(line, lines) {
			a.t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		a.t.Errorf("%v: %v", a.cmd.Args, err)
	}
}

// isApart reports whether this is such a process, and reads what it is to do.
func isApart(t *testing.T, what any) bool {
	t.Helper()
	text := os.Getenv(apartEnv)
	if text == "" {
		t.Log("is run by another test, in a process of its own")
		return false
	}
	if err := json.Unmarshal([]byte(text), what); err != nil {
		t.Fatal(err)
	}
	return true
}

// untilEnd waits for end of the process that has started this one.
func untilEnd() { _, _ = os.Stdin.Read(make([]byte, 1)) }
