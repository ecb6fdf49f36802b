package load

import (
	"context"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// A QUIC client whose address changes in the middle of its sessions: they end when
// their token does not allow the new one, and go on otherwise.
func TestHostileMigration(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	rows := []struct {
		name, channel string
		dial          func(t *testing.T, e *harness.Edge) (conn *quic.Conn, move func())
	}{
		{"the client moves", "moves", func(t *testing.T, e *harness.Edge) (*quic.Conn, func()) {
			conn := e.QuicFrom("127.0.0.1", nil)
			return conn, func() {
				t.Helper()
				transport := &quic.Transport{Conn: e.SocketAt("127.0.0.2")}
				t.Cleanup(func() {
					harness.CloseQUIC(conn)
					transport.Close()
				})
				path, err := conn.AddPath(transport)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
				defer cancel()
				if err := path.Probe(ctx); err != nil {
					t.Fatal(err)
				}
				if err := path.Switch(); err != nil {
					t.Fatal(err)
				}
			}
		}},
		// As a NAT does that forgets an address. The client does not know.
		{"the client is moved", "moved", func(t *testing.T, e *harness.Edge) (*quic.Conn, func()) {
			r := startRelay(e)
			ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
			defer cancel()
			conn, err := quic.DialAddr(ctx, r.address().String(), e.QuicTLS(),
				&quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { harness.CloseQUIC(conn) })
			return conn, func() { r.moveTo(e, "127.0.0.2") }
		}},
	}
	for _, row := range rows { // not in parallel: the calm clients would run until there is room for them
		t.Run(row.name, func(t *testing.T) {
			e := e.With(t)
			conn, move := row.dial(t, e)
			checkMigration(e, row.channel, conn, move)
		})
	}
	calm.Check()
}

// checkMigration opens sessions on a connection, moves it to 127.0.0.2, and
// requires of each session what its token says. The channel is theirs alone.
func checkMigration(e *harness.Edge, channel string, conn *quic.Conn, move func()) {
	e.T.Helper()
	client := e.SessionsOn(conn)
	open := func(masks ...string) *harness.Socket {
		e.T.Helper()
		session, refused, err := harness.DialSession(client, harness.Handshake{
			URL: e.HttpsURL("/wt"), Token: e.Limited(harness.Object{"allow_ip_masks": masks}),
		})
		if session == nil {
			e.T.Fatalf("the handshake was refused: %v, %d %s", err, refused.Status, refused.Body)
		}
		s := e.OnSession(conn, session)
		s.Subscribe("paint.room", channel)
		return s
	}
	// All of them on one connection, so that it is enough for one to say something.
	silent, talker := open("127.0.0.1/32"), open("127.0.0.1/32")
	wide, anywhere := open("127.0.0.0/8"), open()

	move()
	talker.PingUntilForbidden()
	if silent.Wt().Session.Context().Err() != nil {
		e.T.Error("the edge looks at the address of one that sends messages only as often as at that of others")
	}
	for _, s := range []*harness.Socket{wide, anywhere} {
		s.Ping()
	}
	talker.ExpectClose(wire.CloseForbidden)
	silent.ExpectText("ERR:forbidden:ip")
	silent.ExpectClose(wire.CloseForbidden)

	for _, s := range []*harness.Socket{wide, anywhere} {
		s.Publish("paint.room", channel, "from elsewhere")
		for _, to := range []*harness.Socket{wide, anywhere} {
			to.ExpectDeliver("paint.room", channel, "from elsewhere", channel)
		}
	}
	// A session that begins there is refused with the status.
	_, refused, err := harness.DialSession(client, harness.Handshake{
		URL: e.HttpsURL("/wt"), Token: e.Limited(harness.Object{"allow_ip_masks": []string{"127.0.0.1/32"}}),
	})
	if err != nil {
		e.T.Fatal(err)
	}
	refused.Problem(e.T, 403, "ip_not_allowed")
	wide.Close()
	anywhere.Close()
}
