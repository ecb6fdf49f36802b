package pubsub

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// pings stands for a transport that looks after its session every 25 s.
func (c *client) pings() {
	c.rig.hub.Go(func() {
		for sleep(25*time.Second, c.done) {
			c.CheckProgress()
			c.QueueControl(Ping, nil)
		}
	})
}

// closedForNotReading checks that the session was closed because its client did not read.
func (c *client) closedForNotReading() {
	c.rig.Helper()
	synctest.Wait()
	if code, _ := c.CloseStatus(); code != wire.CloseSlowConsumer {
		c.rig.Fatalf("the session ends with %d, want %d", code, wire.CloseSlowConsumer)
	}
	time.Sleep(closeGrace)
	synctest.Wait()
	equal(c.rig, "sessions were counted", c.rig.hub.Metrics().SlowDisconnects["write_timeout"], 1)
	if slices.ContainsFunc(c.rig.hub.Stats(), func(s Stat) bool { return s.ID == c.client.ID }) {
		c.rig.Error("the session is open")
	}
}

// A client that sends and never reads its answers does not keep its session.
func TestUnreadLinesEndTheSession(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.block()
		done := make(chan struct{})
		r.hub.Go(func() {
			defer close(done)
			for c.Ready(time.Hour) {
				c.HandleLine([]byte("PING"))
			}
		})
		time.Sleep(DefaultLimits().WriteTimeout - time.Second)
		if c.Closing() {
			t.Fatal("ended too early")
		}
		time.Sleep(time.Second + watchEvery)
		c.closedForNotReading()
		<-done
	})
}

// Neither does one that sends nothing, and is sent deliveries, with either policy.
func TestUnreadDeliveriesEndTheSession(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		c.pings()
		c.block()
		p.publish("t", "a", "x")
		time.Sleep(50 * time.Second)
		equal(t, "ended after 50 s", c.Closing(), false)
		time.Sleep(30 * time.Second)
		c.closedForNotReading()
	})
}

// One that reads slowly keeps it: each write ends in time.
func TestSlowReadersStay(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		c.pings()
		release := c.block()
		for range 10 {
			p.HandleFrame(framed("t", 60<<10))
			time.Sleep(50 * time.Second)
			release()
			release = c.block()
		}
		equal(t, "ended", c.Closing(), false)
		release()
	})
}

// So does one that takes more than a minute for a message that is large.
func TestSlowReadersOfLargeMessagesStay(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPayload, l.SendQueue = 1<<20, 8<<20 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		c.pings()
		c.block()
		p.HandleFrame(framed("t", 1<<20))
		time.Sleep(8 * time.Minute) // 2 KiB a second
		equal(t, "ended after 8 minutes", c.Closing(), false)
		time.Sleep(3 * time.Minute)
		c.closedForNotReading()
	})
}

// Lines that wait behind deliveries for the client's cap are no sign that it does not
// read.
func TestCappedReadersStay(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 8 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		c.pings()
		p.handle(15, framed("t", 60<<10)) // some two minutes' worth
		var sent atomic.Int32
		done := make(chan struct{})
		r.hub.Go(func() {
			defer close(done)
			for sent.Load() < 2000 && c.Ready(time.Hour) {
				c.HandleLine([]byte("SUB:t:a"))
				sent.Add(1)
			}
		})
		time.Sleep(90 * time.Second)
		if sent.Load() == 2000 {
			t.Error("all lines were read, though their answers wait")
		}
		<-done
		time.Sleep(time.Minute)
		equal(t, "lines answered", strings.Count(strings.Join(c.take(), "\n"), "OK:SUB:t:a"), 2000)
		equal(t, "ended", c.Closing(), false)
	})
}

// Nor is waiting for the cap behind a write that took long.
func TestPauseIsNoWrite(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB, l.WriteTimeout = 1, 10*time.Second }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		p.handle(3, framed("t", 60<<10)) // each a minute's worth
		for range 3 * 60 {
			time.Sleep(time.Second)
			c.CheckProgress()
		}
		equal(t, "messages", strings.Count("\n"+strings.Join(c.take(), "\n"), "\nt/a="), 3)
		equal(t, "ended", c.Closing(), false)
	})
}
