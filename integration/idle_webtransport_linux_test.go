//go:build !race || lint

package integration

import (
	"fmt"
	"testing"
)

const (
	// idleWebTransport is what an idle WebTransport session, on a connection of its
	// own, may hold of the edge's memory, in KiB: about 120 as measured.
	idleWebTransport = 125 * 3 / 2
	// idleGoroutines are those of such a session: ten of the libraries, one that
	// reads the bidirectional stream, and one that accepts others.
	idleGoroutines = 12
)

func TestIdleWebTransportSessionsAreSmall(t *testing.T) {
	t.Parallel()
	const sessions = 300
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	open := func(i int) { e.dialWebTransport(token).subscribe("paint.room", fmt.Sprintf("channel.%d", i)) }
	for i := range 10 { // what the first ones take is no cost of each
		open(i)
	}
	_, goroutines := e.goroutines()
	resident := e.residentMiB()
	for i := range sessions {
		open(10 + i)
	}
	_, now := e.goroutines()
	if n, most := now-goroutines, sessions*idleGoroutines+sessions/4; n > most {
		t.Errorf("%d idle sessions have %d goroutines, want at most %d", sessions, n, most)
	}
	grown := 0
	defer func() { t.Logf("%d idle sessions hold %d KiB each", sessions, grown/sessions) }()
	e.poll("idle sessions to be small", func() bool { // the edge clears up after a burst
		grown = (e.residentMiB() - resident) << 10
		return grown <= sessions*idleWebTransport
	})
}
