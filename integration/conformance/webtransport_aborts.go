package conformance

import (
	"github.com/millrace/millrace/integration/harness"
)

// webTransportAborts end a WebTransport session in violation of the protocol.
var webTransportAborts = []func(*harness.Socket) error{
	func(s *harness.Socket) error { // in the middle of a message
		if err := s.Wt().WriteBytes([]byte{0, 0, 0, 9, 'S', 'U'}); err != nil {
			return err
		}
		return s.Cut()
	},
	func(s *harness.Socket) error { // with the stream reset
		s.Wt().Stream.CancelWrite(7)
		s.Wt().Stream.CancelRead(7)
		return nil
	},
}

// incompleteWebTransports opens connections and sessions that send nothing further, and
// closes them.
func incompleteWebTransports(c *harness.Stage, token string) {
	for range 5 {
		harness.CloseQUIC(c.DialQUIC(nil))
		for _, h := range []harness.Handshake{
			{Token: token}, // without its stream
			{},             // without a token
			{Token: "AT_x"},
		} {
			conn := c.DialQUIC(nil)
			c.OpenSession(conn, h)
			harness.CloseQUIC(conn)
		}
	}
}
