package pubsub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// testIssuers are issuers whose tenants begin with their names, which end in a dot.
type testIssuers struct{ several bool }

func (i testIssuers) SeveralIssuers() bool { return i.several }
func (testIssuers) Generation() uint64     { return 1 }
func (testIssuers) OwnerOf(tenant string) string {
	if i := strings.IndexByte(tenant, '.'); i > 0 {
		return tenant[:i+1]
	}
	return ""
}

// issuersOf are several issuers; the function returns a tenant's issuer by its name.
type issuersOf func(tenant string) string

func (issuersOf) SeveralIssuers() bool           { return true }
func (f issuersOf) OwnerOf(tenant string) string { return f(tenant) }
func (issuersOf) Generation() uint64             { return 2 }

// withIssuers runs a test on a hub with several issuers, or with one.
func withIssuers(t *testing.T, several bool, limits Limits, test func(*rig)) {
	t.Helper()
	inBubble(t, limits, func(r *rig) {
		r.hub.SetIssuers(testIssuers{several})
		test(r)
	})
}

// issued connects with a token of an issuer.
func (r *rig) issued(issuer, token string, tenants ...string) (*client, error) {
	r.Helper()
	return r.attach(Identity{TokenID: token, Issuer: issuer, Tenants: tenants, RightBytes: 10}, Client{Transport: "test"}, func(c *client) Transport { return c })
}

func (r *rig) connectIssued(issuer, token string, tenants ...string) *client {
	r.Helper()
	c, err := r.issued(issuer, token, tenants...)
	must(r, err)
	return c
}

// An issuer with as many tokens and tenants as connections takes its share of the connections, or of
// the memory for rights, and leaves the rest; alone it takes all.
func TestIssuerSharesOfConnections(t *testing.T) {
	for name, c := range map[string]struct {
		several bool
		change  func(*Limits)
		want    int
		err     error
	}{
		"one of several":  {true, func(*Limits) {}, 5, ErrIssuerFull},
		"the only one":    {false, func(*Limits) {}, 10, ErrFull},
		"a smaller share": {true, func(l *Limits) { l.IssuerShare = 30 }, 3, ErrIssuerFull},
		"without shares":  {true, func(l *Limits) { l.IssuerShare = 100 }, 10, ErrFull},
		"rights":          {true, func(l *Limits) { l.MaxConnections, l.RightMemory = 0, 100 }, 5, ErrRightsFull},
		"all rights":      {false, func(l *Limits) { l.MaxConnections, l.RightMemory = 0, 100 }, 10, ErrRightsFull},
	} {
		t.Run(name, func(t *testing.T) {
			limits := with(func(l *Limits) { l.MaxConnections = 10 })
			c.change(&limits)
			withIssuers(t, c.several, limits, func(r *rig) {
				fill := func(issuer string) (n int, err error) {
					for ; err == nil; n++ {
						_, err = r.issued(issuer, fmt.Sprint(issuer, n), fmt.Sprint(issuer, n))
					}
					return n - 1, err
				}
				if n, err := fill("a."); n != c.want || !errors.Is(err, c.err) {
					t.Errorf("%d connections, then %v; want %d and %v", n, err, c.want, c.err)
				}
				if n, _ := fill("b."); n != 10-c.want && limits.IssuerShare == 50 {
					t.Errorf("another one has %d", n)
				}
			})
		})
	}
}

// A token whose master token has got another prefix counts for whom it counted until now.
func TestIssuerOfKnownToken(t *testing.T) {
	withIssuers(t, true, with(func(l *Limits) { l.MaxConnections = 10 }), func(r *rig) {
		for i := range 5 {
			r.connectIssued("a.", fmt.Sprint(i))
		}
		if _, err := r.issued("b.", "0"); !errors.Is(err, ErrIssuerFull) {
			t.Errorf("one more: %v", err)
		}
		r.connectIssued("b.", "new")
		list := r.hub.Stats()
		equal(t, "issuers that operators see", list[0].Issuer+" "+list[5].Issuer, "a. b.")
	})
}

