package history

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func StartOverlay(t *testing.T, caddyfile, store string) *harness.Overlay {
	t.Helper()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3)}
	o.StartEdges(caddyfile, harness.Joining(o.Nodes, store))
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	return o
}
