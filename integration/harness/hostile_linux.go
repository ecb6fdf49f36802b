package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// The hostile tests run WebTransport clients that abuse the edge in one way each, beside
// well-behaved clients that must not notice. They compare the memory of the edge during
// the abuse with a bound that is computed from the limits against it.

// What a connection may cost the edge, in KiB.
const (
	// connectionCost is what quic-go, HTTP/3 and the goroutines of a connection
	// with one session take; about 120 as measured, and 180 with the race detector.
	ConnectionCost = 256
	// connectionWindow is how much a client may send before anybody reads it
	// (caddymodule/takeover).
	ConnectionWindow = 128
	// sessionCost is a further session on a connection; about 20 as measured.
	SessionCost = 40
	// keptCost is what the runtime keeps of an ended session for the next ones: a little
	// of each goroutine.
	keptCost = 6
	// edgeNoise is how much the edge's memory varies by itself.
	EdgeNoise = 2 << 10
)

// calm are well-behaved clients: one publishes numbered messages, one receives them over
// WebSocket and one over WebTransport.
type calm struct {
	e    *Edge
	quit func()
	done chan struct{} // closed when all three have ended
	errs [3]error      // read after that
	sent int           // read after that, too
}

// StartCalm opens the clients. They run until their check, or the end of the test.
func (e *Edge) StartCalm() *calm {
	e.T.Helper()
	request := TokenRequest(AllowAll("calm"))
	request["right"].(Object)["expires_at"] = In(12 * time.Hour) // after any soak
	token := e.IssueAs(e.Master, request).Token
	publisher := e.Dial(token)
	subscribers := []*Socket{e.Dial(token), e.DialWebTransport(token)}
	for _, s := range subscribers {
		s.Subscribe("paint.calm", "tick")
	}
	quit := make(chan struct{})
	c := &calm{e: e, quit: sync.OnceFunc(func() { close(quit) }), done: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { c.errs[0] = c.Publish(publisher.Link, quit) })
	for i, s := range subscribers {
		running.Go(func() { c.errs[i+1] = countTicks(s.Link) })
	}
	go func() { // ends with the three
		running.Wait()
		close(c.done)
	}()
	e.T.Cleanup(func() {
		c.quit()
		<-c.done
	})
	return c
}

const lastTick = "the last one"

func (c *calm) Publish(l Link, quit <-chan struct{}) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.sent++
			if err := l.Write(AsFrame, RawPublish("paint.calm", "tick", strconv.Itoa(c.sent))); err != nil {
				return err
			}
		case <-quit:
			return l.Write(AsFrame, RawPublish("paint.calm", "tick", lastTick))
		}
	}
}

// countTicks requires every message, in order.
func countTicks(l Link) error {
	for n := 1; ; n++ {
		kind, message, err := l.Read()
		if err != nil {
			return fmt.Errorf("in place of message %d: %w", n, err)
		}
		if kind != AsFrame {
			return fmt.Errorf("in place of message %d: %q", n, message)
		}
		d, err := wire.DecodeDeliver(message)
		switch {
		case err != nil:
			return err
		case string(d.Payload) == lastTick:
			return nil
		case string(d.Payload) != strconv.Itoa(n):
			return fmt.Errorf("got message %q in place of message %d", d.Payload, n)
		}
	}
}

// Check ends the clients, and requires that they got every message.
func (c *calm) Check() {
	c.e.T.Helper()
	c.quit()
	<-c.done
	for i, err := range c.errs {
		if err != nil {
			c.e.T.Errorf("the well-behaved %s: %v", []string{"publisher", "WebSocket", "WebTransport session"}[i], err)
		}
	}
	if c.sent == 0 {
		c.e.T.Error("the well-behaved publisher has sent nothing")
	}
}

var heapNumber = regexp.MustCompile(`(?m)^# (HeapAlloc|TotalAlloc|Stack) = (\d+)`)

// memory is the content of the edge's memory, in KiB.
type memory struct {
	Live  int // reachable from somewhere, stacks included
	Total int // allocated since the start, freed or not
}

// Memory collects the edge's garbage and measures what is left.
func (e *Edge) Memory() memory {
	e.T.Helper()
	var got map[string]int
	for range 2 { // pools take two collections
		a := e.Do(Call{Method: "GET", URL: e.AdminURL("/debug/pprof/heap?gc=1&debug=1")})
		got = map[string]int{}
		for _, m := range heapNumber.FindAllStringSubmatch(string(a.Body), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				e.T.Fatal(err)
			}
			got[m[1]] = n >> 10
		}
		if len(got) != 3 {
			e.T.Fatalf("pprof answers %d, with the numbers %v", a.Status, got)
		}
	}
	return memory{got["HeapAlloc"] + got["Stack"], got["TotalAlloc"]}
}

// CheckGrowth requires that the edge's memory now holds at most bound KiB more than before.
func (e *Edge) CheckGrowth(before memory, bound int, what string) {
	e.T.Helper()
	grown := e.Memory().Live - before.Live
	e.T.Logf("%s: the edge's memory grew by %d KiB of %d (resident: %d MiB)", what, grown, bound, e.ResidentMiB())
	if grown > bound {
		e.T.Errorf("%s: the edge's memory grew by %d KiB, want at most %d", what, grown, bound)
	}
}

