package integration

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
	connectionCost = 256
	// connectionWindow is how much a client may send before anybody reads it
	// (caddymodule/takeover).
	connectionWindow = 128
	// sessionCost is a further session on a connection; about 20 as measured.
	sessionCost = 40
	// keptCost is what the runtime keeps of an ended session for the next ones: a little
	// of each goroutine.
	keptCost = 6
	// edgeNoise is how much the edge's memory varies by itself.
	edgeNoise = 2 << 10
)

// calm are well-behaved clients: one publishes numbered messages, one receives them over
// WebSocket and one over WebTransport.
type calm struct {
	e    *edge
	quit func()
	done chan struct{} // closed when all three have ended
	errs [3]error      // read after that
	sent int           // read after that, too
}

// startCalm opens the clients. They run until their check, or the end of the test.
func (e *edge) startCalm() *calm {
	e.t.Helper()
	request := tokenRequest(allowAll("calm"))
	request["right"].(object)["expires_at"] = in(12 * time.Hour) // after any soak
	token := e.issueAs(e.master, request).Token
	publisher := e.dial(token)
	subscribers := []*socket{e.dial(token), e.dialWebTransport(token)}
	for _, s := range subscribers {
		s.subscribe("paint.calm", "tick")
	}
	quit := make(chan struct{})
	c := &calm{e: e, quit: sync.OnceFunc(func() { close(quit) }), done: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { c.errs[0] = c.publish(publisher.link, quit) })
	for i, s := range subscribers {
		running.Go(func() { c.errs[i+1] = countTicks(s.link) })
	}
	go func() { // ends with the three
		running.Wait()
		close(c.done)
	}()
	e.t.Cleanup(func() {
		c.quit()
		<-c.done
	})
	return c
}

const lastTick = "the last one"

func (c *calm) publish(l link, quit <-chan struct{}) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.sent++
			if err := l.write(asFrame, rawPublish("paint.calm", "tick", strconv.Itoa(c.sent))); err != nil {
				return err
			}
		case <-quit:
			return l.write(asFrame, rawPublish("paint.calm", "tick", lastTick))
		}
	}
}

// countTicks requires every message, in order.
func countTicks(l link) error {
	for n := 1; ; n++ {
		kind, message, err := l.read()
		if err != nil {
			return fmt.Errorf("in place of message %d: %w", n, err)
		}
		if kind != asFrame {
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

// check ends the clients, and requires that they got every message.
func (c *calm) check() {
	c.e.t.Helper()
	c.quit()
	<-c.done
	for i, err := range c.errs {
		if err != nil {
			c.e.t.Errorf("the well-behaved %s: %v", []string{"publisher", "WebSocket", "WebTransport session"}[i], err)
		}
	}
	if c.sent == 0 {
		c.e.t.Error("the well-behaved publisher has sent nothing")
	}
}

var heapNumber = regexp.MustCompile(`(?m)^# (HeapAlloc|TotalAlloc|Stack) = (\d+)`)

// memory is the content of the edge's memory, in KiB.
type memory struct {
	live  int // reachable from somewhere, stacks included
	total int // allocated since the start, freed or not
}

// memory collects the edge's garbage and measures what is left.
func (e *edge) memory() memory {
	e.t.Helper()
	var got map[string]int
	for range 2 { // pools take two collections
		a := e.do(call{Method: "GET", URL: e.adminURL("/debug/pprof/heap?gc=1&debug=1")})
		got = map[string]int{}
		for _, m := range heapNumber.FindAllStringSubmatch(string(a.Body), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				e.t.Fatal(err)
			}
			got[m[1]] = n >> 10
		}
		if len(got) != 3 {
			e.t.Fatalf("pprof answers %d, with the numbers %v", a.Status, got)
		}
	}
	return memory{got["HeapAlloc"] + got["Stack"], got["TotalAlloc"]}
}

// checkGrowth requires that the edge's memory now holds at most bound KiB more than before.
func (e *edge) checkGrowth(before memory, bound int, what string) {
	e.t.Helper()
	grown := e.memory().live - before.live
	e.t.Logf("%s: the edge's memory grew by %d KiB of %d (resident: %d MiB)", what, grown, bound, e.residentMiB())
	if grown > bound {
		e.t.Errorf("%s: the edge's memory grew by %d KiB, want at most %d", what, grown, bound)
	}
}

// checkRelease requires that the edge releases the memory of sessions that have ended.
func (e *edge) checkRelease(before memory, sessions int) {
	e.t.Helper()
	grown, bound := 0, edgeNoise+sessions*keptCost
	e.poll("the edge to release its memory", func() bool {
		grown = e.memory().live - before.live
		return grown <= bound
	})
	e.t.Logf("in the end the edge's memory has grown by %d KiB of %d", grown, bound)
}

// quicFrom opens a QUIC connection from an address of loopback, which is closed
// when the test ends. change may change its configuration.
func (e *edge) quicFrom(source string, change func(*quic.Config)) *quic.Conn {
	e.t.Helper()
	socket := e.socketAt(source)
	transport := &quic.Transport{Conn: socket}
	e.t.Cleanup(func() { transport.Close() })
	settings := &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200}
	if change != nil {
		change(settings)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := transport.Dial(ctx, e.udpAddress(), e.quicTLS(), settings)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { closeQUIC(conn) })
	return conn
}

// socketAt opens a UDP socket at an address of loopback, which is closed when the
// test ends.
func (e *edge) socketAt(address string) *net.UDPConn {
	e.t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { socket.Close() })
	return socket
}

