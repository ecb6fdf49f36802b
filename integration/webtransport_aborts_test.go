package integration

// webTransportAborts end a WebTransport session in violation of the protocol.
var webTransportAborts = []func(*socket) error{
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

// incompleteWebTransports opens connections and sessions that send nothing further, and
// closes them.
func incompleteWebTransports(c *stage, token string) {
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
