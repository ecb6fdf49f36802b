package sdks

import (
	"slices"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// The SDK for TypeScript in Deno and in Bun: briefly in make check, all scenarios of
// WebSocket in the soak sdks.
func TestSDKRuntimes(t *testing.T) {
	t.Parallel()
	brief := []string{"connect", "messages", "payloads"}
	all := harness.AtLength(false, true)
	lab := &sdk.Lab{Shared: harness.StartEdge(t, harness.DefaultCaddyfile), Hooked: sdk.StartingHooked(t)} // not on ::1, which Bun prefers, and master tokens do not allow
	lab.Drivers = &sdk.Drivers{T: t, Edge: lab.Shared}
	for _, row := range sdkScenarios {
		if !all && !slices.Contains(brief, row.name) || row.only == "webtransport" {
			continue
		}
		if row.name == "UDP blocked" {
			continue // nobody tries UDP there
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			play(lab, t, row, sdk.Runtimes)
		})
	}
}
