package pubsub

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// debtor brings a tenant into debt, as if its messages had used so much.
func (r *rig) debtor(tenant string, debt time.Duration) *cpuAccount {
	l := r.hub.cpuAccountOf([]byte(tenant))
	percent := r.hub.limits.Load().TenantShare * processors()
	r.hub.noteWork(l, r.hub.now())
	r.hub.chargeAt(l, r.hub.now(), (debt+loadCredit)/100*time.Duration(percent))
	return l
}

// company has a message of another tenant come.
func (r *rig) company() {
	time.Sleep(time.Millisecond) // the clock begins with the hub
	r.hub.noteWork(r.hub.cpuAccountOf([]byte("one")), r.hub.now())
	r.hub.noteWork(r.hub.cpuAccountOf([]byte("other")), r.hub.now())
}

// atWork has another tenant, or issuer, be at work until stop is called.
func (r *rig) atWork(l *cpuAccount) (stop func()) {
	stopped := make(chan struct{})
	r.hub.noteWork(l, r.hub.now())
	r.hub.Go(func() {
		for sleep(atWorkTime/4, stopped) {
			r.hub.noteWork(l, r.hub.now())
		}
	})
	return func() { close(stopped) }
}

// begin begins with a message now.
func (r *rig) begin(by payers, canceled <-chan struct{}) (pace, bool) {
	return r.hub.beginPaced(by, 0, r.hub.now(), r.hub.now(), canceled)
}

func (r *rig) took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// A tenant that is over its share waits if it has company, and only then.
func TestShareOfTenant(t *testing.T) {
	const debt = 40 * time.Millisecond
	for _, c := range []struct {
		name    string
		company bool
		quiet   time.Duration // since then
		share   int
		want    time.Duration
	}{
		{"alone", false, 0, 50, 0},
		{"with company at work", true, 0, 50, debt},
		{"a moment after company", true, activeTime / 4, 50, debt - loan},
		{"after company", true, activeTime + time.Millisecond, 50, 0},
		{"without a limit", true, 0, 0, 0},
		{"with all of it", true, 0, 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { l.TenantShare = c.share }), func(r *rig) {
				if c.company {
					r.company()
				}
				if c.company && c.quiet == 0 {
					defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
				}
				time.Sleep(c.quiet)
				a := r.debtor("other", debt)
				took := r.took(func() {
					p, ok := r.begin(payers{tenant: a}, nil)
					if !ok {
						t.Error("the message is refused")
					}
					p.end()
				})
				if took < c.want || took > c.want+time.Microsecond {
					t.Errorf("a message waited for %v, want %v", took, c.want)
				}
				equal(t, "time that another tenant's message waited", r.took(func() { r.connect("b").publish("one", "x", "1") }), 0)
			})
		})
	}
}

// Who is over its share waits no longer than whoever it waits for is at work.
func TestWaitsEndWithWork(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.company()
		stop := r.atWork(r.hub.cpuAccountOf([]byte("one")))
		time.AfterFunc(5*time.Millisecond, stop)
		a := r.debtor("other", loan)
		if took := r.took(func() { r.begin(payers{tenant: a}, nil) }); took < 5*time.Millisecond || took > maxPause {
			t.Errorf("a message waited for %v", took)
		}
	})
}

// Messages that come now and then take little from somebody who uses twice its share.
func TestRareMessagesTakeLittle(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = max(1, 50/processors()) }), func(r *rig) {
		r.company()
		const often, long = time.Second, 20 * time.Second
		used := time.Duration(0)
		for begun, next := time.Now(), often; time.Since(begun) < long; {
			if time.Since(begun) >= next {
				next += often
				r.hub.noteWork(r.hub.cpuAccountOf([]byte("one")), r.hub.now())
			}
			p, _ := r.begin(payers{tenant: r.hub.cpuAccountOf([]byte("other"))}, nil)
			time.Sleep(time.Millisecond)
			used += time.Millisecond
			p.end()
		}
		if least := long * 85 / 100; used < least {
			t.Errorf("it used %v of %v, want %v", used, long, least)
		}
	})
}

