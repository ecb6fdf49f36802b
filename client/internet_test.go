package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/internal/memnet"
	"github.com/millrace/millrace/wire"
)

// internet is a network in memory, with servers that do with each connection what the test says.
type internet struct {
	*memnet.Network
	t    *testing.T
	last uint16            // port
	tls  *tls.Config       // of clients; set by the first server
	own  []tls.Certificate // of the servers
}

func newInternet(t *testing.T) *internet { return &internet{Network: memnet.New(), t: t} }

// address is a new one for a server.
func (n *internet) address() netip.AddrPort {
	n.last++
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), n.last)
}

// network is that of clients.
func (n *internet) network() *Network {
	from := netip.AddrFrom4([4]byte{127, 0, 0, 2})
	return &Network{
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			return n.Dial(ctx, from, netip.MustParseAddrPort(address))
		},
		DialPacket: func(_ context.Context, address string) (net.PacketConn, net.Addr, error) {
			to := netip.MustParseAddrPort(address)
			if !n.Listens(to) {
				return nil, nil, syscall.ECONNREFUSED
			}
			socket, err := n.ListenPacket(netip.AddrPortFrom(from, 0))
			return socket, net.UDPAddrFromAddrPort(to), err
		},
	}
}

// serve starts a server with TLS.
func (n *internet) serve(handler http.Handler) *httptest.Server {
	n.t.Helper()
	server := httptest.NewUnstartedServer(handler)
	noError(n.t, server.Listener.Close())
	listener, err := n.Listen(n.address())
	must(n.t, err)
	server.Listener = listener
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are wanted
	server.StartTLS()
	n.t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	n.tls, n.own = &tls.Config{RootCAs: roots, ServerName: "example.com"}, server.TLS.Certificates
	return server
}

// script starts an edge for WebSockets, and returns its origin. Requests for /ping are answered.
func (n *internet) script(serve http.HandlerFunc) (origin string) {
	n.t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "pong") })
	mux.HandleFunc("/ws", serve)
	return n.serve(mux).URL
}

func (n *internet) connect(change func(*Options), addresses ...string) (*Client, error) {
	o := Options{Token: "AT_a", Transports: []Transport{WebSocket}, TLS: n.tls, Network: n.network(), FailFast: true}
	if change != nil {
		change(&o)
	}
	return Connect(context.Background(), addresses, o)
}

func (n *internet) mustConnect(change func(*Options), addresses ...string) *Client {
	n.t.Helper()
	c, err := n.connect(change, addresses...)
	must(n.t, err)
	n.t.Cleanup(func() { c.Close() })
	return c
}

// client connects to an edge that gives each WebSocket to serve.
func (n *internet) client(change func(*Options), serve func(*websocket.Conn)) *Client {
	n.t.Helper()
	return n.mustConnect(change, n.script(talk(n.t, serve)))
}

// talk accepts a connection and gives it to f, which closes it by returning.
func talk(t *testing.T, f func(c *websocket.Conn)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer AT_a" {
			t.Errorf("Authorization: %q", got)
		}
		upgrader := websocket.Upgrader{Subprotocols: []string{wire.Subprotocol}}
		c, err := upgrader.Upgrade(w, r, nil)
		if wrong := (websocket.HandshakeError{}); errors.As(err, &wrong) {
			t.Error(err)
		}
		if err != nil {
			return // likewise below
		}
		defer c.Close()
		if c.Subprotocol() != wire.Subprotocol {
			t.Errorf("subprotocol %q", c.Subprotocol())
		}
		_, first, err := c.ReadMessage()
		if err != nil {
			return // the client, which comes back by itself, was closed meanwhile
		}
		if string(first) != wire.LineFeatures+furtherFeatures {
			t.Errorf("got %q", first)
		}
		f(c)
	}
}

// polite answers lines and echoes publishes to the pattern x until the client
// leaves.
func polite(c *websocket.Conn) {
	for {
		kind, m, err := c.ReadMessage()
		if err != nil {
			return
		}
		answer := append([]byte("OK:"), m...)
		switch {
		case kind == websocket.BinaryMessage:
			p, err := wire.DecodePublish(m)
			if err != nil {
				return
			}
			answer = wire.AppendDeliver(nil, p.Tenant, p.Channel, p.Payload, []string{"x"})
		case string(m) == "PING":
			answer = []byte("PONG")
		}
		if c.WriteMessage(kind, answer) != nil {
			return
		}
	}
}

func refuse(status int, code, detail string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"about:blank","title":"x","status":%d,"detail":%q,"code":%q}`, status, detail, code)
	}
}
