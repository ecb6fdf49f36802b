package websocket

import "time"

// linger waits for the end of the closing handshake: it skips what the client still
// sends until its close frame, or until it ends the connection if that frame cannot be
// found. To close the socket before, with bytes unread, would reset it, and the client
// might never see the reason. The session cuts a connection that takes too long.
func (c *connection) linger() {
	c.message = nil
	if c.conn.SetReadDeadline(time.Time{}) != nil { // it is closed
		return
	}
	for !c.closeReceived.Load() && !c.unreadable.Load() {
		waiting := c.buffer[c.start:]
		h, size, breach := parseHeader(waiting)
		if breach != "" {
			break
		}
		if size == 0 {
			if !c.fill(len(waiting) + 1) {
				return
			}
			continue
		}
		c.start += size
		if !c.skip(h.length) {
			return
		}
		c.closeReceived.Store(h.opcode == opClose)
	}
	if c.closeReceived.Load() && c.closeSent.Load() {
		return
	}
	for c.start = len(c.buffer); c.fill(1); c.start = len(c.buffer) { // until the writer has closed the connection
	}
}

// skip drops the next n bytes that the client sent.
func (c *connection) skip(n uint64) bool {
	for {
		here := min(n, uint64(len(c.buffer)-c.start))
		c.start += int(here)
		if n -= here; n == 0 {
			return true
		}
		if !c.fill(1) {
			return false
		}
	}
}
