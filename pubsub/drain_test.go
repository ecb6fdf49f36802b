package pubsub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestDrain(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		clients := make([]*client, 50)
		for i := range clients {
			clients[i] = r.connect("a")
			clients[i].ok("SUB:t:#")
		}
		start := time.Now()
		drained := r.hub.Drain()
		synctest.Wait()
		equal(t, "Available", r.hub.Available(), ErrDraining)

		told, early := map[*client]int{}, 0
		for time.Since(start) <= 4*time.Second { // the period of 10 s less 6 s
			for _, c := range clients {
				for _, line := range c.take() {
					equal(t, "line", line, wire.LineReconnect)
					told[c]++
					if time.Since(start) < 2*time.Second {
						early++
					}
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		for _, c := range clients {
			equal(t, "times that a client was told 6 s before the end", told[c], 1)
		}
		if early < 20 || early > 30 {
			t.Errorf("%d of 50 were told in the first half: the telling is not spread", early)
		}

		got := map[string]int{} // all were told to reconnect: one of them gets it as a last resort
		for range 100 {
			clients[0].publishAs(wire.OneNearest, "t", "a", "near")
			clients[0].publishAs(wire.OneRandom, "t", "a", "random")
		}
		for _, c := range clients {
			for _, message := range c.take() {
				got[message]++
			}
		}
		equal(t, "messages to one", fmt.Sprint(got), "map[t/a=near [#]:100 t/a=random [#]:100]")
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

// Who was told to reconnect before a drain is undone leaves, at the latest at the end of its period.
// All others notice nothing, and the next drain tells them.
func TestUndrain(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		equal(t, "Undrain of a hub that serves", r.hub.Undrain(), nil)
		clients := make([]*client, 50)
		for i := range clients {
			clients[i] = r.connect("a")
		}
		pending, err := r.hub.AddPending(Client{})
		equal(t, "AddPending", err, nil)
		start := time.Now()
		drained := r.hub.Drain()
		time.Sleep(2 * time.Second)
		equal(t, "Undrain", r.hub.Undrain(), nil)
		equal(t, "Available", r.hub.Available(), nil)
		<-pending.Draining() // it may connect again
		later, err := r.hub.AddPending(Client{})
		equal(t, "AddPending", err, nil)
		late := r.connect("a")
		synctest.Wait()
		told := map[*client]bool{}
		for _, c := range clients {
			told[c] = len(c.take()) > 0
		}
		time.Sleep(10*time.Second - time.Since(start) - time.Millisecond)
		select {
		case <-drained:
			t.Error("those who were told to reconnect are not waited for")
		default:
		}
		time.Sleep(2 * time.Millisecond)
		<-drained
		stay := 0
		for _, c := range clients {
			c.expect()
			if told[c] {
				c.expectClose(wire.CloseGoingAway)
				continue
			}
			c.ends(0)
			stay++
		}
		if stay < 20 || stay > 30 {
			t.Errorf("%d of 50 stay after half of the time", stay)
		}
		select {
		case <-later.Draining():
			t.Error("a connection that came later ends")
		default:
		}

		r.hub.Shutdown()
		equal(t, "Undrain of a hub that stops", r.hub.Undrain(), ErrStopping)
		<-later.Draining()
		time.Sleep(5 * time.Second)
		late.expect(wire.LineReconnect)
		pending.Release()
		later.Release()
	})
}

// Few clients are told soon, however long the period is: they have the rest of it to move.
func TestDrainOfFewClients(t *testing.T) {
	limits := with(func(l *Limits) { l.Drain = 30 * time.Minute }) // the tokens live for an hour
	inBubble(t, limits, func(r *rig) {
		clients := []*client{r.connect("a"), r.connect("a"), r.connect("a")}
		start := time.Now()
		drained := r.hub.Drain()
		time.Sleep(200 * time.Millisecond)
		for _, c := range clients {
			c.expect(wire.LineReconnect)
		}
		time.Sleep(limits.Drain - time.Since(start) - time.Millisecond)
		for _, c := range clients {
			c.ends(0)
		}
		time.Sleep(2 * time.Millisecond)
		for _, c := range clients {
			c.ends(wire.CloseGoingAway)
		}
		<-drained
	})
}

func TestDrainEndsWithTheLastClient(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, start := r.connect("a"), time.Now()
		time.AfterFunc(3*time.Second, func() { c.Session.Close(wire.CloseNormal, "") })
		<-r.hub.Drain()
		equal(t, "time until it has drained", time.Since(start), 3*time.Second)
	})
	inBubble(t, fastLimits(), func(r *rig) {
		start := time.Now()
		<-r.hub.Drain()
		<-r.hub.Drain() // a second call is harmless
		equal(t, "time until an empty hub has drained", time.Since(start), 0)
	})
}
