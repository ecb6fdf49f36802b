package conformance

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// What docs/protocol.md says of sessions, over each transport.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, tr := range Transports {
		t.Run(tr.Name, func(t *testing.T) {
			t.Parallel()
			PlayShared(tr, t, Cases, func(t *testing.T) (near, far *harness.Edge) {
				return harness.StartEdge(t, harness.DefaultCaddyfile), nil
			})
			for _, row := range Cases {
				if row.Shared {
					continue
				}
				t.Run(row.Name, func(t *testing.T) {
					t.Parallel()
					row.Run(&harness.Stage{T: t, Edge: harness.StartEdge(t, row.EdgeFile(), row.Options...), Transport: tr, Far: nil})
				})
			}
		})
	}
}