// The clients of an issuer that do not read fill its share of the queues, whatever tokens and tenants
// they have.
func TestIssuerSharesOfQueues(t *testing.T) {
	for _, several := range []bool{true, false} {
		const memory, payload = 1 << 20, 8 << 10
		withIssuers(t, several, with(func(l *Limits) { l.SendQueue, l.QueueMemory = memory, memory }), func(r *rig) {
			feeder := r.connectIssued("feeder.", "feeder")
			var releases []func()
			for i := range 4 {
				tenant := fmt.Sprint("a.", i)
				c := r.connectIssued("a.", tenant, tenant)
				c.ask("SUB:" + tenant + ":x")
				releases = append(releases, c.block())
				c.publish(tenant, "x", "the one that its writer hangs at")
				synctest.Wait()
			}
			for range 100 {
				for i := range releases {
					feeder.publish(fmt.Sprint("a.", i), "x", strings.Repeat("x", payload))
				}
			}
			if counted := r.hub.queuedBytes.Load(); (counted > memory/2) == several || counted < memory/4 {
				t.Errorf("several %v: the clients of one issuer hold %d of %d bytes", several, counted, memory)
			}
			for _, release := range releases {
				release()
			}
			time.Sleep(time.Minute)
			equal(t, "bytes counted of queues that are empty", r.hub.queuedBytes.Load(), 0)
		})
	}
}

// An issuer subscribes to its share of the patterns with any number of tokens, and as a guest takes
// its share of the shapes of a tenant.
func TestIssuerSharesOfPatterns(t *testing.T) {
	withIssuers(t, true, with(func(l *Limits) { l.MaxPatterns = 8 }), func(r *rig) {
		for i := range 4 {
			r.connectIssued("a.", fmt.Sprint(i)).ok(fmt.Sprintf("SUB:a.%d:x", i))
		}
		c := r.connectIssued("a.", "more")
		c.answer("SUB:a.4:x", "ERR:too_many_patterns:SUB:a.4:x")
		r.connectIssued("b.", "other").ok("SUB:b.1:x", "SUB:b.2:x")
		r.hub.SetIssuers(testIssuers{false})
		c.ok("SUB:a.4:x")
	})
	withIssuers(t, true, with(func(l *Limits) { l.MaxPatternShapesPerTenant = 4 }), func(r *rig) {
		for _, issuer := range []string{"a.", "b."} {
			guest := r.connectIssued(issuer, "guest "+issuer)
			own := r.connectIssued("b.", "of "+issuer)
			tenant := "b." + issuer[:1]
			guest.ok("SUB:"+tenant+":a*", "SUB:"+tenant+":ab*")
			if issuer == "a." {
				guest.answer("SUB:"+tenant+":abc*", "ERR:too_many_patterns:SUB:"+tenant+":abc*")
				guest.ok("SUB:"+tenant+":b*", "SUB:"+tenant+":abc")
			}
			own.ok("SUB:"+tenant+":abcd*", "SUB:"+tenant+":abcde*")
			own.answer("SUB:"+tenant+":abcdef*", "ERR:too_many_patterns:SUB:"+tenant+":abcdef*")
		}
	})
}

