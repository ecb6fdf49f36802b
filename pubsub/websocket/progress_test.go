package websocket

import (
	"testing"
	"testing/synctest"
	"time"
)

// A client that is there, and never reads, does not keep its session: neither one
// that makes the edge write, nor one that is silent.
func TestNothingIsRead(t *testing.T) {
	for name, send := range map[string][]byte{"pings": text("PING"), "sends a line now and then": text("UNSUB:t:a")} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(p *peer) {
				p.hub.Go(func() { // ends with the connection
					for range 2000 { // more than the edge takes unanswered
						if _, err := p.Write(send); err != nil {
							return
						}
						if name != "pings" {
							time.Sleep(20 * time.Second)
						}
					}
				})
				time.Sleep(50 * time.Second)
				if len(p.hub.Stats()) != 1 {
					t.Fatal("the session ended too early")
				}
				time.Sleep(40 * time.Second)
				synctest.Wait()
				if n := p.hub.Metrics().SlowDisconnects["write_timeout"]; n != 1 || len(p.hub.Stats()) != 0 {
					t.Errorf("%d sessions were ended for not reading, want 1; %d are open", n, len(p.hub.Stats()))
				}
			})
		})
	}
}
