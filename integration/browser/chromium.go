package browser

import (
	"bufio"
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
	events   chan harness.Object // closed when the process has closed its stdout
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
	stdout, failed := cmd.StdoutPipe()
	if err := cmp.Or(err, failed); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := chromium{json.NewEncoder(stdin), make(chan harness.Object, 1024)}
	go func() { // ends with the process's stdout
		defer close(c.events)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var event harness.Object
			if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
				event = harness.Object{"event": "not JSON", "text": lines.Text()}
			}
			c.events <- event
		}
	}()
	t.Cleanup(func() {
		stdin.Close() // the process then ends by itself
		kill := time.AfterFunc(harness.WaitTimeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		for range c.events { // until the reader is done with the pipe, as Wait requires
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("Chromium: %v", err)
		}
	})
	if err := c.expect("ready", browserStart, nil); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return c
}

// expect waits for the next event, which is to be of a kind, and keeps it in answer.
func (c chromium) expect(kind string, limit time.Duration, answer *harness.Object) error {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case event := <-c.events: // nil if it has ended
		if event["event"] != kind {
			return fmt.Errorf("it says %v", event)
		}
		if answer != nil {
			*answer = event
		}
		return nil
	case <-timeout.C:
		return fmt.Errorf("nothing for %v", limit)
	}
}

func (c chromium) Do(command harness.Object) (any, error) {
	var answer harness.Object
	err := c.commands.Encode(command)
	if err == nil {
		err = c.expect("done", harness.WaitTimeout, &answer)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", command, err)
	}
	return answer["value"], nil
}
