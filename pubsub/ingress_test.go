package pubsub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// shared are caps of 8 KB/s that several connections share.
var shared = map[string]func(*Limits){
	"token":  func(l *Limits) { l.TokenIngressKB = 8 },
	"tenant": func(l *Limits) { l.TenantIngressKB = 8 },
	"both":   func(l *Limits) { l.TokenIngressKB, l.TenantIngressKB = 8, 8 },
}

// eachShared runs a test for each of them.
func eachShared(t *testing.T, test func(*rig)) {
	for name, set := range shared {
		t.Run(name, func(t *testing.T) {
			limits := fastLimits()
			set(&limits)
			inBubble(t, limits, test)
		})
	}
}

// start sends frames from a goroutine, as a transport's reader would. It ends with
// them, or with the session, which waits for it.
func (c *client) start(frames ...[]byte) (done <-chan struct{}) {
	finished := make(chan struct{})
	c.readers.Go(func() {
		defer close(finished)
		for _, f := range frames {
			if !c.ready() {
				return
			}
			c.Charge(len(f))
			c.HandleFrame(f)
		}
		c.ready()
	})
	return finished
}

// ready waits as transports do, again and again.
func (c *client) ready() bool {
	for !c.Ready(25 * time.Second) {
		if c.Closing() {
			return false
		}
	}
	return true
}

// vanish ends a session as its transport does when the client has closed the connection.
func (c *client) vanish() {
	c.Session.Close(wire.CloseNormal, "")
	synctest.Wait()
}

// Whoever connects again for each message gets no more through than others.
func TestReconnectingPassesNoCap(t *testing.T) {
	eachShared(t, func(r *rig) {
		const size = 16 << 10 // two seconds' worth
		begin := time.Now()
		for time.Since(begin) < time.Minute {
			c := r.connect("a")
			c.start(framed("t", size-costOverhead))
			time.Sleep(100 * time.Millisecond)
			c.vanish()
		}
		if n := r.hub.Metrics().MessagesIn; n < 29 || n > 32 {
			r.Errorf("%d messages of 16 KiB within a minute at 8 KB/s, want 30", n)
		}
	})
}

// Connections that send at the same moment leave no debt behind that others have to
// pay: once they are gone, the next message waits for the one that came before it.
func TestDebtIsOneMessage(t *testing.T) {
	eachShared(t, func(r *rig) {
		var crowd []*client
		for range 100 {
			c := r.connect("a")
			c.start(framed("t", 64<<10), framed("t", 64<<10))
			crowd = append(crowd, c)
		}
		time.Sleep(time.Second)
		for _, c := range crowd {
			c.vanish()
		}
		begin := time.Now()
		<-r.connect("a").start(framed("t", 100))
		if took := time.Since(begin); took > 8*time.Second {
			r.Errorf("an honest message waited %v for a debt of 64 KiB at 8 KB/s", took)
		}
	})
}

// A cap that is taken away holds nobody up any longer, and one that is raised less.
func TestCapsHoldAtOnce(t *testing.T) {
	for name, set := range shared {
		t.Run(name, func(t *testing.T) {
			limits := fastLimits()
			set(&limits)
			none := limits
			none.TokenIngressKB, none.TenantIngressKB = 0, 0
			inBubble(t, limits, func(r *rig) {
				var done []<-chan struct{}
				for range 10 {
					done = append(done, r.connect("a").start(framed("t", 64<<10)))
				}
				time.Sleep(time.Second)
				begin := time.Now()
				r.hub.SetLimits(none)
				for _, d := range done {
					<-d
				}
				if took := time.Since(begin); took > time.Second {
					r.Errorf("they waited %v without a cap", took)
				}
			})
		})
	}
}

// Those that wait for a cap take turns.
func TestTurnsAreFair(t *testing.T) {
	eachShared(t, func(r *rig) {
		var busy []*client
		for range 20 {
			c := r.connect("a")
			frames := make([][]byte, 100)
			for i := range frames {
				frames[i] = framed("t", 1024-costOverhead)
			}
			c.start(frames...)
			busy = append(busy, c)
		}
		time.Sleep(10 * time.Second)
		begin := time.Now()
		<-r.connect("a").start(framed("t", 100))
		if took := time.Since(begin); took > 3*time.Second { // 20 messages of 1 KiB are before it
			r.Errorf("one message waited %v", took)
		}
		for _, c := range busy {
			c.vanish()
		}
	})
}

