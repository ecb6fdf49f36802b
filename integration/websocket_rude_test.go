package integration

import (
	"fmt"
	"net"
)

// rudeWebSockets end a WebSocket against the rules.
var rudeWebSockets = []func(*socket) error{
	func(s *socket) error { // in the middle of a frame
		if _, err := s.ws().NetConn().Write([]byte{0x82, 0xff, 0, 0}); err != nil {
			return err
		}
		return s.cut()
	},
	func(s *socket) error { // it is thrown out
		_, err := s.ws().NetConn().Write([]byte("no frame at all"))
		return err
	},
}

// halfWebSockets sends handshakes, some of them whole and good, and reads no
// answer.
func halfWebSockets(c *stage, token string) {
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
				c.t.Fatal(err)
			}
			if _, err := conn.Write([]byte(request)); err != nil {
				c.t.Fatal(err)
			}
			conn.Close() // without reading the answer
		}
	}
}