// Two tokens that want all of a limit leave room for a third; and two issuers do, with any number of
// tokens.
func TestTakeShareLeavesRoom(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		take := func(issuer, token string) bool {
			if r.hub.tokens[token] == nil {
				r.connectIssued(issuer, token)
			}
			return r.hub.takeShare(r.hub.tokens[token], dividedAsks, 1, 90)
		}
		have := func(issuer string) int64 { return r.hub.issuerAccounts[issuer].amounts[dividedAsks].Load() }
		for i := range 200 {
			take("a.", fmt.Sprint("a", i%20))
			take("b.", fmt.Sprint("b", i%20))
		}
		if a, b := have("a."), have("b."); a != 30 || b != 30 || !take("c.", "c") {
			t.Errorf("two issuers have %d and %d", a, b)
		}
		r.hub.SetIssuers(testIssuers{false})
		for i := range 20 {
			take("a.", fmt.Sprint("new", i))
		}
		if a := have("a."); a <= 30 {
			t.Errorf("the only issuer has %d", a)
		}
		for _, token := range r.hub.tokens {
			r.hub.takeShare(token, dividedAsks, -token.own.amounts[dividedAsks].Load(), 90)
		}
		for range 100 {
			take("a.", "a1")
		}
		equal(t, "what one token has alone", have("a."), 45)
	})
}

// issuersCome has a message of each of these come.
func (r *rig) issuersCome(tokens ...*tokenState) {
	time.Sleep(time.Millisecond)
	for _, t := range tokens {
		r.hub.noteWork(r.hub.issuerCPU(t), r.hub.now())
	}
}

// oneMillisecond is that of all processors.
func oneMillisecond() time.Duration { return time.Duration(processors()) * time.Millisecond }

// attack has an issuer use the processors beyond its share, with a message in each of many tenants, while
// messages of another one come.
func (r *rig) attack() *client {
	r.Helper()
	attacker, victim := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
	victim.ok("SUB:b.1:x")
	time.Sleep(time.Millisecond)
	for i := range 64 {
		attacker.publish(fmt.Sprint("a.", i), "x", "1")
		victim.publish("b.1", "x", "1")
	}
	for i := range 64 {
		r.hub.charge(attacker.payersFor(fmt.Sprint("a.", i)), r.hub.now(), oneMillisecond())
	}
	victim.take()
	equal(r, "time that another issuer's message waited", r.took(func() { victim.publish("b.1", "x", "2") }), 0)
	return attacker
}

// The tenants of an issuer have one share of the processors together, also one that was quiet until now,
// while messages of another issuer come; and what comes from other edges waits like what clients send.
func TestShareOfIssuer(t *testing.T) {
	share := func(percent int) Limits {
		return with(func(l *Limits) { l.TenantShare, l.IssuerShare = 99, percent })
	}
	withIssuers(t, true, share(50), func(r *rig) {
		a := r.attack()
		equal(t, "debt of a tenant", r.hub.debt(r.hub.cpuAccountOf([]byte("a.new")), r.hub.now()), 0)
		if took := r.took(func() { a.publish("a.new", "x", "1") }); took < 10*time.Millisecond {
			t.Errorf("a message in a new tenant waited for %v", took)
		}
	})
	withIssuers(t, true, share(50), func(r *rig) {
		a := r.connectIssued("a.", "subscriber")
		a.ask("SUB:a.far:x")
		r.attack()
		took := r.took(func() { r.hub.Receive(Message{Tenant: []byte("a.far"), Channel: []byte("x"), Payload: []byte("1")}) })
		if took < 10*time.Millisecond {
			t.Errorf("a message from another edge waited for %v", took)
		}
		a.expect("a.far/x=1 [x]")
	})
	for _, several := range []bool{true, false} {
		percent := 100
		if !several {
			percent = 50
		}
		withIssuers(t, several, share(percent), func(r *rig) {
			a := r.attack()
			equal(t, fmt.Sprint("several ", several, ", share ", percent, ": time that a message waited"), r.took(func() { a.publish("a.new", "x", "1") }), 0)
		})
	}
	withIssuers(t, true, share(50), func(r *rig) {
		a := r.attack()
		a.publish("a.new", "x", "1") // after the other's last one
		time.Sleep(rivalTime + time.Millisecond)
		for i := range 64 {
			r.hub.charge(a.payersFor(fmt.Sprint("a.", i)), r.hub.now(), oneMillisecond())
			equal(t, "time that a message of the only issuer waited", r.took(func() { a.publish(fmt.Sprint("a.", i), "x", "1") }), 0)
		}
	})
}