// What waits for a cap is neither lost nor reordered, whatever comes behind it.
func TestHeldMessagesKeepTheirOrder(t *testing.T) {
	eachShared(t, func(r *rig) {
		other := r.connect("b")
		other.ok("SUB:t:#")
		c := r.connect("a")
		done := make(chan struct{})
		r.hub.Go(func() {
			defer close(done)
			for i := range 20 {
				if !c.ready() {
					return
				}
				f := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a"), Payload: fmt.Appendf(nil, "%04000d", i)})
				c.Charge(len(f))
				c.HandleFrame(f)
				clear(f) // it keeps nothing of it
				if !c.ready() {
					return
				}
				c.Charge(4)
				c.HandleLine([]byte("PING"))
			}
			c.ready()
		})
		<-done
		got := other.take()
		if len(got) != 20 {
			r.Fatalf("%d messages arrived, want 20", len(got))
		}
		for i, m := range got {
			if want := fmt.Sprintf("t/a=%04000d [#]", i); m != want {
				r.Errorf("message %d is %.20q…", i, m)
			}
		}
		if pongs := c.take(); len(pongs) != 20 {
			r.Errorf("%d answers, want 20", len(pongs))
		}
	})
}

// A message on another stream waits behind one that is held.
func TestHeldBehindAnotherStream(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantIngressKB = 8 }), func(r *rig) {
		c := r.connect("a")
		c.HandleFrame(framed("t", 16<<10)) // is published
		c.HandleFrame(framed("t", 100))    // is held
		begin := time.Now()
		c.HandleStreamLine([]byte("SUB:D:t:a\n"))
		if took := time.Since(begin); took < time.Second || r.hub.Metrics().MessagesIn != 2 {
			r.Errorf("handled after %v, with %d publishes before it", took, r.hub.Metrics().MessagesIn)
		}
		c.take()
	})
}

// A publish whose session ends while it waits is not accepted, and its place goes to
// the next one.
func TestCloseWhileHeld(t *testing.T) {
	eachShared(t, func(r *rig) {
		first, second, third := r.connect("a"), r.connect("a"), r.connect("a")
		<-first.start(framed("t", 16<<10))
		waits := second.start(framed("t", 64<<10))
		synctest.Wait()
		next := third.start(framed("t", 100))
		synctest.Wait()
		r.hub.mu.Lock()
		open := len(r.hub.sessions)
		r.hub.mu.Unlock()
		if n := r.hub.Metrics().MessagesIn; n != 1 || open != 3 {
			r.Fatalf("%d messages of %d sessions were accepted, want 1 of 3", n, open)
		}
		second.Session.Revoke()
		<-waits
		begin := time.Now()
		<-next
		if took := time.Since(begin); took > 3*time.Second {
			r.Errorf("a message waited %v behind one of a session that has ended", took)
		}
		equal(r, "messages were accepted", r.hub.Metrics().MessagesIn, 2)
	})
}

// lostTransport is a transport whose client is gone unnoticed.
type lostTransport struct{ *client }

func (lostTransport) ClientGone() bool { return true }

// A session that waits for its turn notices that its client is gone.
func TestClientGoneWhileHeld(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantIngressKB = 8 }), func(r *rig) {
		<-r.connect("a").start(framed("t", 64<<10))
		c, err := r.attach(Identity{TokenID: "b"}, Client{}, func(c *client) Transport { return lostTransport{c} })
		must(t, err)
		done := c.start(framed("t", 100))
		time.Sleep(2 * watchEvery)
		equal(t, "its wait has ended", closed(done), true)
		equal(t, "waiting", r.hub.tenantCapsOf([]byte("t")).ingress.waiting.Len(), 0)
	})
}

// A frame costs no more where there are caps that do not bind.
func TestCapsThatDoNotBindAllocateNothing(t *testing.T) {
	for _, cap := range []int{0, 1 << 20} {
		inBubble(t, with(func(l *Limits) { l.TokenIngressKB, l.TenantIngressKB = cap, cap }), func(r *rig) {
			c := r.connect("a")
			f := framed("t", 64)
			if n := testing.AllocsPerRun(100, func() {
				c.Ready(0)
				c.Charge(len(f))
				c.HandleFrame(f)
			}); n != 0 {
				r.Errorf("cap %d: %v allocations", cap, n)
			}
		})
	}
}

// Caps of tokens that have no connection stay as long as they matter.
func TestTokenCapsAreForgotten(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TokenIngressKB, l.TokenEgressKB = 1, 1 }), func(r *rig) {
		quiet := r.connect("quiet")
		quiet.vanish()
		equal(t, "caps of tokens that sent nothing", len(r.hub.idleTokenCaps.caps), 0)
		for i := range 4 * minSweep {
			c := r.connect(fmt.Sprint(i))
			<-c.start(framed("t", 600))
			c.vanish()
			if i%100 == 0 {
				time.Sleep(unusedKept / 4)
			}
		}
		if n := len(r.hub.idleTokenCaps.caps); n > minSweep {
			t.Errorf("%d tokens", n)
		}
	})
}
