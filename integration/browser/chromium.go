package browser

import (
	"cmp"
	"fmt"
	"os"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// chromium is clients/browser.mjs, which drives a Chromium of its own.
type chromium struct{ *Foreign }

func StartChromium(t *testing.T) browserDriver {
	t.Helper()
	if _, err := os.Stat(cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium")); err != nil {
		t.Fatalf("Chromium is not installed (%v): run scripts/install-test-deps.sh", err)
	}
	kind := foreignKind{"chromium", []string{"node", "clients/browser.mjs"}, "clients/node_modules/playwright-core"}
	c := chromium{kind.Start(t)}
	if answer, err := c.next(browserStart); err != nil || answer["event"] != "ready" {
		t.Fatalf("Chromium does not start: %v, %v", answer, err)
	}
	return c
}

func (c chromium) Do(command harness.Object) (any, error) {
	c.Foreign.Do(command)
	answer, err := c.next(harness.WaitTimeout)
	if err == nil && answer["event"] != "done" {
		err = fmt.Errorf("%v", answer["text"])
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", command, err)
	}
	return answer["value"], nil
}
