package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A socket belongs to the app, not to the site that accepted it.
func TestSocketOutlivesItsSite(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	s := e.Dial(token)
	s.Subscribe("paint.room", "x")

	e.Reload(strings.ReplaceAll(harness.DefaultCaddyfile, "\tpubsub\n\trespond", "\trespond"))
	_, refused := e.Open(harness.Handshake{Token: token})
	if refused.Status != 404 {
		t.Errorf("a handshake with a site without handlers: got %d, want 404", refused.Status)
	}
	s.Publish("paint.room", "x", "still here")
	s.ExpectDeliver("paint.room", "x", "still here", "x")

	e.Reload(harness.DefaultCaddyfile)
	again := e.Dial(token)
	again.Publish("paint.room", "x", "back")
	s.ExpectDeliver("paint.room", "x", "back", "x")
	again.Close()

	// Without the app, its clients are sent elsewhere, and the reload waits for
	// them. It runs beside the test, so not by e.reload.
	e.Write("{" + harness.GlobalOptions + "}\n" + strings.ReplaceAll(harness.Sites, "\tpubsub\n", ""))
	reload := e.Command("reload", "--config", e.File, "--adapter", "caddyfile", "--address", e.AdminAddress())
	done := make(chan error, 1)
	go func() { // ends with the command
		out, err := reload.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		done <- err
	}()
	s.ExpectText("RECONNECT")
	s.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
