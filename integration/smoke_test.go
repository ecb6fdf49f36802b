package integration

import (
	"bytes"
	"fmt"
	"testing"
)

func publishAndSubscribe(c *stage) {
	token := c.room()
	pub, sub := c.publisher(token), c.hearing(c.dialBrowser(token))

	sub.subscribe("paint.room", "#", "a.*")
	pub.publish("paint.room", "a.b", "hello")
	pub.publish("paint.room", "c", "")
	sub.expectDeliver("paint.room", "a.b", "hello", "#", "a.*")
	sub.expectDeliver("paint.room", "c", "", "#")
	pub.ping()
	c.settle(pub, sub)
	sub.close()
	pub.close()
	c.stop()
}

// The bytes on the wire are those of docs/protocol.md, not only what our codec
// makes of them.
func framesToTheByte(c *stage) {
	s := c.dial(c.room())
	s.subscribe("paint.room", "a.>")
	s.sendFrame(rawPublish("paint.room", "a.b", "\x00\xffhello"))
	kind, got, err := s.read()
	if want := rawDeliver("paint.room", "a.b", "\x00\xffhello", "a.>"); err != nil || kind != asFrame || !bytes.Equal(got, want) {
		c.t.Errorf("got kind %d, error %v, frame\n%x, want\n%x", kind, err, got, want)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	if got := e.do(call{Method: "GET", URL: e.httpsURL("/ping")}); string(got.Body) != "pong" {
		t.Errorf("got %q, want pong", got.Body)
	}
	s := e.mustOpen(handshake{
		URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: e.issue(allowAll("room")).Token,
	})
	s.subscribe("paint.room", "x")
	s.publish("paint.room", "x", "over TLS")
	s.expectDeliver("paint.room", "x", "over TLS", "x")
}
