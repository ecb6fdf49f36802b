package conformance

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// What docs/protocol.md says of sessions, over each transport.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, tr := range Transports {
		t.Run(tr.Name, func(t *testing.T) {
			t.Parallel()
			Play(t, tr, Cases, func(t *testing.T, caddyfile string) (near, far *harness.Edge) {
				return harness.StartEdge(t, caddyfile), nil
			})
		})
	}
}
