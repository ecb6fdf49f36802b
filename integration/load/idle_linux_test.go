package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
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
	logged := strings.ReplaceAll(harness.DefaultCaddyfile, "\tpubsub\n", "\tlog {\n\t\toutput file {{.Dir}}/access.log\n\t}\n\tpubsub\n")
	for name, c := range map[string]struct {
		url   func(*harness.Edge) string
		bound int
	}{
		"plain": {func(e *harness.Edge) string { return fmt.Sprintf("ws://localhost:%d/ws", e.HTTP) }, idlePlain},
		"TLS":   {func(e *harness.Edge) string { return fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS) }, idleTLS},
	} {
		t.Run(name, func(t *testing.T) {
			e := harness.StartEdge(t, logged)
			token := e.Issue(harness.AllowAll("room")).Token
			open := func(i int) {
				s := e.MustOpen(harness.Handshake{URL: c.url(e), Token: token})
				s.Subscribe("paint.room", fmt.Sprintf("channel.%d", i))
			}
			open(0) // what the first one takes is no cost of each
			before, resident := e.Memory(), e.ResidentMiB()
			for i := range conns {
				open(i + 1)
			}
			grown := 0
			defer func() {
				t.Logf("%d idle connections hold %d KiB of %d; resident: %d MiB more", conns, grown, conns*c.bound, e.ResidentMiB()-resident)
			}()
			// Readers move to a small stack a little later.
			e.Poll("idle connections to be small", func() bool {
				grown = e.Memory().Live - before.Live
				return grown <= conns*c.bound
			})
		})
	}
}
