package integration

import (
	"context"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/wire"
)

// A QUIC client whose address changes in the middle of its sessions: they end when
// their token does not allow the new one, and go on otherwise.
func TestHostileMigration(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	calm := e.startCalm()
	rows := []struct {
		name, channel string
		dial          func(t *testing.T, e *edge) (conn *quic.Conn, move func())
	}{
		{"the client moves", "moves", func(t *testing.T, e *edge) (*quic.Conn, func()) {
			conn := e.quicFrom("127.0.0.1", nil)
			return conn, func() {
				t.Helper()
				transport := &quic.Transport{Conn: e.socketAt("127.0.0.2")}
				t.Cleanup(func() {
					closeQUIC(conn)
					transport.Close()
				})
				path, err := conn.AddPath(transport)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
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
		{"the client is moved", "moved", func(t *testing.T, e *edge) (*quic.Conn, func()) {
			r := e.startRelay()
			ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
			defer cancel()
			conn, err := quic.DialAddr(ctx, r.address().String(), e.quicTLS(),
				&quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closeQUIC(conn) })
			return conn, func() { r.moveTo(e, "127.0.0.2") }
		}},
	}
	for _, row := range rows { // not in parallel: the calm clients would run until there is room for them
		t.Run(row.name, func(t *testing.T) {
			e := e.with(t)
			conn, move := row.dial(t, e)
			checkMigration(e, row.channel, conn, move)
		})
	}
	calm.check()
}

// checkMigration opens sessions on a connection, moves it to 127.0.0.2, and
// requires of each session what its token says. The channel is theirs alone.
func checkMigration(e *edge, channel string, conn *quic.Conn, move func()) {
	e.t.Helper()
	client := e.sessionsOn(conn)
	open := func(masks ...string) *socket {
		e.t.Helper()
		session, refused, err := dialSession(client, handshake{
			URL: e.httpsURL("/wt"), Token: e.limited(object{"allow_ip_masks": masks}),
		})
		if session == nil {
			e.t.Fatalf("the handshake was refused: %v, %d %s", err, refused.Status, refused.Body)
		}
		s := e.onSession(conn, session)
		s.subscribe("paint.room", channel)
		return s
	}
	// All of them on one connection, so that it is enough for one to say something.
	silent, talker := open("127.0.0.1/32"), open("127.0.0.1/32")
	wide, anywhere := open("127.0.0.0/8"), open()

	move()
	talker.pingUntilForbidden()
	if silent.wt().session.Context().Err() != nil {
		e.t.Error("the edge looks at the address of one that sends messages only as often as at that of others")
	}
	for _, s := range []*socket{wide, anywhere} {
		s.ping()
	}
	talker.expectClose(wire.CloseForbidden)
	silent.expectText("ERR:forbidden:ip")
	silent.expectClose(wire.CloseForbidden)

	for _, s := range []*socket{wide, anywhere} {
		s.publish("paint.room", channel, "from elsewhere")
		for _, to := range []*socket{wide, anywhere} {
			to.expectDeliver("paint.room", channel, "from elsewhere", channel)
		}
	}
	// A session that begins there is refused with the status.
	_, refused, err := dialSession(client, handshake{
		URL: e.httpsURL("/wt"), Token: e.limited(object{"allow_ip_masks": []string{"127.0.0.1/32"}}),
	})
	if err != nil {
		e.t.Fatal(err)
	}
	refused.problem(e.t, 403, "ip_not_allowed")
	wide.close()
	anywhere.close()
}