// Who has messages now and then finds a processor; all others are for whoever wants them.
func TestRareMessagesLeaveProcessors(t *testing.T) {
	const all, often, long = 8, time.Second, 10 * time.Second
	old := processors
	processors = func() int { return all }
	defer func() { processors = old }()
	withIssuers(t, true, with(func(l *Limits) { l.TenantShare = 99 }), func(r *rig) {
		a, b := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
		r.issuersCome(a.token, b.token)
		var mu sync.Mutex
		used, now, most := time.Duration(0), 0, 0
		work := func(d int) {
			mu.Lock()
			defer mu.Unlock()
			now += d
			most = max(most, now)
			used += time.Millisecond / 2
		}
		begun := time.Now()
		var workers sync.WaitGroup
		for i := range all {
			workers.Go(func() {
				for time.Since(begun) < long {
					p, _ := r.begin(a.payersFor(fmt.Sprint("a.", i)), nil)
					work(1)
					time.Sleep(time.Millisecond)
					work(-1)
					p.end()
				}
			})
		}
		for time.Since(begun) < long {
			time.Sleep(often)
			r.hub.noteWork(r.hub.issuerCPU(b.token), r.hub.now())
		}
		workers.Wait()
		equal(t, "messages at a time", most, all-1)
		if least := long * (all - 1) * 9 / 10; used < least {
			t.Errorf("it used %v of %v, want %v", used, long*all, least)
		}
	})
}

// Timers are late: what that gives to somebody who waited is its own, up to 1 ms, and for less nobody waits.
func TestLateTimers(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		r.company()
		a := r.debtor("other", minDebt-time.Microsecond)
		equal(t, "time that is waited for a debt that no timer can wait for", r.took(func() {
			p, _ := r.begin(payers{tenant: a}, nil)
			p.end()
		}), 0)
		time.Sleep(2*minDebt - 10*time.Microsecond) // as of a timer that is 1 ms late
		paid := a.paidUntil.Load()
		p := pace{hub: r.hub, payers: payers{tenant: a}, chargedUntil: r.hub.now()}
		p.sleep(a, 0)
		equal(t, "what it has paid for", a.paidUntil.Load(), paid)
	})
}

// One dear message is not held against a tenant for long; nor is what goes on without waiting.
func TestDebtIsBounded(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		a := r.debtor("other", time.Hour)
		done := make(chan struct{})
		defer close(done)
		r.hub.Go(func() {
			for sleep(time.Millisecond, done) {
				r.debtor("other", time.Hour)
			}
		})
		if took := r.took(func() { r.begin(payers{tenant: a}, nil) }); took > maxLoadDebt+time.Millisecond {
			t.Errorf("a message waited for %v", took)
		}
	})
}

// Who is kept from a processor in the middle of a message does not pay for that, or little.
func TestStallsAreNotPaidFor(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		r.company()
		p, _ := r.begin(payers{tenant: r.hub.cpuAccountOf([]byte("other"))}, nil)
		time.Sleep(time.Second)
		p.end()
		if paid := r.paid("other"); paid > lookLimit {
			t.Errorf("%v are charged", paid)
		}
	})
}

// Nor does who waits in the broker, which charges apart for a subscriber here.
func TestWaitsInBrokerAreNotPaidFor(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		r.company()
		p := r.connect("p")
		r.broker.takes = time.Second
		p.publishAs(wire.OneRandom, "other", "x", "1")
		if paid := r.paid("other"); paid <= 0 || paid > 10*readCost {
			t.Errorf("%v are charged", paid)
		}
	})
}

// What was used for a message is paid for also when its publisher leaves before its turn.
func TestCanceledIsPaidFor(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		r.company()
		a, canceled := r.debtor("a", 10*time.Millisecond), make(chan struct{})
		close(canceled)
		before := a.paidUntil.Load()
		_, ok := r.hub.beginPaced(payers{tenant: a}, lookLimit, r.hub.now(), r.hub.now(), canceled)
		if ok || a.paidUntil.Load() == before {
			t.Error("it is handled, or nothing is charged")
		}
	})
}

