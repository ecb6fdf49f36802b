package sessions

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// A QUIC connection can move to another address, and a token with masks does not
// go along. It takes a second loopback address, which Linux has.
func TestWebTransportMigration(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	masked := e.Limited(harness.Object{"allow_ip_masks": []string{"127.0.0.1"}})
	for _, c := range []struct {
		name, token string
		says        bool // the client sends a message from the new address
		stays       bool
	}{
		{"no masks", e.Issue(harness.AllowAll("room")).Token, true, true},
		{"both addresses in the mask", e.Limited(harness.Object{"allow_ip_masks": []string{"127.0.0.0/8"}}), true, true},
		{"outside the mask", masked, true, false},
		{"outside the mask, silent", masked, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := e.With(t)
			conn := dialFrom(e, "127.0.0.1")
			session, a := e.OpenSession(conn, harness.Handshake{Token: c.token})
			if session == nil {
				t.Fatalf("the handshake was refused: %d %s", a.Status, a.Body)
			}
			s := e.OnSession(conn, session)
			s.Ping()
			migrate(e, conn, "127.0.0.2")
			switch {
			case c.stays:
				s.Ping()
				s.Fence()
				return
			case c.says:
				s.PingUntilForbidden()
			default:
				s.ExpectText("ERR:forbidden:ip")
			}
			s.ExpectClose(wire.CloseForbidden)
		})
	}
}

// transportFrom is a QUIC socket on an address.
func transportFrom(e *harness.Edge, address string) *quic.Transport {
	e.T.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		e.T.Fatal(err)
	}
	transport := &quic.Transport{Conn: udp}
	e.T.Cleanup(func() {
		transport.Close()
		udp.Close()
	})
	return transport
}

// dialFrom is dialQUIC from an address.
func dialFrom(e *harness.Edge, address string) *quic.Conn {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	conn, err := transportFrom(e, address).Dial(ctx, e.UdpAddress(), e.QuicTLS(), &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
		KeepAlivePeriod: time.Second, // a packet from where the client is
	})
	if err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() { harness.CloseQUIC(conn) })
	return conn
}

// migrate moves a connection to another address.
func migrate(e *harness.Edge, conn *quic.Conn, address string) {
	e.T.Helper()
	path, err := conn.AddPath(transportFrom(e, address))
	if err != nil {
		e.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	if err := path.Probe(ctx); err != nil {
		e.T.Fatal(err)
	}
	if err := path.Switch(); err != nil {
		e.T.Fatal(err)
	}
}