// Whoever connects again and again does so in the pace of its share: 1,000 connections take as long as they cost
// there. Nobody else waits, and who is gone does not.
func TestConnectionsArePaidFor(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		victim := r.connectIssued("b.", "b")
		defer r.atWork(r.hub.issuerCPU(victim.token))()
		const n = 1000
		price := n * connectionCost * 100 / time.Duration(r.hub.limits.Load().IssuerShare*processors())
		took := r.took(func() {
			for i := range n {
				c := r.connectIssued("a.", fmt.Sprint("a", i), fmt.Sprint("a.", i))
				c.PayForConnection(nil)
				c.Detach()
			}
		})
		if took < price-loadCredit-10*time.Millisecond || took > price+10*time.Millisecond {
			t.Errorf("%d connections waited for %v, and cost %v", n, took, price)
		}
		equal(t, "time that the connection of another issuer waited", r.took(func() { victim.PayForConnection(nil) }), 0)
		a := r.connectIssued("a.", "gone", "a.gone")
		r.hub.chargeAt(r.hub.issuerCPU(a.token), r.hub.now(), time.Second)
		gone := make(chan struct{})
		close(gone)
		equal(t, "time that who is gone waited", r.took(func() { a.PayForConnection(gone) }), 0)
	})
}

// Publishers of one issuer take turns, whatever tenants they publish to; a message that waits for its
// tenant's debt has no turn of the issuer's meanwhile.
func TestTurnsOfIssuer(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		a, b := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
		company := func() { r.issuersCome(a.token, b.token) }
		company()
		n := r.hub.turnsOf(&r.hub.loads.issuers)
		var turns []pace
		for i := range n {
			p, _ := r.begin(a.payersFor(fmt.Sprint(i)), nil)
			turns = append(turns, p)
		}
		if p := turns[n-1]; !p.writesInline() || p.maxWriters() != n {
			t.Errorf("inline %v, %d writers, want %d", p.writesInline(), p.maxWriters(), n)
		}
		began := make(chan pace, 1)
		go func() {
			p, _ := r.begin(a.payersFor("next"), nil)
			began <- p
		}()
		synctest.Wait()
		if len(began) > 0 {
			t.Error("more begin than have their turn")
		}
		turns[0].end()
		turns[0] = <-began
		for _, p := range turns {
			p.end()
		}

		company()
		r.company()
		r.debtor("over", 100*time.Millisecond)
		waiting := make(chan bool)
		go func() {
			p, ok := r.begin(a.payersFor("over"), nil)
			p.end()
			waiting <- ok
		}()
		synctest.Wait()
		equal(t, "turns of the issuer while a tenant pays", r.hub.issuerCPU(a.token).turns.taken.Load(), 0)
		<-waiting

		p, _ := r.begin(a.payersFor("over"), nil)
		r.company()
		r.debtor("over", 100*time.Millisecond)
		paused := make(chan struct{})
		go func() { p.pause(); close(paused) }()
		synctest.Wait()
		equal(t, "turns of the issuer while a fan-out pauses for its tenant", p.payers.issuer.turns.taken.Load(), 0)
		<-paused
		equal(t, "turns of the issuer when it goes on", p.payers.issuer.turns.taken.Load(), 1)
		p.end()
		equal(t, "turns left", p.payers.issuer.turns.taken.Load()+p.payers.tenant.turns.taken.Load(), 0)
	})
}

// Publishers of an issuer take turns also when no message of another one has come for a while: the next one
// is to find a processor.
func TestTurnsOfIssuerStay(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		a, b := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
		r.issuersCome(b.token, a.token)
		begin := func() pace {
			p, _ := r.begin(a.payersFor("a.1"), nil)
			return p
		}
		time.Sleep(30 * time.Second)
		p := begin()
		equal(t, "turns", r.hub.issuerCPU(a.token).turns.taken.Load(), 1)
		p.end()
		time.Sleep(issuerRivalTime)
		p = begin()
		equal(t, "turns of who is alone", r.hub.issuerCPU(a.token).turns.taken.Load(), 0)
		p.end()
	})
}

