package pubsub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestDrain(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		clients := make([]*client, 20)
		for i := range clients {
			clients[i] = r.connect("a")
			clients[i].send("SUB:t:#")
			clients[i].take()
		}
		start := time.Now()
		drained := r.hub.Drain()
		synctest.Wait()
		if err := r.hub.Available(); err != ErrDraining {
			t.Errorf("Available = %v, want ErrDraining", err)
		}

		told := map[*client]time.Duration{}
		for time.Since(start) < 4*time.Second { // the period of 10 s less 6 s
			for _, c := range clients {
				for _, line := range c.take() {
					if line != wire.LineReconnect {
						t.Fatalf("got %q", line)
					}
					if _, twice := told[c]; twice {
						t.Error("told twice")
					}
					told[c] = time.Since(start)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		if len(told) != len(clients) {
			t.Fatalf("%d of %d were told 6 s before the end", len(told), len(clients))
		}
		early := 0
		for _, at := range told {
			if at < 2*time.Second {
				early++
			}
		}
		if early < 5 || early > 15 {
			t.Errorf("%d of 20 were told in the first half: the telling is not spread", early)
		}

		clients[0].publish("t", "a", "still served")
		clients[1].expect("t/a=still served [#]")
		clients[2].Session.Close(wire.CloseNormal, "") // leaves by itself
		time.Sleep(10*time.Second - time.Since(start) - time.Millisecond)
		clients[1].expectClose(0)
		time.Sleep(2 * time.Millisecond)
		clients[1].expectClose(wire.CloseGoingAway)
		clients[2].expectClose(wire.CloseNormal)
		<-drained
	})
}

func TestDrainEndsWithTheLastClient(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		start := time.Now()
		go func() {
			time.Sleep(3 * time.Second)
			c.Session.Close(wire.CloseNormal, "")
		}()
		<-r.hub.Drain()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
	inBubble(t, fastLimits(), func(r *rig) {
		start := time.Now()
		<-r.hub.Drain()
		<-r.hub.Drain() // a second call is harmless
		if took := time.Since(start); took != 0 {
			t.Errorf("an empty hub took %v to drain", took)
		}
	})
}

// A client that leaves gets what other edges had published before, however late it
// comes to this one.
func TestLeavingCatchesUp(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, stays := r.connect("a"), r.connect("b")
		for _, line := range []string{"SUB:t:a", "SUB:t:b", "SUB:u:a"} {
			c.send(line)
		}
		stays.send("SUB:t:a")
		r.broker.behind = true
		stays.take()
		stays.send("UNSUB:t:a")
		stays.expect("OK:UNSUB:t:a") // it was not told to leave

		c.take()
		c.reconnect()
		c.expect(wire.LineReconnect)
		left := make(chan struct{})
		go func() {
			for _, line := range []string{"UNSUB:t:a", "UNSUB:t:b", "UNSUB:u:a", wire.LinePing} {
				c.send(line)
			}
			close(left)
		}()
		synctest.Wait()
		r.hub.Receive(Message{Tenant: []byte("t"), Channel: []byte("a"), Payload: []byte("late")})
		c.expect("t/a=late [a]")
		if n := r.broker.caughtUp(); n != 1 {
			t.Errorf("%d waits, want one", n)
		}
		c.expect("OK:UNSUB:t:a", "OK:UNSUB:t:b") // one wait for both, and another one for the other tenant
		r.hub.Receive(Message{Tenant: []byte("u"), Channel: []byte("a"), Payload: []byte("late, too")})
		start := time.Now()
		<-left
		if took := time.Since(start); took != CatchUpTime {
			t.Errorf("an edge that does not answer was waited for for %v", took)
		}
		c.expect("u/a=late, too [a]", wire.LinePong, "OK:UNSUB:u:a")

		for _, line := range []string{"SUB:t:a", "UNSUB:t:a"} { // later, it is waited for again
			go c.HandleLine([]byte(line))
			synctest.Wait()
		}
		c.expect("OK:SUB:t:a")
		c.Session.Close(wire.CloseNormal, "") // which ends the wait
		synctest.Wait()
	})
}
