package integration

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// upgrade is a handshake byte by byte, for what no WebSocket library sends. The zero value
// is a valid one without a token.
type upgrade struct {
	Method  string   // empty: GET
	Path    string   // empty: /ws
	Header  []string // "Name: value"; they replace the usual ones of the same name
	Without string   // the name of a usual header to leave out
	Body    string   // sent as it is
	Peer    string   // the client's address, by a PROXY header; empty: loopback, and no such header
	TLS     bool
}

// bearer is the Authorization header of a token.
func bearer(token string) string { return "Authorization: Bearer " + token }

// offer is a header that offers these subprotocols.
func offer(protocols string) string { return "Sec-WebSocket-Protocol: " + protocols }

func (u upgrade) bytes(port int) string {
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
	if u.Method == "" {
		u.Method = http.MethodGet
	}
	if u.Path == "" {
		u.Path = "/ws"
	}
	return u.Method + " " + u.Path + " HTTP/1.1\r\n" + strings.Join(header, "\r\n") + "\r\n\r\n" + u.Body
}

// upgrade sends the handshake and returns the answer; the connection of one
// that was accepted is closed.
func (e *edge) upgrade(u upgrade) answer {
	e.t.Helper()
	a, conn, _ := e.connect(u)
	conn.Close()
	return a
}

// connect is upgrade for callers that continue with the connection: reader holds what the
// edge sent after its answer. The connection is closed when the test ends.
func (e *edge) connect(u upgrade) (a answer, conn net.Conn, reader *bufio.Reader) {
	e.t.Helper()
	must := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	port := e.HTTP
	if u.TLS {
		port = e.HTTPS
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := dialLoopback(ctx, "tcp", fmt.Sprintf("localhost:%d", port))
	must(err)
	e.t.Cleanup(func() { conn.Close() })
	must(conn.SetDeadline(time.Now().Add(waitTimeout)))
	if u.Peer != "" {
		family, edge := "TCP4", "127.0.0.1"
		if strings.Contains(u.Peer, ":") {
			family, edge = "TCP6", "::1"
		}
		_, err := fmt.Fprintf(conn, "PROXY %s %s %s 40000 %d\r\n", family, u.Peer, edge, port)
		must(err)
	}
	if u.TLS {
		config, err := e.tlsConfig()
		must(err)
		config.ServerName = "localhost"
		conn = tls.Client(conn, config)
	}
	_, err = conn.Write([]byte(u.bytes(port)))
	must(err)
	reader = bufio.NewReader(conn)
	res, err := http.ReadResponse(reader, &http.Request{Method: u.Method})
	must(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(err)
	return answer{Status: res.StatusCode, Header: res.Header, Body: body}, conn, reader
}

// adminCall calls the admin API of the edge.
func (e *edge) adminCall(method, path string, body any) answer {
	e.t.Helper()
	return e.do(call{Method: method, URL: "http://" + e.adminAddress() + path, Body: e.encode(body)})
}

// issueAnywhere issues a token with the rights of the whole overlay.
func (e *edge) issueAnywhere(grants ...object) issued {
	e.t.Helper()
	var got issued
	e.adminCall("POST", "/pubsub/tokens", tokenRequest(grants...)).decode(e.t, http.StatusOK, &got)
	return got
}
