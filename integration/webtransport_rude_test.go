package integration

// rudeWebTransports end a WebTransport session against the rules.
var rudeWebTransports = []func(*socket) error{
	func(s *socket) error { // in the middle of a message
		if err := s.wt().writeBytes([]byte{0, 0, 0, 9, 'S', 'U'}); err != nil {
			return err
		}
		return s.cut()
	},
	func(s *socket) error { // with the stream reset
		s.wt().stream.CancelWrite(7)
		s.wt().stream.CancelRead(7)
		return nil
	},
}

// halfWebTransports opens connections and sessions that go no further, and
// cuts them.
func halfWebTransports(c *stage, token string) {
	for range 5 {
		closeQUIC(c.dialQUIC(nil))
		for _, h := range []handshake{
			{Token: token}, // without its stream
			{},             // without a token
			{Token: "AT_x"},
		} {
			conn := c.dialQUIC(nil)
			c.openSession(conn, h)
			closeQUIC(conn)
		}
	}
}
