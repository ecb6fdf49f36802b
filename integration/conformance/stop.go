package conformance

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// An edge that stops tells its clients at once, whatever requests the HTTP app still waits for,
// goes on serving those that have not left, and ends with the last of them. Caddy stops its
// apps in random order.
func stop(c *harness.Stage) {
	token := c.Room()
	publisher := c.Publisher(token)
	var sockets []*harness.Socket
	for range 5 {
		s := c.Subscriber(token)
		s.Subscribe("paint.room", "x")
		sockets = append(sockets, s)
	}
	slow, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", c.HTTP))
	c.Must(err)
	defer slow.Close()
	// The answer 100 Continue says that the edge waits for the body.
	fmt.Fprintf(slow, "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", c.Master)
	_, err = slow.Read(make([]byte, 1))
	c.Must(err)
	c.Terminate()
	for _, s := range sockets {
		s.ExpectText(wire.LineReconnect)
	}
	if c.Far == nil { // it is at the edge that stops
		publisher.ExpectText(wire.LineReconnect)
	}
	slow.Close()
	// Caddy may close its listeners before or after it stops the edge.
	session, refusal, err := c.Transport.TryOpen(c.Edge, harness.Handshake{Token: token})
	switch {
	case session != nil:
		c.T.Error("a handshake was accepted during the stop")
	case err == nil && (refusal.Status != http.StatusServiceUnavailable || refusal.Header.Get("Retry-After") == ""):
		c.T.Errorf("a handshake during the stop got status %d, Retry-After %q", refusal.Status, refusal.Header.Get("Retry-After"))
	case err != nil && !c.Gone(err):
		c.T.Errorf("a handshake during the stop: %v", err)
	}
	publisher.Publish("paint.room", "x", "during the drain")
	for _, s := range sockets {
		s.ExpectDeliver("paint.room", "x", "during the drain", "x")
		s.Close()
	}
	publisher.Close()
	if c.Far != nil {
		c.Far.Leave(c)
	}
	c.Stop() // which fails if the edge waits for the end of the drain
}

// `pubsub drain` ends the service and not the process. Clients that stay are closed at the end
// of the drain, and get all messages until then.
func drainByAdmin(c *harness.Stage) {
	token := c.Room()
	publisher, watcher := c.Publisher(token), c.Subscriber(token)
	watcher.Subscribe("paint.room", "x")
	c.DrainByAdminAPI()
	watcher.ExpectText(wire.LineReconnect)
	publisher.Publish("paint.room", "x", "during the drain")
	watcher.ExpectDeliver("paint.room", "x", "during the drain", "x")
	watcher.ExpectClose(wire.CloseGoingAway)
	c.DrainByAdminAPI() // again changes nothing
	_, refusal := c.Open(harness.Handshake{Token: token})
	refusal.Problem(c.T, http.StatusServiceUnavailable, "draining")
	c.AwaitPing(c.HttpURL("/ping"))
	c.Issue(harness.AllowAll("room"))
	c.Stop()
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

	const clients = 20
	var sockets []*harness.Socket
	for n := range clients {
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
	if got := len(harness.OurGoroutine.FindAllString(stacks, -1)); got < clients {
		c.T.Fatalf("%d sockets show in %d lines of the stacks: this test looks for the wrong thing", clients, got)
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