// To find out which of many patterns match for many subscribers is paid for while it goes on, as more
// than what work counts is not paid for at once.
func TestGroupingIsPaidFor(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		for i := range lookEvery {
			r.connect(fmt.Sprint(i)).send("SUB:other:a", "SUB:other:*")
		}
		other := r.hub.tenant([]byte("other"))
		p := r.hub.beginPacedAccepted(r.hub.tenantPayers(other, []byte("other")), false, false)
		m := matchers.Get().(*matcher)
		defer m.release()
		m.match(other, []byte("a"))
		time.Sleep(atWorkTime)
		m.group(&p)
		if p.chargedUntil != r.hub.now() {
			t.Error("nothing is charged")
		}
	})
}

// Those that wait go on one by one, as many at a time as have processors in the
// share; and who leaves does not wait.
func TestTurns(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.company()
		a := r.debtor("other", time.Millisecond)
		turns := make([]pace, r.hub.turnsOf(&r.hub.loads.tenants))
		for i := range turns {
			turns[i], _ = r.begin(payers{tenant: a}, nil)
			r.debtor("other", time.Millisecond)
		}
		broken, results := make(chan struct{}), make(chan bool)
		wait := func() {
			_, ok := r.begin(payers{tenant: a}, broken)
			results <- ok
		}
		go wait()
		go wait()
		time.Sleep(time.Second)
		r.company()
		synctest.Wait()
		select {
		case <-results:
			t.Error("more go on than have their turn")
		default:
		}
		turns[0].end()
		if !<-results {
			t.Error("the next one does not go on")
		}
		close(broken)
		if <-results {
			t.Error("who has left goes on")
		}
	})
}

// Who has paid for all by now does not wait, though it was charged for something after work on its message began; and
// the message counts from its turn on.
func TestDebtsAreThoseOfNow(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		r.company()
		a := r.hub.cpuAccountOf([]byte("other"))
		since := r.hub.now()
		time.Sleep(2 * minDebt)
		now := r.hub.now()
		a.paidUntil.Store(int64(now))
		p, _ := r.hub.beginPaced(payers{tenant: a}, 0, since, now, nil)
		equal(t, "it is over its share", p.paced, false)
		pub := r.hub.publication([]byte("other"), []byte("x"), nil, nil, p)
		equal(t, "it was accepted", pub.at, now)
		equal(t, "its tenant was at work", a.group.latestAt.Load(), int64(now))
		equal(t, "it is charged", p.chargedUntil, since)
		p.end()
	})
}

// A burst of a tenant that has used nothing yet takes no more turns either, if
// there is company, and writes by itself when all of them are taken.
func TestTurnsOfBurst(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		a := r.hub.cpuAccountOf([]byte("other"))
		n := r.hub.turnsOf(&r.hub.loads.tenants)
		begin := func() pace {
			p, ok := r.begin(payers{tenant: a}, nil)
			if !ok {
				t.Error("the message is refused")
			}
			return p
		}
		for range n + 1 { // none waits without company
			if p := begin(); p.writesInline() || p.maxWriters() != processors() {
				t.Errorf("alone: inline %v, %d writers", p.writesInline(), p.maxWriters())
			}
		}
		r.company()
		var turns []pace
		for range n {
			turns = append(turns, begin())
		}
		if p := turns[n-1]; !p.writesInline() || p.maxWriters() != n {
			t.Errorf("inline %v, %d writers, want %d", p.writesInline(), p.maxWriters(), n)
		}
		began := make(chan pace)
		go func() { began <- begin() }()
		synctest.Wait()
		select {
		case <-began:
			t.Error("more begin than have their turn")
		default:
		}
		turns[0].end()
		p := <-began
		p.end()
	})
}

