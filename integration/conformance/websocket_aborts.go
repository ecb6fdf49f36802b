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

// incompleteWebSockets sends handshakes, some of them complete and valid, and reads no
// answer.
func incompleteWebSockets(c *harness.Stage, token string) {
	for _, request := range []string{
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n",
		"",
	} {
		for range 5 {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.HTTP))
			if err != nil {
				c.T.Fatal(err)
			}
			if _, err := conn.Write([]byte(request)); err != nil {
				c.T.Fatal(err)
			}
			conn.Close() // without reading the answer
		}
	}
}
