package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"
)

func (e *Edge) crowdDial(ctx context.Context, port int) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}

// repeat calls send, with the number of the call, as often as the edge lets it until ctx ends,
// and returns how often that was.
func repeat(ctx context.Context, every time.Duration, times int, send func(n int) error) (int, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := range times {
		if err := send(n); err != nil {
			return n, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		}
	}
	return times, nil
}

// HalfHandshake begins one of TLS and waits for the edge to lose WaitTimeout, or for
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
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return 1, err
	}
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
	request := "GET /ws HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("a", 4096)
	_, err = repeat(ctx, 100*time.Millisecond, len(request), func(i int) error {
		_, err := conn.Write([]byte{request[i]})
		return err
	})
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
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	conn, err := transport.Dial(ctx, e.udpAddress(), e.quicTLS(), quicConfig())
	if err != nil {
		return 0, err
	}
	defer CloseQUIC(conn)
	sessions := &webtransport.Transport{}
	defer sessions.Close()
	client, err := sessions.NewClientConn(conn)
	if err != nil {
		return 0, err
	}
	session, refused, err := dialSession(client, Handshake{URL: e.HttpsURL("/wt")})
	if err == nil && session == nil {
		err = fmt.Errorf("refused: %d", refused.Status)
	}
	if err != nil {
		return 0, err
	}
	select {
	case <-session.Context().Done():
	case <-ctx.Done():
	}
	return 1, nil
}

// GarbagePackets sends random datagrams for a second, of which half look like the
// first packets of a QUIC connection.
func (e *Edge) GarbagePackets(ctx context.Context, _ int) (int, error) {
	conn, err := net.DialUDP("udp4", nil, e.udpAddress())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	packet := make([]byte, 1252)
	return repeat(ctx, time.Millisecond, 1000, func(n int) error {
		rand.Read(packet) // never fails
		if n%2 == 0 {     // a long header, version 1, with connection IDs of 8 bytes
			packet[0] = packet[0]&0x0f | 0xc0
			binary.BigEndian.PutUint32(packet[1:], 1)
			packet[5], packet[14] = 8, 8
		}
		_, _ = conn.Write(packet) // refused, when the edge is behind: then it is lost
		return nil
	})
}

// HeaderBombs sends HTTP/2 requests whose headers are a byte each on the wire: the
// table of the connection has the value, which looks as much like an encoded token
// as a value can.
func (e *Edge) HeaderBombs(ctx context.Context, _ int) (int, error) {
	config, err := e.TlsConfig()
	if err != nil {
		return 0, err
	}
	plain, err := e.crowdDial(ctx, e.HTTPS)
	if err != nil {
		return 0, err
	}
	config.ServerName, config.NextProtos = "localhost", []string{"h2"}
	conn := tls.Client(plain, config)
	done := make(chan struct{})
	go func() { // ends with the connection
		defer close(done)
		_, _ = io.Copy(io.Discard, conn)
	}()
	defer func() {
		conn.Close()
		<-done
	}()

	value := strings.Repeat("a", 3900) + "_%2525zz"
	again := append([]byte{0x82, 0x87, 0x84, 0x01, 9}, "localhost"...) // GET, https, /, :authority
	fields := append(bytes.Clone(again), 0x40, 3, 'x', '-', 'a')       // a new field, into the table
	more := len(value) - 127                                           // its length, in 7 bits and two bytes
	fields = append(append(fields, 0x7f, byte(more&0x7f|0x80), byte(more>>7)), value...)
	again = append(again, 0xbe, 0xbe, 0xbe)                                                // and from the table three times, 12 KiB
	hello := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0, 0, 0, 4, 0, 0, 0, 0, 0) // and empty SETTINGS
	if _, err := conn.Write(append(hello, headersFrame(1, fields)...)); err != nil {
		return 0, err
	}
	n, err := repeat(ctx, 5*time.Millisecond, 1<<30, func(n int) error {
		_, err := conn.Write(headersFrame(uint32(2*n+3), again))
		return err
	})
	return n + 1, err
}

// headersFrame is a request without a body (RFC 9113, section 6.2).
func headersFrame(stream uint32, fields []byte) []byte {
	frame := []byte{byte(len(fields) >> 16), byte(len(fields) >> 8), byte(len(fields)), 1, 0x5}
	return append(binary.BigEndian.AppendUint32(frame, stream), fields...)
}
