package integration

import (
	"strings"
	"testing"
)

// readyCaddyfile is the default one with readiness asked for on the plain site.
var readyCaddyfile = strings.Replace(defaultCaddyfile, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", 1)

// An edge says whether clients should come, and why not.
func TestReady(t *testing.T) {
	t.Parallel()
	nodes := startNATS(t, 1)
	e := startEdge(t, readyCaddyfile, joining(nodes, "")[0])
	ready := func() bool {
		t.Helper()
		a := e.rest("GET", "/ready", "", nil)
		if cache := a.Header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("Cache-Control is %q", cache)
		}
		return a.Status == 200 && string(a.Body) == "ready"
	}
	e.poll("readiness", ready)
	e.rest("POST", "/ready", "", "{}").problem(t, 405, "method_not_allowed")
	e.rest("GET", "/READY", "", nil).problem(t, 404, "not_found")

	nodes[0].Kill(t)
	e.poll("the link to be down", func() bool { return !ready() })
	e.rest("GET", "/ready", "", nil).problem(t, 503, "broker_unavailable")
	e.rest("GET", "/ping", "", nil)

	e.adminCall("POST", "/pubsub/drain", object{}).decode(t, 200, new(object))
	a := e.rest("GET", "/ready", "", nil)
	a.problem(t, 503, "draining")
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
	nodes := startNATS(t, 1)
	e := startEdge(t, readyCaddyfile, joining(nodes, "create off")[0])
	e.rest("GET", "/ready", "", nil).problem(t, 503, "unavailable")
}
