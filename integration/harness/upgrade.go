package harness

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Upgrade is a handshake byte by byte, for what no WebSocket library sends. The zero value
// is a valid one without a token.
type Upgrade struct {
	Path   string   // empty: /ws
	Header []string // more of them: "Name: value"
	Peer   string   // the client's address, by a PROXY header; empty: loopback, and no such header
	TLS    bool
}

// Bearer is the Authorization header of a token.
func Bearer(token string) string { return "Authorization: Bearer " + token }

// Offer is a header that offers these subprotocols.
func Offer(protocols string) string { return "Sec-WebSocket-Protocol: " + protocols }

// Upgrade sends the handshake and returns the answer; the connection of one
// that was accepted is closed.
func (e *Edge) Upgrade(u Upgrade) Answer {
	e.T.Helper()
	port := e.HTTP
	if u.TLS {
		port = e.HTTPS
	}
	conn := value(net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)))(e.T)
	defer conn.Close()
	e.Must(conn.SetDeadline(time.Now().Add(WaitTimeout)))
	if u.Peer != "" {
		family, edge := "TCP4", "127.0.0.1"
		if strings.Contains(u.Peer, ":") {
			family, edge = "TCP6", "::1"
		}
		value(fmt.Fprintf(conn, "PROXY %s %s %s 40000 %d\r\n", family, u.Peer, edge, port))(e.T)
	}
	if u.TLS {
		config := value(e.TlsConfig())(e.T)
		config.ServerName = "localhost"
		conn = tls.Client(conn, config)
	}
	lines := append([]string{
		"GET " + cmp.Or(u.Path, "/ws") + " HTTP/1.1", fmt.Sprintf("Host: localhost:%d", port), "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==",
	}, u.Header...)
	value(fmt.Fprint(conn, strings.Join(lines, "\r\n"), "\r\n\r\n"))(e.T)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
	e.Must(err)
	defer res.Body.Close()
	return value(answerOf(res))(e.T)
}
