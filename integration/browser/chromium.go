package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// chromium is clients/browser.mjs, which drives a Chromium of its own.
type chromium struct{ *Foreign }

func StartChromium(t *testing.T) browserDriver {
	t.Helper()
	if _, err := os.Stat(cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium")); err != nil {
		t.Fatalf("Chromium is not installed (%v): run scripts/install-test-deps.sh", err)
	}
	kind := foreignKind{"chromium", []string{"node", "clients/browser.mjs"}, "clients/node_modules/playwright-core", nil}
	c := chromium{kind.Start(t)}
	timeout := time.NewTimer(browserStart)
	defer timeout.Stop()
	select {
	case answer, ok := <-c.events:
		if !ok || answer["event"] != "ready" {
			t.Fatalf("Chromium does not start: %v", answer)
		}
	case <-timeout.C:
		t.Fatalf("Chromium has not started after %v", browserStart)
	}
	return c
}

func (c chromium) Do(command harness.Object) (any, error) {
	line, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(harness.WaitTimeout)
	defer timeout.Stop()
	select {
	case answer, ok := <-c.events:
		switch {
		case !ok:
			return nil, fmt.Errorf("the browser ended at %v", command)
		case answer["event"] != "done":
			return nil, fmt.Errorf("%v", answer["text"])
		}
		return answer["value"], nil
	case <-timeout.C:
		return nil, fmt.Errorf("the browser does not answer for %v: %v", harness.WaitTimeout, command)
	}
}
