package conformance

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// drained is what one client saw of a drain.
type drained struct {
	told, closed time.Time
	deliveries   int
	code         wire.CloseCode
	err          error
}

// watchDrain reads until the session ends.
func watchDrain(l harness.Link) (d drained) {
	for {
		kind, message, err := l.Read()
		var end *harness.Closed
		switch {
		case errors.As(err, &end):
			d.closed, d.code = time.Now(), end.Code
			return d
		case err != nil:
			d.err = err
			return d
		case kind == harness.AsFrame:
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
func checkDrain(c *harness.Stage, begin, check func()) {
	c.T.Helper()
	const clients = 20
	token := c.Room()
	publisher := c.Publisher(token)
	seen := make(chan drained, clients)
	for range clients {
		s := c.Subscriber(token)
		s.Subscribe("paint.room", "x")
		go func() { seen <- watchDrain(s.Link) }() // ends with the session
	}
	begin()
	if c.Far == nil { // it is at the edge that drains
		publisher.ExpectText(wire.LineReconnect)
	}
	published := 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); published++ { // it has 6 s
		publisher.Publish("paint.room", "x", "during the drain")
		publisher.Ping()
		if published == 10 {
			check()
		}
		time.Sleep(20 * time.Millisecond) // a load, not a wait
	}
	if c.Far == nil {
		publisher.ExpectClose(wire.CloseGoingAway)
	}

	var first, last time.Time
	for range clients {
		d := <-seen
		switch {
		case d.err != nil:
			c.T.Errorf("a client saw: %v", d.err)
			continue
		case d.told.IsZero():
			c.T.Error("a client got no RECONNECT")
			continue
		case d.code != wire.CloseGoingAway:
			c.T.Errorf("a client got close code %d, want %d", d.code, wire.CloseGoingAway)
		case d.deliveries != published:
			c.T.Errorf("a client got %d messages of %d that were published during the drain", d.deliveries, published)
		}
		// Both times are taken here, when the messages are read: either may be late.
		// A client that is told only at the end of the drain has no time to move.
		if had := d.closed.Sub(d.told); had < 3*time.Second || had > harness.WaitTimeout/2 {
			c.T.Errorf("a client had %v to move, want at least 6s of the drain's 7s", had)
		}
		if first.IsZero() || d.told.Before(first) {
			first = d.told
		}
		if d.told.After(last) {
			last = d.told
		}
	}
	if spread := last.Sub(first); spread < 500*time.Millisecond {
		c.T.Errorf("all clients were told within %v, want them spread over the first second", spread)
	}
}

func stopDrains(c *harness.Stage) {
	token := c.Room()
	checkDrain(c, c.Terminate, func() {
		// Caddy may close its listeners before or after it stops the edge.
		session, refusal, err := c.Transport.TryOpen(c.Edge, harness.Handshake{Token: token})
		switch {
		case session != nil:
			c.T.Error("a handshake was accepted during the stop")
		case err == nil:
			if refusal.Status != http.StatusServiceUnavailable || refusal.Header.Get("Retry-After") == "" {
				c.T.Errorf("a handshake during the stop got status %d, Retry-After %q", refusal.Status, refusal.Header.Get("Retry-After"))
			}
		case !c.Gone(err):
			c.T.Errorf("a handshake during the stop: %v", err)
		}
	})
	c.Stop()
}

// Clients that follow RECONNECT end the drain.
func stopEndsWithTheLastClient(c *harness.Stage) {
	token := c.Room()
	var sockets []*harness.Socket
	for range 5 {
		sockets = append(sockets, c.Dial(token))
	}
	begin := time.Now()
	c.Terminate()
	for _, s := range sockets {
		s.ExpectText(wire.LineReconnect)
		s.Close()
	}
	c.Stop()
	if took := time.Since(begin); took >= 7*time.Second {
		c.T.Errorf("the stop took %v after all clients had left, want less than the drain's 7s", took)
	}
}

// `pubsub drain` ends the service and not the process.
func drainByAdmin(c *harness.Stage) {
	token := c.Room()
	refused := func() {
		_, refusal := c.Open(harness.Handshake{Token: token})
		refusal.Problem(c.T, http.StatusServiceUnavailable, "draining")
		if refusal.Header.Get("Retry-After") == "" {
			c.T.Error("the refusal has no Retry-After")
		}
	}
	drain := func() {
		c.Do(harness.Call{Method: "POST", URL: c.AdminURL("/pubsub/drain"), Body: []byte("{}")}).Decode(c.T, 200, new(harness.Object))
	}
	checkDrain(c, drain, refused)
	refused()
	drain() // again changes nothing
	c.AwaitPing(c.HttpURL("/ping"))
	c.Issue(harness.AllowAll("room"))
	begin := time.Now()
	c.Stop()
	if took := time.Since(begin); took >= 7*time.Second {
		c.T.Errorf("the stop of a drained edge took %v", took)
	}
}

// However a client leaves, no goroutine of its own stays.
func noGoroutineStays(c *harness.Stage) {
	token, revoked := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	c.Dial(token.Token).Close() // what starts once has started

	var before int
	c.Poll("the edge to be at rest", func() bool {
		stacks, count := c.Goroutines()
		resting := count == before && !harness.OurGoroutine.MatchString(stacks)
		before = count
		return resting
	})

	var sockets []*harness.Socket
	for n := range 50 {
		of := token.Token
		if n%5 == 2 {
			of = revoked.Token
		}
		s := c.Dial(of)
		s.Subscribe("paint.room", "x", "y.*")
		sockets = append(sockets, s)
	}
	for _, s := range sockets {
		s.Publish("paint.room", "x", "to all, who do not read it")
	}
	stacks, _ := c.Goroutines()
	if got := len(harness.OurGoroutine.FindAllString(stacks, -1)); got < 50 {
		c.T.Fatalf("50 sockets show in %d lines of the stacks: this test looks for the wrong thing", got)
	}
	for n, s := range sockets {
		switch n % 5 {
		case 0: // what it has not read stays unread
			s.Must(s.Leave())
		case 1:
			s.Must(s.Cut())
		case 3, 4:
			s.Must(c.Rude[n%5-3](s))
		}
	}
	c.Revoke(c.Master, revoked.Token).Decode(c.T, http.StatusOK, new(harness.Object)) // case 2
	c.Half(c, token.Token)

	c.Poll("the goroutines of gone clients to end", func() bool {
		stacks, count := c.Goroutines()
		return count <= before && !harness.OurGoroutine.MatchString(stacks)
	})
	if got := strings.TrimSpace(string(c.Do(harness.Call{Method: "GET", URL: c.AdminURL("/pubsub/connections")}).Body)); got != `{"connections":[]}` {
		c.T.Errorf("the edge still counts connections: %s", got)
	}
}

// Clients are told at once that the edge stops, whatever requests the HTTP app
// still waits for. Caddy stops its apps in random order: hence several edges.
func stopTellsBeforeRequestsEnd(c *harness.Stage) {
	for i := range 3 {
		c.T.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := &harness.Stage{T: t, Edge: harness.StartEdge(t, harness.DefaultCaddyfile), Transport: c.Transport, Far: nil}
			client := c.Dial(c.Room())
			slow, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", c.HTTP))
			if err != nil {
				t.Fatal(err)
			}
			defer slow.Close()
			// The answer 100 Continue says that the edge waits for the body.
			fmt.Fprintf(slow, "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", c.Master)
			if _, err := slow.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			c.Terminate()
			client.ExpectText(wire.LineReconnect)
			slow.Close()
			client.ExpectClose(wire.CloseGoingAway)
			c.Stop()
		})
	}
}
