package integration

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// adminURL is a URL of the admin endpoint.
func (e *edge) adminURL(path string) string { return "http://" + e.adminAddress() + path }

// drained is what one client saw of a drain.
type drained struct {
	told, closed time.Time
	deliveries   int
	code         int // of the close frame
	err          error
}

// watchDrain reads until the connection ends.
func watchDrain(conn *websocket.Conn) (d drained) {
	for {
		if d.err = conn.SetReadDeadline(time.Now().Add(patience)); d.err != nil {
			return d
		}
		kind, message, err := conn.ReadMessage()
		var closed *websocket.CloseError
		switch {
		case errors.As(err, &closed):
			d.closed, d.code = time.Now(), closed.Code
			return d
		case err != nil:
			d.err = err
			return d
		case kind == websocket.BinaryMessage:
			d.deliveries++
		case string(message) == wire.LineReconnect && d.told.IsZero():
			d.told = time.Now()
		default:
			d.err = fmt.Errorf("unexpected line %q", message)
			return d
		}
	}
}

// checkDrain opens sockets, begins a drain, publishes through it until its end,
// and checks what the clients see of it. check is called once, while it drains.
func (e *edge) checkDrain(begin, check func()) {
	e.t.Helper()
	const clients = 20
	token := e.issue(allowAll("room")).Token
	publisher := e.dial(token)
	seen := make(chan drained, clients)
	for range clients {
		s := e.dial(token)
		s.subscribe("paint.room", "x")
		go func() { seen <- watchDrain(s.conn) }() // ends with the connection
	}
	begin()
	publisher.expectText(wire.LineReconnect)
	published := 0
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); published++ {
		publisher.publish("paint.room", "x", "during the drain")
		publisher.ping()
		if published == 10 {
			check()
		}
		time.Sleep(20 * time.Millisecond) // a load, not a wait
	}
	publisher.expectClose(wire.CloseGoingAway)

	var first, last time.Time
	for range clients {
		d := <-seen
		switch {
		case d.err != nil:
			e.t.Errorf("a client saw: %v", d.err)
			continue
		case d.told.IsZero():
			e.t.Error("a client got no RECONNECT")
			continue
		case d.code != int(wire.CloseGoingAway):
			e.t.Errorf("a client got close code %d, want %d", d.code, wire.CloseGoingAway)
		case d.deliveries != published:
			e.t.Errorf("a client got %d messages of %d that were published during the drain", d.deliveries, published)
		}
		// Both times are taken here, when the messages are read.
		if had := d.closed.Sub(d.told); had < 5500*time.Millisecond || had > 8500*time.Millisecond {
			e.t.Errorf("a client had %v to move, want at least 6s of the drain's 7s", had)
		}
		if first.IsZero() || d.told.Before(first) {
			first = d.told
		}
		if d.told.After(last) {
			last = d.told
		}
	}
	if spread := last.Sub(first); spread < 500*time.Millisecond {
		e.t.Errorf("all clients were told within %v, want them spread over the first second", spread)
	}
}

func TestStopDrains(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	e.checkDrain(e.terminate, func() {
		// Caddy may close its listeners before or after it stops the edge.
		dialer := websocket.Dialer{NetDialContext: dialLoopback, HandshakeTimeout: patience}
		conn, res, err := dialer.Dial(fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), http.Header{"Authorization": {"Bearer " + token}})
		switch {
		case err == nil:
			conn.Close()
			t.Error("a handshake was accepted during the stop")
		case errors.Is(err, websocket.ErrBadHandshake):
			res.Body.Close()
			if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
				t.Errorf("a handshake during the stop got status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
			}
		case !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET):
			t.Errorf("a handshake during the stop: %v", err)
		}
	})
	e.stop()
}

// Clients that follow RECONNECT end the drain.
func TestStopEndsWithTheLastClient(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	var sockets []*socket
	for range 5 {
		sockets = append(sockets, e.dial(token))
	}
	begin := time.Now()
	e.terminate()
	for _, s := range sockets {
		s.expectText(wire.LineReconnect)
		s.close()
	}
	e.stop()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the stop took %v after all clients had left, want less than the drain's 7s", took)
	}
}

