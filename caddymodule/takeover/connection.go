package takeover

import (
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// answerTime is how long a client may take to make room for the answer to its
// CONNECT. The library waits up to 5 s for its settings before that.
const answerTime = 6 * time.Second

// connection is a QUIC connection, with a count of what goes on over it.
type connection struct {
	*quic.Conn
	uses atomic.Int64 // requests and sessions
}

func (c *connection) begin() { c.uses.Add(1) }
func (c *connection) end()   { c.uses.Add(-1) }

// leave closes the connection unless something goes on over it.
func (c *connection) leave() {
	if c.uses.Load() == 0 {
		_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // fails never
	}
}

// refuse closes the connection of a client that takes up more than its share.
func (c *connection) refuse() {
	_ = c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), "")
}
