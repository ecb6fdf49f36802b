package pubsub

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// A client that leaves gets what other edges had published before, however late it
// comes to this one.
func TestLeavingCatchesUp(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, stays := r.connect("a"), r.connect("b")
		late := func(channel string) {
			r.hub.Receive(Message{Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte("late")})
		}
		c.send("SUB:t:a", "SUB:t:b", "SUB:t:c")
		stays.send("SUB:t:a")
		r.broker.behind = true
		stays.take()
		stays.send("UNSUB:t:a")
		stays.expect("OK:UNSUB:t:a") // it was not told to reconnect

		c.take()
		c.sendReconnect()
		c.expect(wire.LineReconnect)
		c.send("UNSUB:t:none", "UNSUB:t:a")
		c.expect("OK:UNSUB:t:none") // there is nothing to wait for
		c.answer(wire.LinePing, wire.LinePong)
		late("a")
		c.expect("t/a=late [a]")
		r.broker.caughtUp()
		c.expect("OK:UNSUB:t:a")
		late("a")
		c.expect()
		c.send("SUB:t:a", "UNSUB:t:a", "UNSUB:t:a") // the second one is done at once
		c.expect("OK:SUB:t:a", "OK:UNSUB:t:a", "OK:UNSUB:t:a")

		c.send("UNSUB:t:b", "SUB:t:b") // done before it is asked for again
		c.expect("OK:UNSUB:t:b", "OK:SUB:t:b")
		r.broker.caughtUp()
		late("b")
		c.expect("t/b=late [b]")

		// An answer to an earlier UNSUB does not answer the next one.
		c.ok("UNSUB:t:b", "SUB:t:b")
		old := r.broker.catch()
		c.send("UNSUB:t:b")
		for _, call := range old {
			call.done()
		}
		c.expect()
		r.broker.caughtUp()
		c.expect("OK:UNSUB:t:b")

		// What waits does not count for limits.
		c.ok("UNSUB:t:c", "SUB:t:d")
		r.broker.caughtUp()
		c.ask("SUB:t:c")

		c.send("UNSUB:t:c") // nothing waits for a client that is gone
		c.Session.Close(wire.CloseNormal, "")
		synctest.Wait()
		r.broker.caughtUp()
	})
}

// A command before which a deferred UNSUB is executed is not charged for that, or the wait for it, once more.
func TestDeferredIsChargedOnce(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		c := r.connect("a")
		c.ask("SUB:t:a")
		r.broker.behind = true
		c.sendReconnect()
		c.ask("UNSUB:t:a")
		r.company()
		l := r.debtor("t", 20*time.Millisecond)
		paid := l.paidUntil.Load()
		c.answer("SUB:t:a", "OK:UNSUB:t:a", "OK:SUB:t:a")
		equal(t, "what was charged for no work", l.paidUntil.Load()-paid, 0)
		r.broker.caughtUp()
	})
}

// A client was told to reconnect. What it publishes elsewhere, after the PONG of this
// edge, overtakes nothing that it published here.
func TestLeavingPings(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		r.broker.behind = true
		c.publish("t", "a", "1")
		c.send(wire.LinePing)
		c.expect(wire.LinePong) // it was not told to reconnect
		c.sendReconnect()
		c.expect(wire.LineReconnect)

		c.publish("u", "a", "2")
		c.send(wire.LinePing, "SUB:t:a", wire.LinePing)
		c.expect("OK:SUB:t:a")
		calls := r.broker.catch()
		if len(calls) != 4 {
			t.Fatalf("waits for %d marks, want those of two tenants, twice", len(calls))
		}
		calls[0].done() // the first one's
		c.expect()
		calls[2].done() // both of the second, which does not overtake the first
		calls[3].done()
		c.expect()
		calls[1].done()
		c.expect(wire.LinePong, wire.LinePong)

		// It waits for the tenants that were published to last.
		for i := range maxPublishedTo {
			c.publish(fmt.Sprint("many", i), "a", "3")
		}
		c.publish("many0", "a", "4")
		c.publish("more", "a", "5") // many1 is the one that is longest ago
		c.send(wire.LinePing)
		c.expect()
		var tenants []string
		for _, call := range r.broker.catch() {
			tenants = append(tenants, call.tenant)
			call.done()
		}
		if len(tenants) != maxPublishedTo || slices.Contains(tenants, "u") || slices.Contains(tenants, "many1") || !slices.Contains(tenants, "many0") {
			t.Errorf("waits for %v", tenants)
		}
		c.expect(wire.LinePong)

		silent := r.connect("b")
		silent.sendReconnect()
		silent.send(wire.LinePing)
		silent.expect(wire.LineReconnect, wire.LinePong) // it has published nothing
	})
}

// Who sends many PINGs holds little, and gets as many answers.
func TestLeavingPingsAreBounded(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		r.broker.behind = true
		c.publish("t", "a", "1")
		c.sendReconnect()
		c.expect(wire.LineReconnect)
		send := func(n, answered int) {
			t.Helper()
			for range n {
				c.send(wire.LinePing)
			}
			c.count(answered)
		}
		send(maxDeferredPings, 0)
		send(1, maxDeferredPings+1)
		send(1000, 1000)
		calls := r.broker.catch()
		equal(t, "questions of 1,017 PINGs", len(calls), maxDeferredPings)
		calls[0].done()
		send(2, 2) // one has room again, and the next makes it too many
		for _, call := range calls[1:] {
			call.done()
		}
		send(1, 0)
		r.broker.caughtUp()
		send(0, 1)

		c.send(wire.LinePing)
		c.Session.Close(wire.CloseNormal, "")
		synctest.Wait()
		r.broker.caughtUp()
	})
}
