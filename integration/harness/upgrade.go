package harness

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Upgrade is a handshake byte by byte, for what no WebSocket library sends. The zero value
// is a valid one without a token.
type Upgrade struct {
	Method  string   // empty: GET
	Path    string   // empty: /ws
	Header  []string // "Name: value"; they replace the usual ones of the same name
	Without string   // the name of a usual header to leave out
	Body    string   // sent as it is
	Peer    string   // the client's address, by a PROXY header; empty: loopback, and no such header
	TLS     bool
}

// Bearer is the Authorization header of a token.
func Bearer(token string) string { return "Authorization: Bearer " + token }

// Offer is a header that offers these subprotocols.
func Offer(protocols string) string { return "Sec-WebSocket-Protocol: " + protocols }

func (u Upgrade) bytes(port int) string {
	header := slices.Clone(u.Header)
	for _, usual := range []string{
		fmt.Sprintf("Host: localhost:%d", port),
		"Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==",
	} {
		name, _, _ := strings.Cut(usual, " ") // with its colon
		if name != u.Without+":" && !slices.ContainsFunc(u.Header, func(h string) bool { return strings.HasPrefix(h, name) }) {
			header = append(header, usual)
		}
	}
	return cmp.Or(u.Method, http.MethodGet) + " " + cmp.Or(u.Path, "/ws") + " HTTP/1.1\r\n" + strings.Join(header, "\r\n") + "\r\n\r\n" + u.Body
}

// Upgrade sends the handshake and returns the answer; the connection of one
// that was accepted is closed.
func (e *Edge) Upgrade(u Upgrade) Answer {
	e.T.Helper()
	a, conn, _ := e.Connect(u)
	conn.Close()
	return a
}

// Connect is Upgrade for callers that continue with the connection: reader holds what the
// edge sent after its answer. The connection is closed when the test ends.
func (e *Edge) Connect(u Upgrade) (a Answer, conn net.Conn, reader *bufio.Reader) {
	e.T.Helper()
	port := e.HTTP
	if u.TLS {
		port = e.HTTPS
	}
	conn = value(net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)))(e.T)
	e.T.Cleanup(func() { conn.Close() })
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
	value(io.WriteString(conn, u.bytes(port)))(e.T)
	reader = bufio.NewReader(conn)
	res := value(http.ReadResponse(reader, &http.Request{Method: u.Method}))(e.T)
	return value(answerOf(res))(e.T), conn, reader
}
