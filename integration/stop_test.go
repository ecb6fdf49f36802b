package integration

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// adminURL is a URL of the admin endpoint.
func (e *edge) adminURL(path string) string { return "http://" + e.adminAddress() + path }

// drained is what one client saw of a drain.
type drained struct {
	told, closed time.Time
	deliveries   int
	code         wire.CloseCode
	err          error
}

// watchDrain reads until the session ends.
func watchDrain(l link) (d drained) {
	for {
		kind, message, err := l.read()
		var end *closed
		switch {
		case errors.As(err, &end):
			d.closed, d.code = time.Now(), end.code
			return d
		case err != nil:
			d.err = err
			return d
		case kind == asFrame:
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
func (c *stage) checkDrain(begin, check func()) {
	c.t.Helper()
	const clients = 20
	token := c.room()
	publisher := c.publisher(token)
	seen := make(chan drained, clients)
	for range clients {
		s := c.subscriber(token)
		s.subscribe("paint.room", "x")
		go func() { seen <- watchDrain(s.link) }() // ends with the session
	}
	begin()
	if c.far == nil { // it is at the edge that drains
		publisher.expectText(wire.LineReconnect)
	}
	published := 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); published++ { // it has 6 s
		publisher.publish("paint.room", "x", "during the drain")
		publisher.ping()
		if published == 10 {
			check()
		}
		time.Sleep(20 * time.Millisecond) // a load, not a wait
	}
	if c.far == nil {
		publisher.expectClose(wire.CloseGoingAway)
	}

	var first, last time.Time
	for range clients {
		d := <-seen
		switch {
		case d.err != nil:
			c.t.Errorf("a client saw: %v", d.err)
			continue
		case d.told.IsZero():
			c.t.Error("a client got no RECONNECT")
			continue
		case d.code != wire.CloseGoingAway:
			c.t.Errorf("a client got close code %d, want %d", d.code, wire.CloseGoingAway)
		case d.deliveries != published:
			c.t.Errorf("a client got %d messages of %d that were published during the drain", d.deliveries, published)
		}
		// Both times are taken here, when the messages are read: either may be late.
		// A client that is told only at the end of the drain has no time to move.
		if had := d.closed.Sub(d.told); had < 3*time.Second || had > waitTimeout/2 {
			c.t.Errorf("a client had %v to move, want at least 6s of the drain's 7s", had)
		}
		if first.IsZero() || d.told.Before(first) {
			first = d.told
		}
		if d.told.After(last) {
			last = d.told
		}
	}
	if spread := last.Sub(first); spread < 500*time.Millisecond {
		c.t.Errorf("all clients were told within %v, want them spread over the first second", spread)
	}
}

func stopDrains(c *stage) {
	token := c.room()
	c.checkDrain(c.terminate, func() {
		// Caddy may close its listeners before or after it stops the edge.
		session, refusal, err := c.transport.tryOpen(c.edge, handshake{Token: token})
		switch {
		case session != nil:
			c.t.Error("a handshake was accepted during the stop")
		case err == nil:
			if refusal.Status != http.StatusServiceUnavailable || refusal.Header.Get("Retry-After") == "" {
				c.t.Errorf("a handshake during the stop got status %d, Retry-After %q", refusal.Status, refusal.Header.Get("Retry-After"))
			}
		case !c.gone(err):
			c.t.Errorf("a handshake during the stop: %v", err)
		}
	})
	c.stop()
}

// Clients that follow RECONNECT end the drain.
func stopEndsWithTheLastClient(c *stage) {
	token := c.room()
	var sockets []*socket
	for range 5 {
		sockets = append(sockets, c.dial(token))
	}
	begin := time.Now()
	c.terminate()
	for _, s := range sockets {
		s.expectText(wire.LineReconnect)
		s.close()
	}
	c.stop()
	if took := time.Since(begin); took >= 7*time.Second {
		c.t.Errorf("the stop took %v after all clients had left, want less than the drain's 7s", took)
	}
}

// `pubsub drain` ends the service and not the process.
func drainByAdmin(c *stage) {
	token := c.room()
	refused := func() {
		_, refusal := c.open(handshake{Token: token})
		refusal.problem(c.t, http.StatusServiceUnavailable, "draining")
		if refusal.Header.Get("Retry-After") == "" {
			c.t.Error("the refusal has no Retry-After")
		}
	}
	drain := func() {
		c.do(call{Method: "POST", URL: c.adminURL("/pubsub/drain"), Body: []byte("{}")}).decode(c.t, 200, new(object))
	}
	c.checkDrain(drain, refused)
	refused()
	drain() // again changes nothing
	c.awaitPing(c.httpURL("/ping"))
	c.issue(allowAll("room"))
	begin := time.Now()
	c.stop()
	if took := time.Since(begin); took >= 7*time.Second {
		c.t.Errorf("the stop of a drained edge took %v", took)
	}
}

var (
	goroutineHead = regexp.MustCompile(`(?m)^goroutine \d+ `)
	ourGoroutine  = regexp.MustCompile(`millrace/pubsub(/websocket|/webtransport)?\.`)
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
func noGoroutineStays(c *stage) {
	token, revoked := c.issue(allowAll("room")), c.issue(allowAll("room"))
	c.dial(token.Token).close() // what starts once has started

	var before int
	c.poll("the edge to be at rest", func() bool {
		stacks, count := c.goroutines()
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
		s := c.dial(of)
		s.subscribe("paint.room", "x", "y.*")
		sockets = append(sockets, s)
	}
	for _, s := range sockets {
		s.publish("paint.room", "x", "to all, who do not read it")
	}
	stacks, _ := c.goroutines()
	if got := len(ourGoroutine.FindAllString(stacks, -1)); got < 50 {
		c.t.Fatalf("50 sockets show in %d lines of the stacks: this test looks for the wrong thing", got)
	}
	for n, s := range sockets {
		switch n % 5 {
		case 0: // what it has not read stays unread
			s.must(s.leave())
		case 1:
			s.must(s.cut())
		case 3, 4:
			s.must(c.rude[n%5-3](s))
		}
	}
	c.revoke(c.master, revoked.Token).decode(c.t, http.StatusOK, new(object)) // case 2
	c.half(c, token.Token)

	c.poll("the goroutines of gone clients to end", func() bool {
		stacks, count := c.goroutines()
		return count <= before && !ourGoroutine.MatchString(stacks)
	})
	if got := strings.TrimSpace(string(c.do(call{Method: "GET", URL: c.adminURL("/pubsub/connections")}).Body)); got != `{"connections":[]}` {
		c.t.Errorf("the edge still counts connections: %s", got)
	}
}

// Clients are told at once that the edge stops, whatever requests the HTTP app
// still waits for. Caddy stops its apps in random order: hence several edges.
func stopTellsBeforeRequestsEnd(c *stage) {
	for i := range 3 {
		c.t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := &stage{t, startEdge(t, defaultCaddyfile), c.transport, nil}
			client := c.dial(c.room())
			slow, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", c.HTTP))
			if err != nil {
				t.Fatal(err)
			}
			defer slow.Close()
			// The answer 100 Continue says that the edge waits for the body.
			fmt.Fprintf(slow, "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", c.master)
			if _, err := slow.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			c.terminate()
			client.expectText(wire.LineReconnect)
			slow.Close()
			client.expectClose(wire.CloseGoingAway)
			c.stop()
		})
	}
}