// Who is a guest in a tenant waits for its own issuer, with no turn of the tenant, which pays nothing for it.
func TestGuestsPayThemselves(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		r.company()
		guest := r.attack()
		victim := r.connectIssued("b.", "another")
		published := make(chan struct{})
		go func() {
			guest.publish("b.1", "x", "1")
			close(published)
		}()
		synctest.Wait()
		equal(t, "time that a message of who belongs there waited", r.took(func() { victim.publish("b.1", "x", "2") }), 0)
		<-published
		of, there := r.connectIssued("a.", "of b", "b.1"), r.hub.cpuAccountOf([]byte("b.1"))
		for name, by := range map[string]payers{
			"a message": of.payersFor("b.1"), "a message of the reader": of.cachedPayers([]byte("b.1")), "upkeep": of.tokenPayers(),
		} {
			if by.tenant != nil || by.issuer != r.hub.issuerCPU(of.token) {
				t.Errorf("%s: %+v pay", name, by)
			}
		}
		r.hub.ChargeRight([]string{"b.1"}, "a.", 100*oneMillisecond())
		equal(t, "debt of the tenant", r.hub.debt(there, r.hub.now()), 0)
		r.hub.SetIssuers(testIssuers{false})
		for _, by := range []payers{of.payersFor("b.1"), of.cachedPayers([]byte("b.1")), of.tokenPayers()} {
			equal(t, "who pays where there are no shares of issuers", by.tenant, there)
		}
	})
}

// A session that uses a tenant all the while is a guest there as soon as the tenant's name says so.
func TestSessionsBecomeGuests(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		r.hub.SetIssuers(issuersOf(func(string) string { return "" })) // no master token has the prefix b. yet
		c := r.connectIssued("a.", "a", "b.1")
		for _, owner := range []string{"a.", "b."} {
			c.publish("b.1", "chat.a", "x")
			isGuest := owner != "a."
			equal(t, "owner of what it publishes", c.keptTenant.owner, owner)
			equal(t, "the reader is a guest", c.cachedPayers([]byte("b.1")).tenant == nil, isGuest)
			equal(t, "the token is a guest", c.tokenPayers().tenant == nil, isGuest)
			r.hub.SetIssuers(testIssuers{true})
		}
	})
}

// A guest pays also for handing on what it publishes to a history, and those who belong to the tenant do not wait for
// its debt.
func TestGuestsPayForHandingOn(t *testing.T) {
	limits := with(func(l *Limits) { l.TenantShare, l.IssuerShare = 10, 10 })
	guestOf := func(r *rig) (guest, victim *client) {
		r.hub.SetIssuers(testIssuers{true})
		guest, victim = r.connectIssued("a.", "guest"), r.connectIssued("b.", "v")
		r.issuersCome(guest.token, victim.token)
		return guest, victim
	}
	withHistory(t, limits, func(r *rig) {
		guest, victim := guestOf(r)
		c := r.connectTry("slow")
		c.ask("SUB:b.1:chat.a")
		c.takes = atWorkTime
		paid := func() [2]int64 {
			return [2]int64{r.hub.cpuAccountOf([]byte("b.1")).paidUntil.Load(), r.hub.issuerCPU(victim.token).paidUntil.Load()}
		}
		before, begin := paid(), r.hub.now()
		guest.publish("b.1", "chat.a", "x")
		time.Sleep(2 * atWorkTime) // it is handed on and written
		pays := r.hub.issuerCPU(guest.token).paidUntil.Load() - int64(begin-loadCredit)
		if least := int64(lookLimit) * 100 / int64(10*processors()); pays < least {
			t.Errorf("%d ns are charged to the guest's issuer, want %d", pays, least)
		}
		equal(t, "what the tenant and its owner have paid for", paid(), before)
	})
	withHistory(t, limits, func(r *rig) {
		guest, victim := guestOf(r)
		victim.ok("SUB:b.1:chat.a")
		defer r.atWork(r.hub.issuerCPU(victim.token))()
		guest.readers.Go(func() {
			for i := range 20 {
				guest.publish("b.1", "chat.a", fmt.Sprint("guest ", i))
			}
		})
		for i := range 100 {
			r.hub.chargeAt(r.hub.issuerCPU(guest.token), r.hub.now(), maxLoadDebt)
			time.Sleep(10 * time.Millisecond)
			victim.publish("b.1", "chat.a", fmt.Sprint("mine ", i))
			if got := victim.takeShort(); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, fmt.Sprint("=mine ", i)) }) {
				t.Errorf("message %d waits: %q", i, got)
				break
			}
		}
	})
}

