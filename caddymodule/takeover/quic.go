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
	// handshakes a second from which on clients have to prove their address
	// first, with one round trip more, as Caddy asks of them.
	handshakes = 1000

	// What a client may send before anybody reads it, on a stream and in all. This
	// is what a connection can cost that has not shown a token yet, and so it is
	// less than the 512 KiB of quic-go; both windows grow, up to quic-go's limits,
	// as long as the data is read as it comes.
	streamWindow     = 64 << 10
	connectionWindow = 128 << 10

	// Streams that are open at the same time: requests, and those of sessions.
	streams    = 100
	uniStreams = 100
)

func newTransport(socket net.PacketConn) *quic.Transport {
	limiter := rate.NewLimiter(handshakes, handshakes)
	return &quic.Transport{
		Conn:                innermost(socket),
		VerifySourceAddress: func(net.Addr) bool { return !limiter.Allow() },
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

// quicConfig is what WebTransport needs, and Caddy's own settings else.
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
		MaxIncomingStreams:               streams,
		MaxIncomingUniStreams:            uniStreams,
		Tracer:                           qlog.DefaultConnectionTracer, // that of package http3 would write tokens down
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

// newWebServer makes the server of HTTP/3 and WebTransport. It gets no logger:
// it would write the requests down as they come, with their tokens.
func newWebServer(handler http.Handler, maxHeaderBytes int, idle time.Duration) *webtransport.Server {
	return &webtransport.Server{
		H3: &http3.Server{
			Handler:        handler,
			MaxHeaderBytes: maxHeaderBytes,
			IdleTimeout:    idle,
			ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
				return context.WithValue(ctx, connKey{}, &connection{Conn: conn})
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
