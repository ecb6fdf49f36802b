package integration

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/wire"
)

// A QUIC connection can move to another address, and a token with masks does not
// go along. It takes a second loopback address, which Linux has.
func TestWebTransportMigration(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	masked := e.limited(object{"allow_ip_masks": []string{"127.0.0.1"}})
	for _, c := range []struct {
		name, token string
		says        bool // the client sends a message from the new address
		stays       bool
	}{
		{"no masks", e.issue(allowAll("room")).Token, true, true},
		{"both addresses in the mask", e.limited(object{"allow_ip_masks": []string{"127.0.0.0/8"}}), true, true},
		{"outside the mask", masked, true, false},
		{"outside the mask, silent", masked, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := e.with(t)
			conn := e.dialFrom("127.0.0.1")
			session, a := e.openSession(conn, handshake{Token: c.token})
			if session == nil {
				t.Fatalf("the handshake was refused: %d %s", a.Status, a.Body)
			}
			s := e.onSession(conn, session)
			s.ping()
			e.migrate(conn, "127.0.0.2")
			switch {
			case c.stays:
				s.ping()
				s.fence()
				return
			case c.says:
				s.pingUntilForbidden()
			default:
				s.expectText("ERR:forbidden:ip")
			}
			s.expectClose(wire.CloseForbidden)
		})
	}
}

// pingUntilForbidden sends messages until the edge refuses the address that they
// come from: QUIC follows a client with one of its next packets.
func (s *socket) pingUntilForbidden() {
	s.t.Helper()
	for range 10_000 {
		s.sendLine("PING")
		_, message, err := s.read()
		switch {
		case err != nil:
			s.t.Fatalf("got %v, want ERR:forbidden:ip", err)
		case string(message) == "ERR:forbidden:ip":
			return
		case string(message) != "PONG":
			s.t.Fatalf("got %q", message)
		}
	}
	s.t.Fatal("the edge does not look at the address of messages")
}

// transportFrom is a QUIC socket on an address.
func (e *edge) transportFrom(address string) *quic.Transport {
	e.t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		e.t.Fatal(err)
	}
	transport := &quic.Transport{Conn: udp}
	e.t.Cleanup(func() {
		transport.Close()
		udp.Close()
	})
	return transport
}

// dialFrom is dialQUIC from an address.
func (e *edge) dialFrom(address string) *quic.Conn {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := e.transportFrom(address).Dial(ctx, e.udpAddress(), e.quicTLS(), &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
		KeepAlivePeriod: time.Second, // a packet from where the client is
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { closeQUIC(conn) })
	return conn
}

// migrate moves a connection to another address.
func (e *edge) migrate(conn *quic.Conn, address string) {
	e.t.Helper()
	path, err := conn.AddPath(e.transportFrom(address))
	if err != nil {
		e.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	if err := path.Probe(ctx); err != nil {
		e.t.Fatal(err)
	}
	if err := path.Switch(); err != nil {
		e.t.Fatal(err)
	}
}
