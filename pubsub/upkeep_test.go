package pubsub

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// Whatever a client makes the edge do beside publishing is paid for by the first tenant of its token, and by its
// issuer, and its next message waits until that is paid.
func TestUpkeepIsPaidFor(t *testing.T) {
	line := func(text string) func(*client) { return func(c *client) { c.HandleLine([]byte(text)) } }
	for name, message := range map[string]func(*client){
		"PING": line("PING"), "an empty UNSUB": line("UNSUB:t:a"), "a repeated SUB": line("SUB:t:there"),
		"a broken line":  func(c *client) { c.HandleLine([]byte("?")); c.broken = 0 },
		"a broken frame": func(c *client) { c.HandleFrame([]byte{0xff}); c.broken = 0 },
		"a ping":         func(c *client) { c.HandlePing(nil) },
		"a pong":         func(*client) {},
		"a refused frame": func(c *client) {
			c.HandleFrame(wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("no")}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withIssuers(t, true, with(func(l *Limits) { l.TenantShare, l.IssuerShare = 1, 1 }), func(r *rig) {
				c := r.connectIssued("a.", "a", "mine")
				c.ok("SUB:t:there")
				r.company()
				r.issuersCome(c.token, r.connectIssued("b.", "b").token)
				owes := func() bool {
					now := r.hub.now()
					return r.hub.debt(r.hub.cpuAccountOf([]byte("mine")), now) > 0 && r.hub.debt(r.hub.issuerCPU(c.token), now) > 0
				}
				n := 0
				for ; n < 10_000*processors() && !owes(); n++ {
					c.Charge(10)
					c.Ready(time.Hour)
					message(c)
				}
				if !owes() {
					t.Fatal("nobody pays")
				}
				if took := r.took(func() { c.HandleLine([]byte("PING")) }); took < minDebt {
					t.Errorf("the next message waited for %v, after %d", took, n)
				}
				c.take()
			})
		})
	}
}

// Nothing that a session in debt sends waits behind others of its tenant for long, and a ping in a second behind none.
func TestWaitsForTurnsAreBounded(t *testing.T) {
	ping := func(c *client) { c.HandleLine([]byte("PING")) }
	for name, c := range map[string]struct {
		first, then func(*client)
		free        bool
	}{
		"a PING":             {first: func(*client) {}, then: ping, free: true},
		"a ping":             {first: func(*client) {}, then: func(c *client) { c.HandlePing(nil) }, free: true},
		"a second one":       {first: ping, then: ping},
		"one after a second": {first: func(c *client) { ping(c); time.Sleep(freePingEvery) }, then: ping, free: true},
		"a line":             {first: ping, then: func(c *client) { c.HandleLine([]byte("UNSUB:t:a")) }},
		"what is no message": {first: func(*client) {}, then: func(c *client) { c.reading = owedStep; c.Ready(0) }},
		"a PING that was held": {first: func(*client) {}, then: func(c *client) {
			granted := make(chan struct{})
			close(granted)
			c.held = &heldMessage{&turn{granted: granted}, []byte("PING"), (*Session).handleLine}
			c.Ready(0)
		}, free: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
				s := r.connectWith(allRights{}, 0, "mine")
				defer r.takeTurns("mine")()
				defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
				took := time.Duration(0)
				for _, f := range []func(*client){c.first, c.then} {
					r.debtor("mine", maxLoadDebt)
					s.owes.Store(true)
					took = r.took(func() { f(s) })
				}
				least := maxTurnWait
				if c.free {
					least = minDebt
				}
				if took < least || took > least+maxLoadDebt {
					t.Errorf("it waited for %v", took)
				}
				s.take()
			})
		})
	}
}

// What the writers of a session write is paid for by its token, whoever published it.
func TestOwnWritersArePaidFor(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		c := r.connectWith(allRights{}, 0, "mine")
		c.ok("SUB:theirs:a")
		p := r.connect("p")
		owes := func() bool { return r.hub.debt(r.hub.cpuAccountOf([]byte("mine")), r.hub.now()) > 0 }
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		for i := 0; i < 1000*processors() && !owes(); i++ {
			p.publish("theirs", "a", "x")
			c.take()
		}
		equal(t, "the token of who receives is in debt", owes(), true)
	})
}

// What a fan-out writes itself is paid for in full, also where it pauses after each write.
func TestPausesKeepNothingUnpaid(t *testing.T) {
	const each = 10 * time.Microsecond
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		for i := range 4 * chunk {
			c := r.connectTry(fmt.Sprint(i))
			c.ask("SUB:other:a")
			c.takes = each
		}
		r.company()
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		a := r.debtor("other", 100*time.Millisecond)
		p, _ := r.begin(payers{tenant: a}, nil)
		before := a.paidUntil.Load()
		pub := r.hub.publication([]byte("other"), []byte("a"), nil, nil, p)
		r.hub.fanOut(r.hub.tenant([]byte("other")), &pub)
		pub.pace.end()
		price := int64(4*chunk*each) * 100 / int64(r.hub.limits.Load().TenantShare*processors())
		if paid := a.paidUntil.Load() - before; paid < price {
			t.Errorf("%v are paid for, of %v", time.Duration(paid), time.Duration(price))
		}
	})
}
