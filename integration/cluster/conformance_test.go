package cluster

import (
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// What docs/protocol.md says of sessions, with the publishers at another edge: the cases with edges of their own over the
// transports in turns, in a soak over both.
func TestConformanceOverEdges(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, 3)
	pair := func(t *testing.T, caddyfile string, options ...harness.Option) (near, far *harness.Edge) {
		join := harness.Joining(nodes, "")
		near = harness.StartEdge(t, caddyfile, append(options, join[0])...)
		return near, harness.StartEdge(t, caddyfile, append(options, harness.WithMaster(near), join[1])...)
	}
	t.Run("over", func(t *testing.T) { // ends when all have
		for _, tr := range conformance.Transports {
			t.Run(tr.Name, func(t *testing.T) {
				t.Parallel()
				tr.Races = harness.AtLength(16, 50) // each token is written to three disks
				conformance.PlayShared(tr, t, conformance.Cases, func(t *testing.T) (near, far *harness.Edge) { return pair(t, harness.DefaultCaddyfile) })
				for i, row := range conformance.Cases {
					if row.Shared || !harness.Soaking && tr.Name != conformance.Transports[i%len(conformance.Transports)].Name {
						continue
					}
					t.Run(row.Name, func(t *testing.T) {
						t.Parallel()
						near, other := pair(t, row.EdgeFile(), row.Options...)
						row.Run(&harness.Stage{T: t, Edge: near, Transport: tr, Far: &harness.Far{Edge: other}})
					})
				}
			})
		}
	})
}
