//go:build !race || lint

package integration

import (
	"fmt"
	"strings"
	"testing"
)

// What an idle WebSocket connection may hold of the edge's memory, in KiB: about
// 5 as measured, and 14 with TLS. A stack of the next size, a buffer, or a request
// that is not let go of is over it. (The race detector makes all of it larger.)
const (
	idlePlain = 7
	idleTLS   = 18
)

func TestIdleConnectionsAreSmall(t *testing.T) {
	t.Parallel()
	const conns = 1000
	logged := strings.ReplaceAll(defaultCaddyfile, "\tpubsub\n", "\tlog {\n\t\toutput file {{.Dir}}/access.log\n\t}\n\tpubsub\n")
	for name, c := range map[string]struct {
		url   func(*edge) string
		bound int
	}{
		"plain": {func(e *edge) string { return fmt.Sprintf("ws://localhost:%d/ws", e.HTTP) }, idlePlain},
		"TLS":   {func(e *edge) string { return fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS) }, idleTLS},
	} {
		t.Run(name, func(t *testing.T) {
			e := startEdge(t, logged)
			token := e.issue(allowAll("room")).Token
			open := func(i int) {
				s := e.mustOpen(handshake{URL: c.url(e), Token: token})
				s.subscribe("paint.room", fmt.Sprintf("channel.%d", i))
			}
			open(0) // what the first one takes is no cost of each
			before, resident := e.memory(), e.residentMiB()
			for i := range conns {
				open(i + 1)
			}
			grown := 0
			defer func() {
				t.Logf("%d idle connections hold %d KiB of %d; resident: %d MiB more", conns, grown, conns*c.bound, e.residentMiB()-resident)
			}()
			// Readers move to a small stack a little later.
			e.poll("idle connections to be small", func() bool {
				grown = e.memory().live - before.live
				return grown <= conns*c.bound
			})
		})
	}
}
