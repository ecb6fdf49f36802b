package pubsub

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// load is what the messages of a tenant cost this edge, in processor time: from
// accepting a message, or its coming from another edge, to the writes that the
// same goroutine makes. It is measured, so that whatever makes a message dear,
// its subscribers, their patterns or its size, counts as what it is.
//
// A tenant may use its share (Limits.TenantShare) of the processors while messages
// of others come, too. Its publishers take turns, as many at a time as have
// processors in that share: a burst of many connections would else have all
// processors at once, and who comes then waits for its end. Who is over the share
// is paced: each publisher waits until its tenant's debt is paid, and long fan-outs
// wait in between. What waits is what its clients send next, so nothing is lost,
// and the processors beside the share are there for all others. A tenant alone
// pays nothing.
type load struct {
	name      string
	removed   atomic.Bool   // taken out of the hub
	paidUntil atomic.Int64  // when its share has paid for all that it used, on the hub's clock
	turns     chan struct{} // has room for those whose turn it is
}

const (
	// loadCredit is what a tenant that was quiet may use at once: little, since
	// for that time others have to wait.
	loadCredit = 2 * time.Millisecond
	// pacedCredit is the same for one that has just been made to wait.
	pacedCredit = 250 * time.Microsecond
	// maxLoadDebt bounds a pause: one very dear message is not held against a
	// tenant for longer.
	maxLoadDebt = 250 * time.Millisecond
	// rivalTime is how long a message of another tenant counts as company.
	rivalTime = time.Second
	// paceEvery is how long a paced tenant works without a pause.
	paceEvery = 100 * time.Microsecond
	// maxPause is how long a fan-out pauses before it goes on.
	maxPause = 10 * time.Millisecond
)

// loads holds the loads of the tenants in use.
type loads struct {
	mu       sync.Mutex
	byTenant map[string]*load
	sweepAt  int                  // at so many those out of use are looked for
	latest   atomic.Pointer[load] // whose message came last
	rivalAt  atomic.Int64         // when it was another's before that, on the hub's clock
	paused   atomic.Int64         // the sum of all pauses, ns
}

// loadOf returns the load of a tenant.
func (h *Hub) loadOf(tenant []byte) *load {
	g := &h.loads
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byTenant[string(tenant)]
	if l != nil {
		return l
	}
	if g.byTenant == nil {
		g.byTenant, g.sweepAt = map[string]*load{}, minSweep
	}
	if len(g.byTenant) >= g.sweepAt {
		old := int64(h.now() - unusedKept)
		maps.DeleteFunc(g.byTenant, func(_ string, l *load) bool {
			unused := l.paidUntil.Load() < old
			if unused {
				l.removed.Store(true)
			}
			return unused
		})
		g.sweepAt = max(minSweep, 2*len(g.byTenant))
	}
	l = &load{name: string(tenant), turns: make(chan struct{}, h.turnsPerTenant())}
	l.paidUntil.Store(int64(h.now() - loadCredit))
	g.byTenant[l.name] = l
	return l
}

// resetLoads has every tenant begin anew, with the turns of a new share.
func (h *Hub) resetLoads() {
	g := &h.loads
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.byTenant {
		l.removed.Store(true)
	}
	clear(g.byTenant)
}

// is reports whether l is the load of this tenant.
func (l *load) is(tenant []byte) bool {
	return l != nil && l.name == string(tenant) && !l.removed.Load()
}

// turnsPerTenant is how many processors a share has, at least one.
func (h *Hub) turnsPerTenant() int { return max(1, processors()*h.limits.Load().TenantShare/100) }

// processorShare is what a tenant may use of the processors, in percent; 0: all.
func (h *Hub) processorShare() int {
	if share := h.limits.Load().TenantShare; share > 0 && share < 100 {
		return share
	}
	return 0
}

// processors is GOMAXPROCS as it was when it was asked for first: that takes a lock.
var processors = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// tenantLoad is loadOf for a tenant that may have subscribers here.
func (h *Hub) tenantLoad(t *tenant, name []byte) *load {
	if t == nil {
		return h.loadOf(name)
	}
	l := t.load.Load()
	if l == nil || l.removed.Load() {
		l = h.loadOf(name)
		t.load.Store(l)
	}
	return l
}

// noteMessage notes that a message of l's tenant is here.
func (h *Hub) noteMessage(l *load, now time.Duration) {
	g := &h.loads
	switch latest := g.latest.Load(); latest {
	case l:
	case nil:
		g.latest.CompareAndSwap(nil, l)
	default:
		g.latest.Store(l)
		g.rivalAt.Store(int64(now))
	}
}

// charge counts the time since then as used, and returns the time now.
func (h *Hub) charge(l *load, since time.Duration) (now time.Duration) {
	now = h.now()
	h.chargeAt(l, now, now-since)
	return now
}

