package harness

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
)

func (e *Edge) crowdDial(ctx context.Context, port int) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}

// HalfHandshake begins one of TLS and waits for the edge to lose patience, or for
// some seconds.
func (e *Edge) HalfHandshake(ctx context.Context, _ int) (int, error) {
	conn, err := e.crowdDial(ctx, e.HTTPS)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	hello := []byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03} // of a ClientHello of 512 bytes
	if _, err := conn.Write(hello); err != nil {
		return 0, err
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // fails when it is closed
	if _, err = io.Copy(io.Discard, conn); os.IsTimeout(err) {
		err = nil
	}
	return 1, err
}

// SlowRequest sends a request to the WebSocket, a byte at a time.
func (e *Edge) SlowRequest(ctx context.Context, _ int) (int, error) {
	conn, err := e.crowdDial(ctx, e.HTTP)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for _, b := range []byte("GET /ws HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("a", 4096)) {
		if _, err = conn.Write([]byte{b}); err != nil || ctx.Err() != nil {
			break
		}
		time.Sleep(100 * time.Millisecond) // its pace
	}
	return 1, err
}

// SilentSession opens a WebTransport session from an address of its own, and says
// nothing.
func (e *Edge) SilentSession(ctx context.Context, member int) (int, error) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 2, byte(member+1))})
	if err != nil {
		return 0, err
	}
	defer socket.Close()
	conn, err := quic.Dial(ctx, socket, e.udpAddress(), e.quicTLS(), quicConfig())
	if err != nil {
		return 0, err
	}
	defer CloseQUIC(conn)
	session, refused, err := e.openSession(ctx, conn, Handshake{})
	if session == nil {
		return 0, fmt.Errorf("refused: %d, %w", refused.Status, err)
	}
	select {
	case <-session.Context().Done():
	case <-ctx.Done():
	}
	return 1, nil
}

// GarbagePackets sends random datagrams for a second; half look like the
// first packets of a QUIC connection.
func (e *Edge) GarbagePackets(ctx context.Context, _ int) (n int, err error) {
	conn, err := net.DialUDP("udp4", nil, e.udpAddress())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for packet := make([]byte, 1252); n < 1000 && ctx.Err() == nil; n++ {
		rand.Read(packet) // never fails
		if n%2 == 0 {     // a long header, version 1, with connection IDs of 8 bytes
			packet[0] = packet[0]&0x0f | 0xc0
			binary.BigEndian.PutUint32(packet[1:], 1)
			packet[5], packet[14] = 8, 8
		}
		_, _ = conn.Write(packet)    // refused, when the edge is behind: then it is lost
		time.Sleep(time.Millisecond) // their pace
	}
	return n, nil
}

// HeaderBombs sends HTTP/2 requests with three headers of 4 KiB that are a byte each on the
// wire, but for the first: the table of the connection has the value, which looks as much
// like an encoded token as a value can.
func (e *Edge) HeaderBombs(ctx context.Context, _ int) (n int, err error) {
	over := e.Http2()
	defer over.CloseIdleConnections()
	value := strings.Repeat("a", 3900) + "_%2525zz"
	for ; ctx.Err() == nil; n++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.HttpsURL("/"), nil)
		if err != nil {
			return n, err
		}
		req.Header["X-A"] = []string{value, value, value}
		res, err := over.RoundTrip(req)
		if err != nil {
			return n, err
		}
		res.Body.Close()
	}
	return n, nil
}
