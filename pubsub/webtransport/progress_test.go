package webtransport

import (
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// A client that grants no flow control any more does not keep its session, also if
// it never sends again: QUIC answers for it that it is there.
func TestNothingIsRead(t *testing.T) {
	for name, pings := range map[string]bool{"silent": false, "pings": true} {
		set := setup{
			limits: func(l *pubsub.Limits) { l.WriteTimeout = time.Second },
			quic:   smallWindows,
		}
		run(t, name, set, func(t *testing.T, e *edge) {
			c, other := e.subscriber("#"), e.subscriber("nothing")
			for range 100 {
				e.publish("a", 1000)
			}
			for start := time.Now(); len(e.hub.Stats()) > 1; time.Sleep(time.Millisecond) {
				if pings && time.Since(start) < eventTimeout/2 {
					c.main.poke([]byte("\x00\x00\x00\x04PING"))
				}
				if time.Since(start) > eventTimeout {
					t.Fatal("the edge keeps the session")
				}
			}
			if n := e.hub.Metrics().SlowDisconnects["write_timeout"]; n != 1 {
				t.Errorf("%d sessions were ended for not reading, want 1", n)
			}
			other.send("PING")
			other.expect("PONG")
		})
	}
}
