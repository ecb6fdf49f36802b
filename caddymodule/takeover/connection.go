package takeover

import (
	"container/list"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// upgradeTimeout is how long a client may take to make room for the answer to its
// CONNECT. The library waits up to 5 s for its settings before that. Changed by tests only.
var upgradeTimeout = 6 * time.Second

// connection is a QUIC connection, with a count of its requests and sessions.
type connection struct {
	*quic.Conn
	idle        *idleConns
	network     netip.Addr    // that it came from, for which it counts
	idleTimeout time.Duration // after its first request; zero: none
	// close closes the connection, and does not wait for that. It is called only for one
	// that remove was not called for.
	close func(code quic.ApplicationErrorCode, reason string)

	// guarded by idle.mu
	uses             int  // the requests and sessions in flight
	requested, ended bool // there was a request; the connection is over
	idleSince        time.Time
	inAll, inAddress *list.Element // of the lists of idle connections; nil: it is not idle
	timer            *time.Timer   // ends it when it was idle for too long
}

func (c *connection) begin() { c.idle.begin(c) }
func (c *connection) end()   { c.idle.end(c) }

// closeIfIdle closes the connection unless a request or session uses it.
func (c *connection) closeIfIdle() {
	if c.idle.isIdle(c) {
		_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // never fails
	}
}

// closeForLoad closes the connection of a client that takes more than its share.
func (c *connection) closeForLoad() {
	_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), "")
}