// `pubsub drain` ends the service and not the process.
func TestDrainByAdmin(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	refused := func() {
		_, refusal := e.open(handshake{Token: token})
		refusal.problem(t, http.StatusServiceUnavailable, "draining")
		if refusal.Header.Get("Retry-After") == "" {
			t.Error("the refusal has no Retry-After")
		}
	}
	drain := func() {
		e.do(call{Method: "POST", URL: e.adminURL("/pubsub/drain"), Body: []byte("{}")}).decode(t, 200, new(object))
	}
	e.checkDrain(drain, refused)
	refused()
	drain() // again changes nothing
	e.awaitPing(e.httpURL("/ping"))
	e.issue(allowAll("room"))
	begin := time.Now()
	e.stop()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the stop of a drained edge took %v", took)
	}
}

var (
	goroutineHead = regexp.MustCompile(`(?m)^goroutine \d+ `)
	ourGoroutine  = regexp.MustCompile(`millrace/pubsub(/websocket)?\.`)
)

// goroutines returns the stacks of all goroutines of the edge, and their number.
func (e *edge) goroutines() (stacks string, count int) {
	e.t.Helper()
	got := e.do(call{Method: "GET", URL: e.adminURL("/debug/pprof/goroutine?debug=2")})
	if got.Status != 200 {
		e.t.Fatalf("pprof answers %d", got.Status)
	}
	return string(got.Body), len(goroutineHead.FindAll(got.Body, -1))
}

// However a client leaves, no goroutine of its own stays.
func TestNoGoroutineStays(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token, revoked := e.issue(allowAll("room")), e.issue(allowAll("room"))
	e.dial(token.Token).close() // what starts once has started

	var before int
	e.poll("the edge to be at rest", func() bool {
		stacks, count := e.goroutines()
		resting := count == before && !ourGoroutine.MatchString(stacks)
		before = count
		return resting
	})

	var sockets []*socket
	for n := range 50 {
		of := token.Token
		if n%5 == 2 {
			of = revoked.Token
		}
		s := e.dial(of)
		s.subscribe("paint.room", "x", "y.*")
		sockets = append(sockets, s)
	}
	for _, s := range sockets {
		s.publish("paint.room", "x", "to all, who do not read it")
	}
	stacks, _ := e.goroutines()
	if got := len(ourGoroutine.FindAllString(stacks, -1)); got < 50 {
		t.Fatalf("50 sockets show in %d lines of the stacks: this test looks for the wrong thing", got)
	}
	for n, s := range sockets {
		switch n % 5 {
		case 0: // closed normally; what it has not read stays unread
			s.send(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		case 1: // cut
			s.conn.NetConn().Close()
		case 3: // cut in the middle of a frame
			if _, err := s.conn.NetConn().Write([]byte{0x82, 0xff, 0, 0}); err != nil {
				t.Fatal(err)
			}
			s.conn.NetConn().Close()
		case 4: // thrown out
			if _, err := s.conn.NetConn().Write([]byte("no frame at all")); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.revoke(e.master, revoked.Token).decode(t, http.StatusOK, new(object)) // case 2
	for _, request := range []string{
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\nAuthorization: Bearer " + token.Token + "\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer " + token.Token + "\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n",
		"",
	} {
		for range 5 {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.HTTP))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte(request)); err != nil {
				t.Fatal(err)
			}
			conn.Close() // without reading the answer
		}
	}

	e.poll("the goroutines of gone clients to end", func() bool {
		stacks, count := e.goroutines()
		return count <= before && !ourGoroutine.MatchString(stacks)
	})
	if got := strings.TrimSpace(string(e.do(call{Method: "GET", URL: e.adminURL("/pubsub/connections")}).Body)); got != `{"connections":[]}` {
		t.Errorf("the edge still counts connections: %s", got)
	}
}

// Clients are told at once that the edge stops, whatever requests the HTTP app
// still waits for. Caddy stops its apps in random order: hence several edges.
func TestStopTellsBeforeRequestsEnd(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			e := startEdge(t, defaultCaddyfile)
			client := e.dial(e.issue(allowAll("room")).Token)
			slow, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", e.HTTP))
			if err != nil {
				t.Fatal(err)
			}
			defer slow.Close()
			// The answer 100 Continue says that the edge waits for the body.
			fmt.Fprintf(slow, "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", e.master)
			if _, err := slow.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			e.terminate()
			client.expectText(wire.LineReconnect)
			slow.Close()
			client.expectClose(wire.CloseGoingAway)
			e.stop()
		})
	}
}
