package harness

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Http3 is a plain HTTP/3 client of the HTTPS site, closed when the test ends.
func (e *Edge) Http3() *http3.Transport {
	e.T.Helper()
	config, err := e.TlsConfig()
	if err != nil {
		e.T.Fatal(err)
	}
	transport := &http3.Transport{
		TLSClientConfig: config,
		Dial: func(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(e.HTTPS)), t, q)
		},
	}
	e.T.Cleanup(func() {
		if err := transport.Close(); err != nil {
			e.T.Error(err)
		}
	})
	return transport
}

// Http2 is an HTTP/2 client of the HTTPS site.
func (e *Edge) Http2() *http.Transport {
	e.T.Helper()
	config, err := e.TlsConfig()
	if err != nil {
		e.T.Fatal(err)
	}
	transport := &http.Transport{DialContext: DialLoopback, TLSClientConfig: config, ForceAttemptHTTP2: true}
	e.T.Cleanup(transport.CloseIdleConnections)
	return transport
}

// DialFarAway is the dialer of a client to whom each packet takes a while: it has
// opened its streams before the edge answers, as early data is meant to be used.
// The library reads the parameters of the session before, and replaces them by the
// edge's, without a lock; on loopback both happen at the same time.
func (e *Edge) DialFarAway(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: farAway{socket}}
	e.T.Cleanup(func() {
		transport.Close()
		socket.Close()
	})
	return transport.DialEarly(ctx, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: e.HTTPS}, t, q)
}

// farAway is a socket whose packets arrive late.
type farAway struct{ net.PacketConn }

func (f farAway) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := f.PacketConn.ReadFrom(b)
	time.Sleep(20 * time.Millisecond) // the way of the packet
	return n, from, err
}
