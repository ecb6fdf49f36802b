package pubsub

import (
	"fmt"
	"strings"
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
			c.held = &heldMessage{turn: &turn{granted: granted}, data: []byte("PING"), handle: (*Session).handleLine}
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

// packetClient is a client where other goroutines write what TryWrite takes.
type packetClient struct{ *tryClient }

func (packetClient) MakesPackets() {}

// What TryWrite leaves to others is paid for likewise, by its bytes: packets, and what does not fit a socket.
func TestLeftWritesArePaidFor(t *testing.T) {
	const size = 32 << 10
	for name, transport := range map[string]func(*client) Transport{
		"packets":       func(c *client) Transport { return packetClient{&tryClient{client: c}} },
		"a full socket": func(c *client) Transport { return &tryClient{client: c, full: 1 << 10} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
				c, err := r.attach(Identity{TokenID: "a", Tenants: []string{"mine"}}, Client{Transport: "test"}, transport)
				must(r, err)
				c.ok("SUB:theirs:a")
				p := r.connect("p")
				r.company()
				p.publish("theirs", "a", strings.Repeat("x", size))
				c.take()
				if paid := r.paid("mine"); paid < 2*size*time.Nanosecond {
					t.Errorf("%v are charged", paid)
				}
			})
		})
	}
}

// fanOutTo has a tenant that was in debt publish to n subscribers, and returns what it is charged, in processor
// time, and how long it paused.
func (r *rig) fanOutTo(n int, payload string, connect func(id string) *client) (charged, paused time.Duration) {
	for i := range n {
		connect(fmt.Sprint(i)).ok("SUB:other:a")
	}
	r.company()
	defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
	a := r.debtor("other", 10*time.Millisecond)
	p, _ := r.begin(payers{tenant: a}, nil)
	before := a.paidUntil.Load()
	pub := r.hub.publication([]byte("other"), []byte("a"), []byte(payload), nil, p)
	paused = r.took(func() { r.hub.fanOut(r.hub.tenant([]byte("other")), &pub) })
	pub.pace.end()
	return time.Duration(a.paidUntil.Load()-before) * time.Duration(r.hub.limits.Load().TenantShare*processors()) / 100, paused
}

// What a fan-out writes itself is paid for in full, however long its writes take, also where it pauses after each
// write, but not what one of them takes without a processor.
func TestWritesArePaidFor(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		payload string
		takes   func(i string) time.Duration
		most    time.Duration
	}{
		"small": {4 * chunk, "x", func(string) time.Duration { return 10 * time.Microsecond }, 0},
		"large": {chunk, strings.Repeat("x", 64<<10), func(string) time.Duration { return 75 * time.Microsecond }, 0},
		"one stalls": {chunk, "x", func(i string) time.Duration {
			if i == "3" {
				return 20 * time.Millisecond
			}
			return 0
		}, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
				all := time.Duration(0)
				charged, _ := r.fanOutTo(c.n, c.payload, func(id string) *client {
					s := r.connectTry(id)
					s.takes = c.takes(id)
					all += s.takes
					return s.client
				})
				if c.most > 0 && charged > c.most || c.most == 0 && charged < all {
					t.Errorf("%v are charged, of %v", charged, all)
				}
			})
		})
	}
}
