package harness

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// subprocess is a test in a process of its own. In a soak it yields the CPU to all other
// processes, since what it simulates would have machines of its own.
type subprocess struct {
	*Background
	input io.Closer
}

const subprocessEnv = "MILLRACE_TEST_APART"

// StartSubprocess runs the test with this name, with its task in JSON, until End.
func StartSubprocess(t testing.TB, name string, task any) *subprocess {
	t.Helper()
	args := append(AtLength(nil, []string{"chrt", "--idle", "0"}), os.Args[0], "-test.run=^"+name+"$", "-test.v")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), subprocessEnv+"="+string(value(json.Marshal(task))(t)))
	input := value(cmd.StdinPipe())(t)
	return &subprocess{StartBackground(t, cmd), input}
}

// Await waits until the process has written a word; the test ends if it does not.
func (p *subprocess) Await(word string, within time.Duration) {
	p.t.Helper()
	p.AwaitMatchFor(within, p.Out, regexp.MustCompile(regexp.QuoteMeta(word)))
}

// End ends the process, and logs the lines of its output that contain lines.
func (p *subprocess) End(lines string) {
	p.t.Helper()
	_ = p.input.Close()
	<-p.Exited
	if ended := p.Cmd.ProcessState; !ended.Success() {
		p.t.Errorf("%v: %v\n%s%s", p.Cmd.Args, ended, p.Out, p.Err)
	}
	for line := range strings.Lines(p.Out.String()) {
		if strings.Contains(line, lines) {
			p.t.Log(strings.TrimSpace(line))
		}
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
	must(t, json.Unmarshal([]byte(text), task))
	return true
}

// AwaitParent waits until the process that started this one calls End.
func AwaitParent() { _, _ = os.Stdin.Read(make([]byte, 1)) }
