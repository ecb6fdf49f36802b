package client

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/internal/dial"
)

// Network opens the connections of a client in place of the machine's own: package edgetest
// has one in memory. Both functions are required, and are called concurrently. A client with
// a Network does not look whether the machine slept, or has other addresses.
type Network struct {
	// Dial opens the connection of a WebSocket, or of requests for a list of edges and for
	// pings, as [net.Dialer.DialContext] does. TLS is the client's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialPacket opens a socket for one WebTransport connection to address, a host and a
	// port, and says where packets to that go. The client closes the socket.
	DialPacket func(ctx context.Context, address string) (net.PacketConn, net.Addr, error)
}

// machine is the Network of the machine.
var machine = &Network{Dial: func(ctx context.Context, _, address string) (net.Conn, error) { return dial.TCP(ctx, address) }}

// dialTLS is Dial and a TLS handshake.
func (n *Network) dialTLS(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
	conn, err := n.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return handshake(ctx, conn, config)
}

func (n *Network) dialQUIC(ctx context.Context, address string, tls *tls.Config, config *quic.Config) (*quic.Conn, error) {
	if n.DialPacket == nil {
		return dial.QUIC(ctx, address, tls, config)
	}
	socket, to, err := n.DialPacket(ctx, address)
	if err != nil {
		return nil, err
	}
	conn, err := quic.Dial(ctx, socket, to, tls, config)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	context.AfterFunc(conn.Context(), func() { _ = socket.Close() })
	return conn, nil
}
