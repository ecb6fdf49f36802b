package integration

import (
	"slices"
	"testing"
)

// sdkRuntimes is Deno and Bun, which run the SDK for TypeScript over their own WebSocket.
var sdkRuntimes = []sdkKind{{"deno", "websocket"}, {"bun", "websocket"}}

// The SDK for TypeScript in Deno and in Bun: briefly in make test, all scenarios of
// WebSocket in the soak sdks.
func TestSDKRuntimes(t *testing.T) {
	t.Parallel()
	brief := []string{"connect", "messages", "payloads"}
	all := atLength(false, true)
	lab := &sdkLab{shared: startEdge(t, defaultCaddyfile), hooked: startingHooked(t)} // not on ::1, which Bun prefers, and master tokens do not allow
	lab.drivers = &sdkDrivers{t: t, edge: lab.shared}
	for _, row := range sdkScenarios {
		if !all && !slices.Contains(brief, row.name) || row.only == "webtransport" {
			continue
		}
		if row.name == "UDP blocked" {
			continue // nobody tries UDP there
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			lab.play(t, row, sdkRuntimes)
		})
	}
}
