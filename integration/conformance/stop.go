package conformance

import (
	"fmt"
	"net"
	"net/http"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// An edge that stops tells its clients at once, whatever requests the HTTP app still waits for,
// goes on serving those that have not left and what needs no session, refuses newcomers, and ends
// with the last of them. Caddy stops its apps in random order.
func stop(c *harness.Stage) {
	token := c.Room()
	publisher, s := c.Publisher(token), c.Subscriber(token)
	s.Subscribe("paint.room", "x")
	slow, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", c.HTTP))
	c.Must(err)
	defer slow.Close()
	// The answer 100 Continue says that the edge waits for the body.
	fmt.Fprintf(slow, "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", c.Master)
	_, err = slow.Read(make([]byte, 1))
	c.Must(err)
	c.Terminate()
	s.ExpectText(wire.LineReconnect)
	if c.Far == nil { // it is at the edge that stops
		publisher.ExpectText(wire.LineReconnect)
	}
	for range 3 {
		_, refusal := c.Open(harness.Handshake{Token: token})
		refusal.Problem(c.T, http.StatusServiceUnavailable, "draining")
		if refusal.Header.Get("Retry-After") == "" {
			c.T.Error("a refusal during the stop has no Retry-After")
		}
		c.AwaitAnswer(c.HttpURL("/ping"))
		c.Issue(harness.AllowAll("room"))
	}
	duringDrain(publisher, s)
	s.Close()
	publisher.Close()
	if c.Far != nil {
		c.Far.Leave(c)
	}
	c.Stop() // which fails if the edge waits for the end of the drain, or for the rest of the slow request
}

func duringDrain(publisher, s *harness.Socket) {
	publisher.Publish("paint.room", "x", "during the drain")
	s.ExpectDeliver("paint.room", "x", "during the drain", "x")
}

// `pubsub drain` ends the service and not the process. Clients that stay are closed at the end
// of the drain, and get all messages until then.
func drainByAdmin(c *harness.Stage) {
	token := c.Room()
	publisher, s := c.Publisher(token), c.Subscriber(token)
	s.Subscribe("paint.room", "x")
	c.DrainByAdminAPI()
	s.ExpectText(wire.LineReconnect)
	duringDrain(publisher, s)
	s.ExpectClose(wire.CloseGoingAway)
	c.DrainByAdminAPI() // again changes nothing
	_, refusal := c.Open(harness.Handshake{Token: token})
	refusal.Problem(c.T, http.StatusServiceUnavailable, "draining")
	c.AwaitAnswer(c.HttpURL("/ping"))
	c.Issue(harness.AllowAll("room"))
	c.Stop()
}
