package tokens

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/smalldisk"
)

// An edge whose disk is full says so and goes on with all but changes of tokens, and takes these
// again when there is room. Package badger has that nothing acknowledged is lost, over kill -9.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.Mount(t, 512<<20)
	e := harness.StartEdge(t, readyCaddyfile, func(e *harness.Edge) { e.Store = "badger " + disk + "/tokens" })
	kept := e.Issue(harness.AllowAll("demo")).Token
	large := harness.TokenRequest(harness.AllowAll("demo"))
	large["description"] = strings.Repeat("x", 500)
	issue := func() int {
		a := e.Rest("POST", "/v1/get-token", e.Master, large)
		if a.Status != http.StatusOK {
			if a.Problem(t, http.StatusServiceUnavailable, "insufficient_storage"); a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		return a.Status
	}
	works := func(writable float64, ready string) {
		t.Helper()
		e.ExpectMetrics(harness.Samples{"millrace_token_store_writable": writable})
		if got := e.Rest("GET", "/ready", "", nil); got.Status != http.StatusOK || string(got.Body) != ready {
			t.Errorf("readiness is %d %q", got.Status, got.Body)
		}
		s := e.Dial(kept)
		s.Subscribe("paint.demo", "a.#")
		s.Publish("paint.demo", "a.b", "x")
		s.ExpectDeliver("paint.demo", "a.b", "x", "a.#")
	}
	smalldisk.Fill(t, disk)
	e.Poll("a refusal", func() bool { return issue() != http.StatusOK })
	works(0, "ready\nthe disk has no room for changes of tokens")
	e.Revoke(e.Master, kept).Problem(t, http.StatusServiceUnavailable, "insufficient_storage")
	smalldisk.Free(t, disk)
	e.Poll("room", func() bool { return issue() == http.StatusOK })
	works(1, "ready")
}
