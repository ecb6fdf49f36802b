package harness

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
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
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: value(e.TlsConfig())(e.T)}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := DialLoopback(ctx, network, address)
		if err != nil || u.Peer == "" {
			return conn, err
		}
		family, edge := "TCP4", "127.0.0.1"
		if strings.Contains(u.Peer, ":") {
			family, edge = "TCP6", "::1"
		}
		_, err = fmt.Fprintf(conn, "PROXY %s %s %s 40000 443\r\n", family, u.Peer, edge)
		return conn, err
	}
	c := Call{Method: http.MethodGet, URL: e.HttpURL(cmp.Or(u.Path, "/ws")), Over: transport, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAECAwQFBgcICQoLDA0ODw=="},
	}}
	if u.TLS {
		c.URL = e.HttpsURL(cmp.Or(u.Path, "/ws"))
	}
	for _, line := range u.Header {
		name, text, _ := strings.Cut(line, ": ")
		c.Header.Add(name, text)
	}
	return e.Do(c)
}
