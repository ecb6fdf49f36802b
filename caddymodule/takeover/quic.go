package takeover

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/webtransport-go"
	"golang.org/x/time/rate"

	"github.com/millrace/millrace/wire"
)

const (
	// freeHandshakes is how many handshakes a second need no proof of the client's
	// address. Beyond it, clients have to prove it first, with one round trip more
	// (RFC 9000, section 8.1), as Caddy asks of them.
	freeHandshakes = 1000

	// How many bytes a client may send before anybody reads them, on one stream and
	// on the connection. A connection that has not shown a token yet can cost this
	// much, so it is less than quic-go's 512 KiB; both windows grow, up to quic-go's
	// limits, as long as the data is read as it arrives.
	streamWindow     = 64 << 10
	connectionWindow = 128 << 10

	// Streams that are open at the same time: requests, and those of sessions.
	maxStreams    = 100
	maxUniStreams = 100
)

func newTransport(socket net.PacketConn) *quic.Transport {
	limiter := rate.NewLimiter(freeHandshakes, freeHandshakes)
	return &quic.Transport{
		Conn: innermost(socket),
		VerifySourceAddress: func(from net.Addr) bool {
			return !limiter.Allow() || limits.crowded(networkOf(from))
		},
		ConnContext: limits.admit,
	}
}

// innermost unwraps Caddy's packet conns: quic-go sends and receives packets in
// batches when it sees the UDP socket itself.
func innermost(socket net.PacketConn) net.PacketConn {
	for {
		wrapper, ok := socket.(interface{ Unwrap() net.PacketConn })
		if !ok {
			return socket
		}
		socket = wrapper.Unwrap()
	}
}

// quicConfig returns what WebTransport needs, and otherwise Caddy's own settings.
func (p *port) quicConfig() *quic.Config {
	config := &quic.Config{
		EnableDatagrams:                  true,
		EnableStreamResetPartialDelivery: true,
		InitialPacketSize:                1200, // more makes quic-go's pacer spin
		Allow0RTT:                        true,
		MaxIdleTimeout:                   30 * time.Second,
		KeepAlivePeriod:                  10 * time.Second,
		InitialStreamReceiveWindow:       streamWindow,
		InitialConnectionReceiveWindow:   connectionWindow,
		MaxIncomingStreams:               maxStreams,
		MaxIncomingUniStreams:            maxUniStreams,
		Tracer:                           qlog.DefaultConnectionTracer, // that of package http3 would write tokens
	}
	no0RTT := config.Clone()
	no0RTT.Allow0RTT = false
	config.GetConfigForClient = func(*quic.ClientInfo) (*quic.Config, error) {
		if allow := p.current().server.Allow0RTT; allow != nil && !*allow {
			return no0RTT, nil
		}
		return config, nil
	}
	return config
}

// newServer returns the server of HTTP/3 and WebTransport. It gets no logger: it
// would log the requests as they come, with their tokens.
func (p *port) newServer(maxHeaderBytes int, idleTimeout time.Duration) *webtransport.Server {
	return &webtransport.Server{
		H3: &http3.Server{
			Handler:        p,
			MaxHeaderBytes: maxHeaderBytes,
			IdleTimeout:    idleTimeout,
			ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
				c, _ := p.conns.Load(conn)
				return context.WithValue(ctx, connKey{}, c)
			},
		},
		ApplicationProtocols: []string{wire.Subprotocol},
		// The token's list of origins decides.
		CheckOrigin: func(*http.Request) bool { return true },
		// Without limits a connection could hold a single session.
		Config: &webtransport.Config{
			MaxIncomingStreams:    8,
			MaxIncomingUniStreams: 16,
			MaxIncomingData:       1 << 20,
		},
	}
}
