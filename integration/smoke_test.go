package integration

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

func TestPublishAndSubscribe(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	pub, sub := e.dial(token), e.dialBrowser(token)

	sub.subscribe("paint.room", "#", "a.*")
	pub.publish("paint.room", "a.b", "hello")
	pub.publish("paint.room", "c", "")
	sub.expectDeliver("paint.room", "a.b", "hello", "#", "a.*")
	sub.expectDeliver("paint.room", "c", "", "#")
	pub.ping()
	pub.fence()
	sub.fence()
	sub.close()
	pub.close()
	e.stop()
}

// The bytes on the wire are those of docs/protocol.md, not only what our codec
// makes of them.
func TestFramesToTheByte(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	s := e.dial(e.issue(allowAll("room")).Token)
	s.subscribe("paint.room", "a.>")
	s.sendFrame(rawPublish("paint.room", "a.b", "\x00\xffhello"))
	kind, got, err := s.read()
	if want := rawDeliver("paint.room", "a.b", "\x00\xffhello", "a.>"); err != nil || kind != websocket.BinaryMessage || !bytes.Equal(got, want) {
		t.Errorf("got kind %d, error %v, frame\n%x, want\n%x", kind, err, got, want)
	}
}

func TestTLS(t *testing.T) {
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

func TestReloadKeepsSockets(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	s := e.dial(e.issue(allowAll("room")).Token)
	s.subscribe("paint.room", "#")
	e.reload(strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion EU", 1))
	s.publish("paint.room", "x", "after")
	s.expectDeliver("paint.room", "x", "after", "#")
}

func TestStopTellsClients(t *testing.T) {
	e := startEdge(t, defaultCaddyfile)
	s := e.dial(e.issue(allowAll("room")).Token)
	e.terminate()
	s.expectText("RECONNECT")
	s.expectClose(wire.CloseGoingAway)
	e.stop()
}
