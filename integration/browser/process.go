package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// process is clients/browser.mjs with its browser. It carries out one command at a time.
type process struct {
	commands *json.Encoder
	answers  *json.Decoder
	stdout   *os.File // which answers reads
}

// Start starts a browser, chromium or firefox, that ends with the test. Several that start at
// once, with some ten processes each, take their time: the first command waits for that.
func Start(t *testing.T, name string) *Browser {
	t.Helper()
	cmd := exec.Command("node", "clients/browser.mjs", name)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close() // the process then ends by itself
		kill := time.AfterFunc(harness.WaitTimeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s (scripts/install-test-deps.sh installs it): %v", name, err)
		}
	})
	p := process{json.NewEncoder(stdin), json.NewDecoder(stdout), stdout.(*os.File)}
	return (&Browser{Name: name, process: p}).in(t)
}

func (p process) do(command harness.Object) (any, error) {
	var answer struct {
		Value  any
		Failed string
	}
	err := errors.Join(p.commands.Encode(command), p.stdout.SetReadDeadline(time.Now().Add(2*harness.WaitTimeout)))
	if err == nil {
		err = p.answers.Decode(&answer)
	}
	if err == nil && answer.Failed != "" {
		err = errors.New(answer.Failed)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", command, err)
	}
	return answer.Value, nil
}
