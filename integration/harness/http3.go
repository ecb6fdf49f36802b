package harness

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"

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
