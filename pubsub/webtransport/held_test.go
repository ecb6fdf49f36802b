package webtransport

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// What waits for its tenant's cap comes in order, whatever other streams send.
func TestHeldPublishes(t *testing.T) {
	t.Parallel()
	e := newEdge(t, setup{})
	c := e.connect("/serve")
	c.subscribe("#")
	limits := pubsub.DefaultLimits()
	limits.DefaultIngressKB, limits.DefaultEgressKB = 1<<20, 1<<20
	limits.TokenIngressKB, limits.TenantIngressKB = 128, 128
	e.hub.SetLimits(limits)
	for n := range 20 { // some 120 KiB
		c.send(publish("a", make([]byte, 6000+n)))
		c.lines("UNSUB:D:t:nothing\n")
	}
	c.send("PING")
	next, answers := 0, 0
	for next < 20 || answers < 21 {
		switch got := c.main.read(); got {
		case "OK:UNSUB:t:nothing", "PONG":
			answers++
		case fmt.Sprintf("deliver a %d [#]", 6000+next):
			next++
		default:
			t.Fatalf("got %q, want message %d", got, next)
		}
	}
}

// A client that goes away while the edge does not read from it is noticed.
func TestClientLeavesWhileItWaits(t *testing.T) {
	for name, set := range map[string]func(*pubsub.Limits){
		"tenant's cap": func(l *pubsub.Limits) { l.TenantIngressKB = 1 },
		"its own cap":  func(l *pubsub.Limits) { l.DefaultIngressKB = 1 },
	} {
		run(t, name, func(t *testing.T) {
			e := newEdge(t, setup{limits: set})
			c := e.connect("/serve")
			large := publish("a", make([]byte, 60<<10)) // a minute's worth
			c.send(large)
			for start := time.Now(); e.hub.Metrics().MessagesIn == 0; time.Sleep(time.Millisecond) {
				if time.Since(start) > eventTimeout {
					t.Fatal("nothing was published")
				}
			}
			c.send(publish("a", nil))
			_ = c.conn.CloseWithError(noError, "")
			e.gone()
			if n := e.hub.Metrics().MessagesIn; n != 1 {
				t.Errorf("%d publishes were accepted, want 1", n)
			}
		})
	}
}
