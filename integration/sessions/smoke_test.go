package sessions

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	if got := e.Do(harness.Call{Method: "GET", URL: e.HttpsURL("/ping")}); string(got.Body) != "pong" {
		t.Errorf("got %q, want pong", got.Body)
	}
	s := e.MustOpen(harness.Handshake{
		URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: e.Issue(harness.AllowAll("room")).Token,
	})
	s.Subscribe("paint.room", "x")
	s.Publish("paint.room", "x", "over TLS")
	s.ExpectDeliver("paint.room", "x", "over TLS", "x")
}
