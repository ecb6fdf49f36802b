package tokens

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// readyCaddyfile is the default one with readiness asked for on the plain site.
var readyCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", 1)

// An edge says whether clients should come, and why not.
func TestReady(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, 1)
	e := harness.StartEdge(t, readyCaddyfile, harness.Joining(nodes, "")[0])
	ready := func() bool {
		t.Helper()
		a := e.Rest("GET", "/ready", "", nil)
		if cache := a.Header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("Cache-Control is %q", cache)
		}
		return a.Status == 200 && string(a.Body) == "ready"
	}
	e.Poll("readiness", ready)
	e.Rest("POST", "/ready", "", "{}").Problem(t, 405, "method_not_allowed")
	e.Rest("GET", "/READY", "", nil).Problem(t, 404, "not_found")

	nodes[0].Kill(t)
	e.Poll("the link to be down", func() bool { return !ready() })
	e.Rest("GET", "/ready", "", nil).Problem(t, 503, "broker_unavailable")
	e.Rest("GET", "/ping", "", nil)

	e.AdminCall("POST", "/pubsub/drain", harness.Object{}).Decode(t, 200, new(harness.Object))
	a := e.Rest("GET", "/ready", "", nil)
	a.Problem(t, 503, "draining")
	for _, why := range []string{"the edge drains", "the link to the other edges is down"} {
		if !strings.Contains(string(a.Body), why) {
			t.Errorf("%s lacks %q", a.Body, why)
		}
	}
	if a.Header.Get("Retry-After") == "" {
		t.Error("there is no Retry-After")
	}
}

// One that cannot check tokens is not ready, from its start.
func TestReadyWithoutStore(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, 1)
	e := harness.StartEdge(t, readyCaddyfile, harness.Joining(nodes, "create off")[0])
	e.Rest("GET", "/ready", "", nil).Problem(t, 503, "unavailable")
}
