package load

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

const (
	leftQueue   = 512 << 10
	leftPayload = 16 << 10
)

// leftCaddyfile is an edge with short queues, and caps that do not slow a flood down.
var leftCaddyfile = "{" + harness.GlobalOptions + "\tpubsub {" + harness.PubsubStore + harness.DefaultMaster + fmt.Sprintf(`
		bandwidth {
			default_ingress 1048576
			default_egress 1048576
			max 1048576
		}
		limits {
			max_payload %d
			send_queue %d
		}
	}
}
`, leftPayload, leftQueue) + harness.Sites

// Sessions are opened and abandoned: without a stream, or with a subscription that nobody
// reads.
func TestHostileSessionsLeftAlone(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, leftCaddyfile)
	calm := e.StartCalm()
	token, publisher := e.Issue(harness.AllowAll("room")), e.Dial(e.Issue(harness.AllowAll("room")).Token)
	before := e.Memory()

	// Without a stream: some on connections of their own, some on one.
	const alone, together = 32, 64
	shared := e.QuicFrom("127.0.0.2", nil)
	conns := []*quic.Conn{shared}
	for range alone {
		conn := e.QuicFrom("127.0.0.2", nil)
		e.MustSession(conn, harness.Handshake{Token: token.Token})
		conns = append(conns, conn)
	}
	many := e.SessionsOn(shared)
	for range together {
		session, refused, err := harness.DialSession(many, harness.Handshake{URL: e.HttpsURL("/wt"), Token: token.Token})
		if session == nil {
			t.Fatalf("the handshake was refused: %v, %d %s", err, refused.Status, refused.Body)
		}
	}
	bound := (alone+1)*harness.ConnectionCost + together*harness.SessionCost
	e.CheckGrowth(before, bound, "sessions without a stream")

	// With patterns that all match and that nobody else has, so that each session
	// has frames of its own. One of the streams is a U stream.
	const deaf = 24
	channel := strings.Repeat("x", deaf)
	for i := range deaf {
		conn := deafQUIC(e)
		subscribeDeaf(e, e.MustSession(conn, harness.Handshake{Token: token.Token}), channel[:i]+"*")
		conns = append(conns, conn)
	}
	const messages = 4 * leftQueue * deaf / leftPayload // more than all queues together hold
	payload := strings.Repeat("f", leftPayload)
	for range messages {
		publisher.Publish("paint.room", channel, payload)
	}
	publisher.Fence()
	// Beside its queue a session has what is being written to each stream, and what
	// was written and not sent: QUIC's window is the client's, and small here.
	frame := leftPayload>>10 + 1
	writing := 2 * (64 + frame + deafWindow>>10)
	bound += deaf * (harness.ConnectionCost + leftQueue>>10 + writing)
	e.CheckGrowth(before, bound, fmt.Sprintf("sessions that do not read %d messages of 16 KiB", messages))

	// On a busy machine some may have been silent for so long by now that they were
	// ended for it.
	slow := 0
	for series, n := range e.Metrics() {
		if strings.HasPrefix(series, "millrace_slow_disconnects_total") {
			slow += int(n)
		}
	}
	for _, c := range e.Connections() {
		if c.QueuedBytes > leftQueue+pubsub.MaxControlBacklog {
			t.Errorf("%d bytes are queued for a session, want at most %d", c.QueuedBytes, leftQueue)
		}
		if c.TokenID == token.TokenID && c.Dropped > 0 {
			slow++
		}
	}
	if slow != deaf {
		t.Errorf("%d sessions have lost messages, want %d", slow, deaf)
	}
	for _, conn := range conns {
		harness.CloseQUIC(conn)
	}
	e.CheckRelease(before, alone+together+deaf)
	calm.Check()
}

// deafWindow is how many bytes the streams of a client accept that does not read.
const deafWindow = 32 << 10

// deafQUIC opens a connection whose client accepts little without reading it.
func deafQUIC(e *harness.Edge) *quic.Conn {
	e.T.Helper()
	return e.QuicFrom("127.0.0.2", func(c *quic.Config) {
		c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = deafWindow, deafWindow
		c.InitialConnectionReceiveWindow, c.MaxConnectionReceiveWindow = 2*deafWindow, 2*deafWindow
	})
}

// subscribeDeaf subscribes on the main stream and with a U stream, and reads only the
// answers.
func subscribeDeaf(e *harness.Edge, session *webtransport.Session, pattern string) {
	e.T.Helper()
	must := func(err error) {
		e.T.Helper()
		if err != nil {
			e.T.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	main := e.OpenStream(session)
	_, err := main.Write(wire.AppendMessage(nil, []byte("SUB:paint.room:"+pattern)))
	must(err)
	lines, err := session.OpenUniStream()
	must(err)
	_, err = lines.Write([]byte("SUB:U:paint.room:" + pattern + "\n"))
	must(err)
	own, err := session.AcceptUniStream(ctx)
	must(err)
	for _, stream := range []interface {
		io.Reader
		SetReadDeadline(time.Time) error
	}{main, own} {
		must(stream.SetReadDeadline(time.Now().Add(harness.WaitTimeout)))
		answer, err := harness.ReadMessage(stream)
		must(err)
		if want := "OK:SUB:paint.room:" + pattern; string(answer) != want {
			e.T.Fatalf("got %q, want %s", answer, want)
		}
	}
}
