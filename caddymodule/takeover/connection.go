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
	limits  *connLimits
	network netip.Addr // that it came from, for which it counts
	// close closes the connection, and does not wait for that. It is called only for one
	// that remove was not called for.
	close func(code quic.ApplicationErrorCode, reason string)

	// guarded by limits.mu
	requests, sessions int  // in flight
	ended              bool // it is over, or is being closed
	lastUse            time.Time
	address            *address      // that it counts for; nil: for none
	inAddress          *list.Element // of its connections
	timer              *time.Timer   // ends it if there is no first request; nil: there was one
}

func (c *connection) begin() { c.limits.beginRequest(c) }
func (c *connection) end()   { c.limits.endRequest(c) }

// stopTimer is called with limits.mu held.
func (c *connection) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// closeIfIdle closes the connection unless a request or session uses it.
func (c *connection) closeIfIdle() {
	if c.limits.isIdle(c) {
		_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // never fails
	}
}

// closeForLoad closes the connection of a client that takes more than its share.
func (c *connection) closeForLoad() {
	_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), "")
}