// A share that a reload changes counts from then on.
func TestShareChanges(t *testing.T) {
	limits := fastLimits()
	limits.TenantShare = 50
	inBubble(t, limits, func(r *rig) {
		s := r.connect("a")
		s.publish("other", "x", "1")
		r.company()
		a := r.debtor("other", time.Second)
		more := *r.hub.limits.Load()
		more.TenantShare = 99
		r.hub.SetLimits(more)
		equal(t, "time that a message waited", r.took(func() { s.publish("other", "x", "2") }), 0)
		if b := r.hub.cpuAccountOf([]byte("other")); b == a || b.most != r.hub.turnsOf(&r.hub.loads.tenants) {
			t.Errorf("%d turns, want %d", b.most, r.hub.turnsOf(&r.hub.loads.tenants))
		}
	})
}

// A fan-out that turns out to be dear pauses in between, and everybody gets it, in
// order.
func TestPacedFanOut(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		subscribers := make([]*tryClient, 3*chunk+1)
		for i := range subscribers {
			subscribers[i] = r.connectTry(fmt.Sprint(i))
			subscribers[i].send("SUB:other:a", "SUB:other:a*", "SUB:other:b")
			subscribers[i].take()
		}
		r.company()
		p := r.connect("p")
		for _, channel := range []string{"a", "b"} { // with sets of patterns, and with one
			for i := range 3 {
				r.company()
				r.debtor("other", time.Duration(1+i)*time.Millisecond)
				p.publish("other", channel, fmt.Sprint(i))
				// The publisher has written everything: nothing else runs for it.
				if last := subscribers[len(subscribers)-1]; len(last.got) == 0 || last.got[len(last.got)-1][:9] != fmt.Sprintf("other/%s=%d", channel, i) {
					t.Errorf("%q was written when the publish was through", last.got)
				}
			}
		}
		for _, s := range subscribers {
			s.expect("other/a=0 [a a*]", "other/a=1 [a a*]", "other/a=2 [a a*]", "other/b=0 [b]", "other/b=1 [b]", "other/b=2 [b]")
		}
		if r.hub.loads.paused.Load() == 0 {
			t.Error("nothing paused")
		}
	})
}

// What a fan-out has queued is on its way before it pauses, also the first time.
func TestPauseKeepsNothingBack(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		first := r.connectTry("first")
		first.ask("SUB:other:a")
		for i := range 3 * chunk {
			r.connectTry(fmt.Sprint(i)).send("SUB:other:a")
		}
		synctest.Wait()
		p := publication{tenant: []byte("other"), channel: []byte("a"), limits: r.hub.limits.Load(), subsVersion: r.hub.subsVersion.Load()}
		pace, ok := r.begin(payers{tenant: r.hub.cpuAccountOf(p.tenant)}, nil) // without company
		if !ok {
			t.Fatal("it does not begin")
		}
		p.pace = pace
		p.matcher = matchers.Get().(*matcher)
		p.matcher.match(r.hub.tenant(p.tenant), p.channel)
		first.deliver(&p, nil, &p.matcher.single, nil)
		if p.toFlush == nil {
			t.Fatal("nothing waits to be written")
		}
		r.company()
		r.debtor("other", 2*minDebt)
		time.Sleep(paceEvery)
		p.maybePause(chunk - 1)
		if p.toFlush != nil || r.hub.loads.paused.Load() == 0 {
			t.Errorf("it waits: %v, after a pause of %d", p.toFlush != nil, r.hub.loads.paused.Load())
		}
		p.pace.end()
	})
}

// Loads of tenants that are out of use are forgotten, and those who still hold one
// notice.
func TestManyLoads(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.publish("kept", "x", "1")
		old := c.lastAccount
		for i := range 10 * minSweep {
			r.hub.cpuAccountOf(fmt.Append(nil, i))
		}
		if n := len(r.hub.loads.tenants.byName); n < 10*minSweep {
			t.Errorf("%d loads are left of those in use", n)
		}
		time.Sleep(2 * unusedKept)
		for i := range 20 * minSweep {
			r.hub.cpuAccountOf(fmt.Append(nil, "new", i))
		}
		if n := len(r.hub.loads.tenants.byName); n > 21*minSweep {
			t.Errorf("%d loads are kept", n)
		}
		c.publish("kept", "x", "2")
		if c.lastAccount == old || !c.lastAccount.is([]byte("kept")) {
			t.Error("a session uses a load that is out of use")
		}
	})
}