func (h *Hub) chargeAt(l *load, now, used time.Duration) {
	share := h.processorShare()
	if share == 0 {
		return
	}
	price := int64(used) * 100 / int64(share*processors())
	for {
		old := l.paidUntil.Load()
		next := min(max(old, int64(now-loadCredit))+price, int64(now+maxLoadDebt))
		if l.paidUntil.CompareAndSwap(old, next) {
			return
		}
	}
}

// contended reports whether messages of several tenants come.
func (h *Hub) contended(now time.Duration) bool {
	rival := h.loads.rivalAt.Load()
	return rival != 0 && now-time.Duration(rival) <= rivalTime
}

// debt returns how long a tenant has to wait: 0 without company.
func (h *Hub) debt(l *load, now time.Duration) time.Duration {
	if debt := time.Duration(l.paidUntil.Load()) - now; debt > 0 && h.contended(now) {
		return debt
	}
	return 0
}

// pace is how a message of a tenant is handled.
type pace struct {
	hub        *Hub
	load       *load
	since      time.Duration   // what was used from here on is not charged yet
	paced      bool            // the tenant is over its share, or the message had to wait for its turn
	takesTurns bool            // it may wait for its turn
	hasTurn    bool            // it is its turn
	canceled   <-chan struct{} // closed: nobody waits for the message any more
}

// begin waits for the turn of a client's message if its tenant is over its share.
// It reports false if the message is not to be handled: broken was closed
// meanwhile. Otherwise end is to be called.
func (h *Hub) begin(l *load, broken <-chan struct{}) (p pace, ok bool) {
	p = pace{hub: h, load: l, since: h.now(), takesTurns: true, canceled: broken}
	h.noteMessage(l, p.since)
	if h.processorShare() == 0 || !h.contended(p.since) || h.debt(l, p.since) == 0 && p.tryTurn() {
		return p, true
	}
	p.waitForDebt()
	if p.isCanceled() {
		if p.hasTurn {
			<-l.turns
		}
		return p, false
	}
	return p, true
}

// tryTurn takes a turn if one is free.
func (p *pace) tryTurn() bool {
	select {
	case p.load.turns <- struct{}{}:
		p.hasTurn = true
	default:
	}
	return p.hasTurn
}

// writesInline reports whether the message's goroutine makes its writes itself: another
// one would run beside the turns that there are.
func (p *pace) writesInline() bool {
	return p.paced || p.hasTurn && len(p.load.turns) == cap(p.load.turns)
}

// maxWriters is how many goroutines may write what the message has left.
func (p *pace) maxWriters() int {
	if p.hasTurn {
		return cap(p.load.turns)
	}
	return processors()
}

// takeTurn waits until it is this message's turn, if it may.
func (p *pace) takeTurn() {
	if p.takesTurns && !p.hasTurn {
		select {
		case p.load.turns <- struct{}{}:
			p.hasTurn = true
		case <-p.canceled:
		}
	}
}

// beginReceived is begin for a message that comes from another edge, or from this
// one by way of the broker: the tenant's messages come one at a time anyway.
func (h *Hub) beginReceived(l *load) (p pace) {
	p = pace{hub: h, load: l, since: h.now()}
	h.noteMessage(l, p.since)
	if h.debt(l, p.since) > 0 {
		p.waitForDebt()
	}
	return p
}

// waitForDebt waits until the tenant has no debt.
func (p *pace) waitForDebt() {
	p.paced = true
	p.takeTurn()
	p.since = p.hub.now()
	for debt := p.hub.debt(p.load, p.since); debt > 0 && !p.isCanceled(); debt = p.hub.debt(p.load, p.since) {
		p.sleep(debt)
	}
}

func (p *pace) isCanceled() bool {
	select {
	case <-p.canceled:
		return true
	default:
		return false
	}
}

// sleep pauses. Timers are late: what that gives in advance is taken back but for
// a little, since all others would have to wait for it at once.
func (p *pace) sleep(d time.Duration) {
	sleep(d, p.canceled)
	now := p.hub.now()
	p.hub.loads.paused.Add(int64(now - p.since))
	p.since = now
	if old, least := p.load.paidUntil.Load(), int64(now-pacedCredit); old < least {
		p.load.paidUntil.CompareAndSwap(old, least)
	}
}

// pauseDue is asked from time to time in a long fan-out: it is to pause if its tenant is
// over its share by now.
func (p *pace) pauseDue() bool {
	if now := p.hub.now(); now-p.since < paceEvery {
		return false
	}
	p.since = p.hub.charge(p.load, p.since)
	return p.hub.debt(p.load, p.since) > 0
}

// pause is the pause, and what it has queued is on its way before it.
func (p *pace) pause() {
	p.paced = true
	p.takeTurn()
	p.since = p.hub.now()
	p.sleep(min(p.hub.debt(p.load, p.since), maxPause))
}

// end charges what was used.
func (p *pace) end() {
	p.hub.charge(p.load, p.since)
	if p.hasTurn {
		<-p.load.turns
	}
}