// A guest pays also for a message to one subscriber, which the broker hands back to the edge.
func TestGuestsPayForOneSubscriber(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		guest, victim := r.connectIssued("a.", "guest"), r.connectIssued("b.", "v")
		victim.ok("SUB:b.1:x")
		r.issuersCome(victim.token, guest.token)
		time.Sleep(2 * loadCredit) // whoever is charged something has paid until another time
		accounts := []*cpuAccount{r.hub.cpuAccountOf([]byte("b.1")), r.hub.issuerCPU(victim.token), r.hub.issuerCPU(guest.token)}
		before := accounts[0].paidUntil.Load() + accounts[1].paidUntil.Load()
		guest.publishAs(wire.OneRandom, "b.1", "x", "1")
		victim.expect("b.1/x=1 [x]")
		equal(t, "what the tenant and its owner have paid for", accounts[0].paidUntil.Load()+accounts[1].paidUntil.Load(), before)
		equal(t, "the guest is charged", accounts[2].paidUntil.Load() > int64(r.hub.now()-loadCredit), true)
	})
}

// A tenant belongs to whom its name says, otherwise to the first that uses it, the operator aside.
func TestOwnerOfTenant(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.hub.SetIssuers(testIssuers{true})
		for _, c := range []struct {
			tenant string
			users  []string
			want   string
		}{
			{"b.1", []string{"a.", "b."}, "b."}, {"plain", []string{"x", "y"}, "x"}, {"plain", []string{"", "y", "x"}, "y"}, {"plain", []string{""}, ""},
		} {
			var o owner
			for _, user := range c.users {
				o.use(r.hub, c.tenant, user)
			}
			equal(t, fmt.Sprint(c.tenant, " of ", c.users), o.of.Load().name, c.want)
		}
		var o owner
		r.hub.SetIssuers(issuersOf(func(string) string { return "" })) // no master token has the prefix b. yet
		o.use(r.hub, "b.1", "a.")
		equal(t, "first user of a tenant", o.of.Load().name, "a.")
		equal(t, "its account", o.cpuAccount(r.hub).name, "a.")
		r.hub.SetIssuers(testIssuers{true})
		o.use(r.hub, "b.1", "a.")
		equal(t, "owner when its prefix is somebody's", o.of.Load().name, "b.")
		equal(t, "its account", o.cpuAccount(r.hub).name, "b.")
		if (&owner{}).cpuAccount(r.hub) != nil {
			t.Error("somebody pays for a tenant of nobody")
		}
	})
}

