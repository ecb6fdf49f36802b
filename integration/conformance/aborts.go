package conformance

import (
	"fmt"
	"net"

	"github.com/millrace/millrace/integration/harness"
)

// webSocketAborts end a WebSocket in violation of the protocol.
var webSocketAborts = []func(*harness.Socket) error{
	func(s *harness.Socket) error { // in the middle of a frame
		if _, err := s.Ws().NetConn().Write([]byte{0x82, 0xff, 0, 0}); err != nil {
			return err
		}
		return s.Cut()
	},
	func(s *harness.Socket) error { // the edge closes it
		_, err := s.Ws().NetConn().Write([]byte("no frame at all"))
		return err
	},
}

// incompleteWebSockets sends handshakes, one of them complete and valid, and reads no answer.
func incompleteWebSockets(c *harness.Stage, token string) {
	begin := "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
	valid := begin + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	for _, request := range []string{valid, begin, ""} {
		for range 5 {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.HTTP))
			c.Must(err)
			_, err = conn.Write([]byte(request))
			c.Must(err)
			conn.Close()
		}
	}
}

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
	for range 3 {
		harness.CloseQUIC(c.DialQUIC(nil))
		for _, h := range []harness.Handshake{{Token: token}, {}, {Token: "AT_x"}} { // without its stream, or a token
			conn := c.DialQUIC(nil)
			c.OpenSession(conn, h)
			harness.CloseQUIC(conn)
		}
	}
}
