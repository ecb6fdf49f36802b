package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// chromium is clients/browser.mjs, which drives a Chromium of its own.
type chromium struct {
	commands *json.Encoder
	answers  *json.Decoder
	stdout   *os.File // which answers reads
}

func StartChromium(t *testing.T) browserDriver {
	t.Helper()
	for _, needed := range []string{cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium"), "clients/node_modules/playwright-core"} {
		if _, err := os.Stat(needed); err != nil {
			t.Fatalf("Chromium is not installed (%v): run scripts/install-test-deps.sh", err)
		}
	}
	cmd := exec.Command("node", "clients/browser.mjs")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, write, err := os.Pipe()
	must(t, err)
	cmd.Stdout = write
	err = cmd.Start()
	write.Close() // it is the process's alone
	must(t, err)
	t.Cleanup(func() {
		stdin.Close() // the process then ends by itself
		kill := time.AfterFunc(harness.WaitTimeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("Chromium: %v", err)
		}
		stdout.Close()
	})
	c := chromium{json.NewEncoder(stdin), json.NewDecoder(stdout), stdout}
	if _, err := c.answer("ready", browserStart); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return c
}

// answer returns the value of what the process says next, which is to be of a kind.
func (c chromium) answer(kind string, limit time.Duration) (any, error) {
	var event struct {
		Event, Text string
		Value       any
	}
	err := c.stdout.SetReadDeadline(time.Now().Add(limit))
	if err == nil {
		err = c.answers.Decode(&event)
	}
	if err == nil && event.Event != kind {
		err = fmt.Errorf("%s: %s", event.Event, event.Text)
	}
	return event.Value, err
}

func (c chromium) Do(command harness.Object) (value any, err error) {
	if err = c.commands.Encode(command); err == nil {
		value, err = c.answer("done", harness.WaitTimeout)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", command, err)
	}
	return value, nil
}
