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

// apart is a test in a process of its own. In a soak it gives way to all others, since
// what it plays would have machines of its own.
type apart struct {
	t     testing.TB
	cmd   *exec.Cmd
	input interface{ Close() error }
	ended chan struct{}
	err   error // how, once it has

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
	args := []string{os.Args[0], "-test.run=^" + name + "$", "-test.v"}
	if soaking {
		args = append([]string{"chrt", "--idle", "0"}, args...)
	}
	a := &apart{t: t, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{}), more: make(chan struct{})}
	a.cmd.Env = append(os.Environ(), apartEnv+"="+string(text))
	if a.input, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	a.cmd.Stdout, a.cmd.Stderr = a, os.Stderr
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		a.err = a.cmd.Wait()
		close(a.ended)
	}()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill() // end has ended it, if all went well
		<-a.ended
	})
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

// await waits until the process has written a word; the test ends if it does not.
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
		case <-a.ended:
			a.end("")
			a.t.Fatalf("%v has ended before %q", a.cmd.Args, word)
		case <-over:
			a.t.Fatalf("%v in vain for %q of %v", within, word, a.cmd.Args)
		}
	}
}

// end has the process end, and logs the lines that it has written for that.
func (a *apart) end(lines string) {
	a.t.Helper()
	_ = a.input.Close()
	<-a.ended
	for line := range strings.Lines(a.out.String()) {
		if a.err != nil || strings.Contains(line, lines) {
			a.t.Log(strings.TrimSpace(line))
		}
	}
	if a.err != nil {
		a.t.Errorf("%v: %v", a.cmd.Args, a.err)
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
