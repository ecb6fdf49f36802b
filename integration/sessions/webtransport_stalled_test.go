package sessions

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// mutable is a UDP socket that can be muted: its packets then do not reach the network.
type mutable struct {
	net.PacketConn
	muted atomic.Bool
}

func (m *mutable) WriteTo(packet []byte, to net.Addr) (int, error) {
	if m.muted.Load() {
		return len(packet), nil
	}
	return m.PacketConn.WriteTo(packet, to)
}

// Within 30 s the edge forgets a client that vanishes, or sooner if the client has
// announced a shorter idle timeout: as here, so that this test need not wait so long.
func TestWebTransportSilentClient(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	socket := &mutable{PacketConn: udp}
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	announced := harness.AtLength(5*time.Second, time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	conn, err := transport.Dial(ctx, e.UdpAddress(), e.QuicTLS(), &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, MaxIdleTimeout: announced,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, _ := e.OpenSession(conn, harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
	e.OnSession(conn, session).Ping()
	harness.AwaitConnections(e, 1)

	socket.muted.Store(true)
	begin := time.Now()
	listed := 1
	for listed > 0 && time.Since(begin) < time.Minute { // longer than [edge.poll] waits
		time.Sleep(500 * time.Millisecond)
		var got struct{ Connections []harness.Object }
		e.AdminCall("GET", "/pubsub/connections", nil).Decode(t, http.StatusOK, &got)
		listed = len(got.Connections)
	}
	want := min(announced, 30*time.Second)
	if took := time.Since(begin); took < want*2/3 || took > want+harness.WaitTimeout/2 {
		t.Errorf("the edge forgot the client after %v, want about %v", took, want)
	}
}

// A subscription with a stream of its own continues while the bidirectional stream is
// stuck because the client does not read it.
func TestWebTransportStuckStream(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\tslow_consumer drop", 1))
	token := e.Issue(harness.AllowAll("room")).Token
	conn := e.DialQUIC(nil)
	session, _ := e.OpenSession(conn, harness.Handshake{Token: token})
	stream := e.OpenStream(session)
	if err := (plainSession{conn, session, stream}).exchange("SUB:paint.room:big", "OK:SUB:paint.room:big"); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(stream)
	s := &harness.Socket{T: t, Link: &harness.WebTransport{Quic: conn, Session: session, Stream: stream}} // without a pump
	own := s.SubscribeOwn(s.OpenLines(), "paint.room", "small")

	publisher := e.Dial(token)
	const messages, small = 160, 8 // 10 MB, and a small one behind each eighth
	for i := range messages {
		publisher.Publish("paint.room", "big", fmt.Sprintf("%03d", i)+strings.Repeat("b", 64<<10-3))
		if i%small == small-1 {
			publisher.Publish("paint.room", "small", fmt.Sprint(i))
			expectDeliver(own, "paint.room", "small", fmt.Sprint(i), "small")
		}
	}
	publisher.Fence()

	// What is left of the others comes in order, and the rest is accounted for.
	received, lost, last := 0, 0, -1
	for received+lost < messages {
		if err := stream.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
			t.Fatal(err)
		}
		message, err := harness.ReadMessage(reader)
		if err != nil {
			t.Fatalf("after %d messages and %d lost: %v", received, lost, err)
		}
		if !wire.IsFrame(message) {
			lost += conformance.SlowCount(t, message)
			continue
		}
		d, err := wire.DecodeDeliver(message)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscanf(string(d.Payload[:3]), "%d", &n); err != nil || n <= last {
			t.Fatalf("got message %q after %d", d.Payload[:3], last)
		}
		received, last = received+1, n
	}
	if lost == 0 || received == 0 || last != messages-1 {
		t.Errorf("received %d of the messages up to %d, and %d were lost: want some of both, and the last", received, last, lost)
	}
	publisher.Publish("paint.room", "small", "end")
	expectDeliver(own, "paint.room", "small", "end", "small")
}