// CheckRelease requires that the edge releases the memory of sessions that have ended.
func (e *Edge) CheckRelease(before memory, sessions int) {
	e.T.Helper()
	grown, bound := 0, EdgeNoise+sessions*keptCost
	e.Poll("the edge to release its memory", func() bool {
		grown = e.Memory().Live - before.Live
		return grown <= bound
	})
	e.T.Logf("in the end the edge's memory has grown by %d KiB of %d", grown, bound)
}

// QuicFrom opens a QUIC connection from an address of loopback, which is closed
// when the test ends. change may change its configuration.
func (e *Edge) QuicFrom(source string, change func(*quic.Config)) *quic.Conn {
	e.T.Helper()
	socket := e.SocketAt(source)
	transport := &quic.Transport{Conn: socket}
	e.T.Cleanup(func() { transport.Close() })
	settings := &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200}
	if change != nil {
		change(settings)
	}
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	conn, err := transport.Dial(ctx, e.UdpAddress(), e.QuicTLS(), settings)
	if err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() { CloseQUIC(conn) })
	return conn
}

// SocketAt opens a UDP socket at an address of loopback, which is closed when the
// test ends.
func (e *Edge) SocketAt(address string) *net.UDPConn {
	e.T.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() { socket.Close() })
	return socket
}

// severalSessions are the settings of a client that may open more than one session on a
// connection.
var severalSessions = &webtransport.Config{
	MaxIncomingStreams: 1, MaxIncomingUniStreams: 16, MaxIncomingData: 1 << 20,
}

// SessionsOn makes a connection ready for several sessions.
func (e *Edge) SessionsOn(conn *quic.Conn) *webtransport.ClientConn {
	e.T.Helper()
	transport := &webtransport.Transport{Config: severalSessions}
	e.T.Cleanup(func() { transport.Close() })
	client, err := transport.NewClientConn(conn)
	if err != nil {
		e.T.Fatal(err)
	}
	return client
}

// MustSession is openSession for a session that must be accepted.
func (e *Edge) MustSession(conn *quic.Conn, h Handshake) *webtransport.Session {
	e.T.Helper()
	session, refused := e.OpenSession(conn, h)
	if session == nil {
		e.T.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return session
}

// AwaitSessionEnd waits for the end of a session and says how it ended.
func AwaitSessionEnd(session *webtransport.Session) error {
	select {
	case <-session.Context().Done():
		return SessionEnd(session)
	case <-time.After(WaitTimeout):
		return fmt.Errorf("the session goes on: %w", ErrWaitTimeout)
	}
}

// ExpectSessionEnd requires that the edge ends a session with this code.
func ExpectSessionEnd(t *testing.T, session *webtransport.Session, code wire.CloseCode) {
	t.Helper()
	var end *Closed
	if err := AwaitSessionEnd(session); !errors.As(err, &end) || end.Code != code {
		t.Fatalf("the session ended with %v, want close code %d", err, code)
	}
}

// ExpectQUICEnd requires that the edge closes a connection, without an error.
func ExpectQUICEnd(t *testing.T, conn *quic.Conn) {
	t.Helper()
	select {
	case <-conn.Context().Done():
	case <-time.After(WaitTimeout):
		t.Fatalf("the QUIC connection goes on %v after its session", WaitTimeout)
	}
	var end *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &end) || !end.Remote ||
		end.ErrorCode != quic.ApplicationErrorCode(http3.ErrCodeNoError) {
		t.Errorf("the QUIC connection ended with %v, want a close by the edge without an error", err)
	}
}

// ExpectUnauthorized requires that the edge ends the session of a client that has opened
// its stream but not authenticated, and the connection with it.
func (s *Socket) ExpectUnauthorized() {
	s.T.Helper()
	s.ExpectText("ERR:unauthorized")
	s.ExpectClose(wire.CloseUnauthorized)
	ExpectQUICEnd(s.T, s.Wt().Quic)
}

// Connections returns the open connections of the edge.
func (e *Edge) Connections() []openConnection {
	e.T.Helper()
	var got struct{ Connections []openConnection }
	e.Do(Call{Method: "GET", URL: e.AdminURL("/pubsub/connections")}).Decode(e.T, http.StatusOK, &got)
	return got.Connections
}

// openConnection is what an operator sees of a connection.
type openConnection struct {
	TokenID     string `json:"token_id"`
	QueuedBytes int    `json:"queued_bytes"`
	Dropped     int    `json:"dropped"`
}

// TokenCount returns how many access tokens the edge knows.
func (e *Edge) TokenCount() int {
	e.T.Helper()
	a := e.Do(Call{Method: "GET", URL: e.AdminURL("/pubsub/tokens?limit=1000")})
	if a.Status != http.StatusOK {
		e.T.Fatalf("got status %d: %s", a.Status, a.Body)
	}
	return strings.Count(string(a.Body), `"token_id"`)
}
