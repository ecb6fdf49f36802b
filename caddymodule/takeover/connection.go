package takeover

import (
	"sync/atomic"
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
	uses atomic.Int64 // the requests and sessions in flight
}

func (c *connection) begin() { c.uses.Add(1) }
func (c *connection) end()   { c.uses.Add(-1) }

// closeIfIdle closes the connection unless a request or session uses it.
func (c *connection) closeIfIdle() {
	if c.uses.Load() == 0 {
		_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // never fails
	}
}

// closeForLoad closes the connection of a client that takes more than its share.
func (c *connection) closeForLoad() {
	_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), "")
}
