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
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
)

func (e *Edge) crowdDial(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn, nil
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
	return 1, waitForEnd(conn, 20*time.Second)
}

// waitForEnd reads until the peer ends the connection, for so long.
func waitForEnd(conn net.Conn, d time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, conn)
	if os.IsTimeout(err) {
		return nil
	}
	return err
}

// SlowRequest sends a request to the WebSocket, a byte at a time.
func (e *Edge) SlowRequest(ctx context.Context, _ int) (int, error) {
	conn, err := e.crowdDial(ctx, e.HTTP)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	request := "GET /ws HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("a", 4096)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range len(request) {
		if _, err := conn.Write([]byte{request[i]}); err != nil {
			return 1, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 1, nil
		}
	}
	return 1, nil
}

// SilentSession opens a WebTransport session from an address of its own, and says
// nothing.
func (e *Edge) SilentSession(ctx context.Context, member int) (int, error) {
	config, err := e.TlsConfig()
	if err != nil {
		return 0, err
	}
	config.ServerName, config.NextProtos = "localhost", []string{http3.NextProtoH3}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 2, byte(member+1))})
	if err != nil {
		return 0, err
	}
	defer socket.Close()
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	conn, err := transport.Dial(ctx, e.UdpAddress(), config,
		&quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200})
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
	session, refused, err := DialSession(client, Handshake{URL: e.HttpsURL("/wt")})
	if err != nil {
		return 0, err
	}
	if session == nil {
		return 0, fmt.Errorf("refused: %d", refused.Status)
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
	conn, err := net.DialUDP("udp4", nil, e.UdpAddress())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	packet := make([]byte, 1252)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := range 1000 {
		rand.Read(packet) // never fails
		if n%2 == 0 {     // a long header, version 1, with connection IDs of 8 bytes
			packet[0] = packet[0]&0x0f | 0xc0
			binary.BigEndian.PutUint32(packet[1:], 1)
			packet[5], packet[14] = 8, 8
		}
		_, _ = conn.Write(packet) // refused, when the edge is behind: then it is lost
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		}
	}
	return 1000, nil
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
	defer conn.Close()
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
	fields := append([]byte{0x82, 0x87, 0x84, 0x01, 9}, "localhost"...)                    // GET, https, /, :authority
	fields = append(append(fields, 0x40, 3), "x-a"...)                                     // a new field, into the table
	fields = append(fields, 0x7f, byte((len(value)-127)&0x7f|0x80))                        // its length, in 7 bits and more
	fields = append(append(fields, byte((len(value)-127)>>7)), value...)                   // which are two bytes here
	again := append([]byte{0x82, 0x87, 0x84, 0x01, 9}, "localhost"...)                     // and from the table
	again = append(again, bytes.Repeat([]byte{0xbe}, 3)...)                                // three times, 12 KiB
	hello := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0, 0, 0, 4, 0, 0, 0, 0, 0) // and empty SETTINGS
	if _, err := conn.Write(append(hello, headersFrame(1, fields)...)); err != nil {
		return 0, err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		case <-done:
			return n, fmt.Errorf("the edge has closed the connection")
		}
		if _, err := conn.Write(headersFrame(uint32(2*n+1), again)); err != nil {
			return n, err
		}
	}
}

// headersFrame is a request without a body (RFC 9113, section 6.2).
func headersFrame(stream uint32, fields []byte) []byte {
	frame := []byte{byte(len(fields) >> 16), byte(len(fields) >> 8), byte(len(fields)), 1, 0x5}
	return append(binary.BigEndian.AppendUint32(frame, stream), fields...)
}