// An issuer near its share has as many pages read at a time as it has processors, whatever tenants and tokens it
// has, also when it has just paid what it owed.
func TestReplaysNearShare(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		c.hub.SetIssuers(testIssuers{true})
		attacker, victim := c.connectIssued("attacker.", "a"), c.connectIssued("victim.", "v")
		defer c.atWork(c.hub.issuerCPU(victim.token))()
		owe := func(debt time.Duration) {
			time.Sleep(time.Millisecond)
			c.hub.chargeAt(c.hub.issuerCPU(attacker.token), c.hub.now(), (debt+loadCredit)/2*time.Duration(processors()))
		}
		tenants := []string{"a", "b", "c"}
		var clients []*client
		resume := func(n int) {
			for i := range n {
				s := c.connectIssued("attacker.", fmt.Sprint(len(clients)), tenants...)
				s.send("RSUB:" + tenants[i%len(tenants)] + ":chat.a:last")
				clients = append(clients, s)
			}
			synctest.Wait()
		}
		most := c.hub.turnsOf(&c.hub.loads.issuers)
		check := func() {
			c.Helper()
			synctest.Wait()
			c.store.mu.Lock()
			defer c.store.mu.Unlock()
			n := 0
			for _, under := range c.store.under {
				n += under
			}
			if n > most {
				t.Errorf("%d pages are under way, of %d", n, most)
			}
		}
		owe(time.Millisecond)
		resume(maxReplays)
		check()
		finish := func() {
			for range maxReplays {
				c.store.release <- struct{}{} // a page that is under way, or begins when enough is paid
				owe(time.Millisecond)         // as if it had cost that
				check()
			}
		}
		finish()
		owe(2 * loan)
		resume(maxReplays)
		finish()
		close(c.store.release)
		synctest.Wait()
		c.caughtUp(clients, 1)
	})
}

// When a page is done, as many of those that wait go on as there is room for, however many they are.
func TestReleasesWhatHasRoom(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		of := &tokenReplays{running: maxReplaysOfOne - 1}
		for range 1000 {
			of.held = append(of.held, &replayQueue{tenant: &tenantReplays{}})
		}
		r.hub.replays.release(of, maxReplaysOfOne)
		equal(t, "waiting", len(of.held), 999)
		r.hub.replays.ready = nil
	})
}

// Hooks hear whose token a member has, whomever the tenant belongs to.
func TestIssuersOfMembers(t *testing.T) {
	withIssuers(t, true, fastLimits(), func(r *rig) {
		h := new(issuerHook)
		r.hub.SetHooks([]NamedHook{{"members", h}})
		r.setPresence("room.#")
		for i, several := range []bool{true, false} {
			r.hub.SetIssuers(testIssuers{several})
			id := Identity{TokenID: fmt.Sprint(i), Issuer: "a.", Subject: "ann"}
			c, err := r.attach(id, Client{Transport: "test"}, func(c *client) Transport { return c })
			must(t, err)
			c.ok("JOIN:b.1:room.a", "LEAVE:b.1:room.a")
		}
		equal(t, "what hooks were told", fmt.Sprintf("%q", h.told), `["a." "a." "" ""]`)
	})
}

// issuerHook notes whose tokens members have.
type issuerHook struct{ told []string }

func (h *issuerHook) Joined(m hook.Member) { h.told = append(h.told, m.Issuer) }
func (h *issuerHook) Left(m hook.Member)   { h.told = append(h.told, m.Issuer) }

// Pages of histories that one issuer reads take its share of those under way.
func TestIssuerSharesOfReplays(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		c.hub.SetIssuers(testIssuers{true})
		tenants := []string{"a", "b", "c"}
		for i := range 2 * maxReplays {
			c.connectIssued("attacker.", fmt.Sprint(i), tenants...).send("RSUB:" + tenants[i%len(tenants)] + ":chat.a:last")
		}
		synctest.Wait()
		c.store.mu.Lock()
		n := 0
		for _, under := range c.store.under {
			n += under
		}
		c.store.mu.Unlock()
		equal(t, "pages under way", n, maxReplays/2)
		close(c.store.release)
		synctest.Wait()
		c.hub.replays.mu.Lock()
		defer c.hub.replays.mu.Unlock()
		if g := &c.hub.replays; g.running != 0 || len(g.tenants) != 0 {
			t.Errorf("%d pages are under way, and %d tenants wait", g.running, len(g.tenants))
		}
	})
}
