package takeover

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

// gate is a socket on which nothing is read until it is open: quic-go's client reads
// what the server's parameters say when it opens a stream, and writes it when they come,
// which early data lets it do at the same time.
type gate struct {
	net.PacketConn
	open chan struct{}
}

func (g *gate) ReadFrom(b []byte) (int, net.Addr, error) {
	<-g.open
	return g.PacketConn.ReadFrom(b)
}

func listenUDP(t *testing.T) net.PacketConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// smallRequest is GET https://localhost/ in a HEADERS frame (RFC 9114, section 7.2.2)
// of entries of the static table alone, but for the name (RFC 9204, appendix A).
var smallRequest = []byte("\x01\x10\x00\x00\xd1\xd7\xc1\x50\x09localhost")

// TestEarlyData follows the server's allow_0rtt, also that of a later
// configuration.
func TestEarlyData(t *testing.T) {
	address := unused(t)
	one := newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) { answer("one")(w, r) })
	one.start(t)
	ticket := newTickets()
	early := func(known bool) bool {
		t.Helper()
		socket := &gate{PacketConn: listenUDP(t), open: make(chan struct{})}
		open := sync.OnceFunc(func() { close(socket.open) })
		transport := &quic.Transport{Conn: socket}
		defer transport.Close()
		defer open()
		if !known { // it waits for the server
			open()
		}
		config := clientTLS.Clone()
		config.ClientSessionCache, config.ServerName = ticket, "localhost"
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(address.StartPort)}
		conn, err := transport.DialEarly(ctx, to, config, &quic.Config{HandshakeIdleTimeout: testTimeout, InitialPacketSize: 1200})
		must(t, err)
		defer func() { _ = conn.CloseWithError(0, "") }()
		stream, err := conn.OpenStream()
		must(t, err)
		must(t, errorOf(stream.Write(smallRequest)))
		_ = stream.Close() // fails with the connection
		open()
		_ = stream.SetReadDeadline(time.Now().Add(testTimeout))
		response, err := io.ReadAll(stream)
		if errors.Is(err, quic.Err0RTTRejected) {
			return false
		}
		if !bytes.HasSuffix(response, []byte("one")) || err != nil {
			t.Errorf("got %q, %v", response, err)
		}
		take(t, ticket.put)
		return conn.ConnectionState().Used0RTT
	}
	if early(false) {
		t.Error("early data without a ticket")
	}
	if !early(true) {
		t.Error("no early data, which is allowed by default")
	}
	no := false
	two := newGeneration(t, address, "one", answer("one"))
	two.server.Allow0RTT = &no
	two.server.TLSConnPolicies = one.server.TLSConnPolicies // whose tickets it understands
	two.start(t)
	if early(true) {
		t.Error("early data, which the current configuration does not allow")
	}
}

// tickets keeps the last session ticket, and tells when there is a new one.
type tickets struct {
	tls.ClientSessionCache
	put chan struct{}
}

func newTickets() tickets {
	return tickets{tls.NewLRUClientSessionCache(1), make(chan struct{}, 8)}
}

// Put implements [tls.ClientSessionCache].
func (c tickets) Put(key string, state *tls.ClientSessionState) {
	c.ClientSessionCache.Put(key, state)
	if state != nil {
		c.put <- struct{}{}
	}
}
