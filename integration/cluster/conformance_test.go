package cluster

import (
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// What docs/protocol.md says of sessions, with the publishers at another edge: what depends on
// the broker, over the transports in turns; in a soak all of it over both.
func TestConformanceOverEdges(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, harness.AtLength(1, 3))
	t.Run("over", func(t *testing.T) { // ends when all have
		for at, tr := range conformance.Transports {
			var cases []conformance.Case
			for i, c := range conformance.Cases {
				if harness.Soaking || c.Brokered && i%len(conformance.Transports) == at {
					cases = append(cases, c)
				}
			}
			t.Run(tr.Name, func(t *testing.T) {
				t.Parallel()
				conformance.Play(t, tr, cases, func(t *testing.T, caddyfile string) (near, far *harness.Edge) {
					join := harness.Joining(nodes, "")
					near = harness.StartEdge(t, caddyfile, join[0])
					return near, harness.StartEdge(t, caddyfile, harness.WithMaster(near), join[len(join)-1])
				})
			})
		}
	})
}