// severalSessions are the settings of a client that may open more than one session on a
// connection.
var severalSessions = &webtransport.Config{
	MaxIncomingStreams: 1, MaxIncomingUniStreams: 16, MaxIncomingData: 1 << 20,
}

// sessionsOn makes a connection ready for several sessions.
func (e *edge) sessionsOn(conn *quic.Conn) *webtransport.ClientConn {
	e.t.Helper()
	transport := &webtransport.Transport{Config: severalSessions}
	e.t.Cleanup(func() { transport.Close() })
	client, err := transport.NewClientConn(conn)
	if err != nil {
		e.t.Fatal(err)
	}
	return client
}

// mustSession is openSession for a session that must be accepted.
func (e *edge) mustSession(conn *quic.Conn, h handshake) *webtransport.Session {
	e.t.Helper()
	session, refused := e.openSession(conn, h)
	if session == nil {
		e.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return session
}

// awaitSessionEnd waits for the end of a session and says how it ended.
func awaitSessionEnd(session *webtransport.Session) error {
	select {
	case <-session.Context().Done():
		return sessionEnd(session)
	case <-time.After(waitTimeout):
		return fmt.Errorf("the session goes on: %w", errWaitTimeout)
	}
}

// expectSessionEnd requires that the edge ends a session with this code.
func expectSessionEnd(t *testing.T, session *webtransport.Session, code wire.CloseCode) {
	t.Helper()
	var end *closed
	if err := awaitSessionEnd(session); !errors.As(err, &end) || end.code != code {
		t.Fatalf("the session ended with %v, want close code %d", err, code)
	}
}

// expectQUICEnd requires that the edge closes a connection, without an error.
func expectQUICEnd(t *testing.T, conn *quic.Conn) {
	t.Helper()
	select {
	case <-conn.Context().Done():
	case <-time.After(waitTimeout):
		t.Fatalf("the QUIC connection goes on %v after its session", waitTimeout)
	}
	var end *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &end) || !end.Remote ||
		end.ErrorCode != quic.ApplicationErrorCode(http3.ErrCodeNoError) {
		t.Errorf("the QUIC connection ended with %v, want a close by the edge without an error", err)
	}
}

// expectUnauthorized requires that the edge ends the session of a client that has opened
// its stream but not authenticated, and the connection with it.
func (s *socket) expectUnauthorized() {
	s.t.Helper()
	s.expectText("ERR:unauthorized")
	s.expectClose(wire.CloseUnauthorized)
	expectQUICEnd(s.t, s.wt().quic)
}

// connections returns the open connections of the edge.
func (e *edge) connections() []openConnection {
	e.t.Helper()
	var got struct{ Connections []openConnection }
	e.do(call{Method: "GET", URL: e.adminURL("/pubsub/connections")}).decode(e.t, http.StatusOK, &got)
	return got.Connections
}

// openConnection is what an operator sees of a connection.
type openConnection struct {
	TokenID     string `json:"token_id"`
	QueuedBytes int    `json:"queued_bytes"`
	Dropped     int    `json:"dropped"`
}

// tokenCount returns how many access tokens the edge knows.
func (e *edge) tokenCount() int {
	e.t.Helper()
	a := e.do(call{Method: "GET", URL: e.adminURL("/pubsub/tokens?limit=1000")})
	if a.Status != http.StatusOK {
		e.t.Fatalf("got status %d: %s", a.Status, a.Body)
	}
	return strings.Count(string(a.Body), `"token_id"`)
}
