package load

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/integration/harness"
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
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	open := func(i int) { e.DialWebTransport(token).Subscribe("paint.room", fmt.Sprintf("channel.%d", i)) }
	for i := range 10 { // what the first ones take is no cost of each
		open(i)
	}
	_, goroutines := e.Goroutines()
	resident := e.ResidentMiB()
	for i := range sessions {
		open(10 + i)
	}
	_, now := e.Goroutines()
	if n, most := now-goroutines, sessions*idleGoroutines+sessions/4; n > most {
		t.Errorf("%d idle sessions have %d goroutines, want at most %d", sessions, n, most)
	}
	grown := 0
	defer func() { t.Logf("%d idle sessions hold %d KiB each", sessions, grown/sessions) }()
	e.Poll("idle sessions to be small", func() bool { // the edge clears up after a burst
		grown = (e.ResidentMiB() - resident) << 10
		return grown <= sessions*idleWebTransport
	})
}
