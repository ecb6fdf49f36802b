package pubsub

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// cpuAccount is what the messages of a tenant cost this edge, in processor time: from
// accepting a message, or receiving it from another edge, to the writes that the
// same goroutine makes. The time is measured, so whatever makes a message expensive
// is counted: its subscribers, their patterns or its size.
//
// A tenant may use its share (Limits.TenantShare) of the processors while messages
// of others come, too. Its publishers take turns, as many at a time as there are
// processors in that share: otherwise a burst of many connections would have all
// processors at once, and whatever comes then waits for its end. A tenant over its share
// is paced (pace.go): each publisher waits until its tenant's debt is paid, and long
// fan-outs pause in between. What waits is what the tenant's clients send next, so
// nothing is lost, and the processors beside the share are there for all others. A
// tenant alone on the edge never waits.
type cpuAccount struct {
	name      string
	removed   atomic.Bool   // taken out of the hub
	paidUntil atomic.Int64  // when its share has paid for all that it used, on the hub's clock
	turns     chan struct{} // a semaphore: holds an element for each message that has a turn
}

const (
	// loadCredit is what a tenant that was quiet may use at once: little, since
	// others have to wait for that time.
	loadCredit = 2 * time.Millisecond
	// pacedCredit is the same for a tenant that has just been made to wait.
	pacedCredit = 250 * time.Microsecond
	// maxLoadDebt bounds how long a tenant waits for one very expensive message.
	maxLoadDebt = 250 * time.Millisecond
	// rivalTime is how long the processors count as contended after messages of two
	// tenants came.
	rivalTime = time.Second
	// paceEvery is how long a paced tenant works without a pause.
	paceEvery = 100 * time.Microsecond
	// maxPause is how long a fan-out pauses before it goes on.
	maxPause = 10 * time.Millisecond
)

// loads holds the loads of the tenants in use.
type loads struct {
	mu       sync.Mutex
	byTenant map[string]*cpuAccount
	sweepAt  int                        // with so many loads, unused ones are removed
	latest   atomic.Pointer[cpuAccount] // of the tenant whose message came last
	rivalAt  atomic.Int64               // when latest last changed to another tenant, on the hub's clock; 0: never
	paused   atomic.Int64               // the sum of all pauses, ns
}

// cpuAccountOf returns the load of a tenant, and makes it if there is none.
func (h *Hub) cpuAccountOf(tenant []byte) *cpuAccount {
	g := &h.loads
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byTenant[string(tenant)]
	if l != nil {
		return l
	}
	if g.byTenant == nil {
		g.byTenant, g.sweepAt = map[string]*cpuAccount{}, minSweep
	}
	if len(g.byTenant) >= g.sweepAt {
		old := int64(h.now() - unusedKept)
		maps.DeleteFunc(g.byTenant, func(_ string, l *cpuAccount) bool {
			unused := l.paidUntil.Load() < old
			if unused {
				l.removed.Store(true)
			}
			return unused
		})
		g.sweepAt = max(minSweep, 2*len(g.byTenant))
	}
	l = &cpuAccount{name: string(tenant), turns: make(chan struct{}, h.turnsPerTenant())}
	l.paidUntil.Store(int64(h.now() - loadCredit))
	g.byTenant[l.name] = l
	return l
}

// resetCPUAccounts makes every tenant begin anew, with the turns of a new share.
func (h *Hub) resetCPUAccounts() {
	g := &h.loads
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.byTenant {
		l.removed.Store(true)
	}
	clear(g.byTenant)
}

// is reports whether l is the load of this tenant.
func (l *cpuAccount) is(tenant []byte) bool {
	return l != nil && l.name == string(tenant) && !l.removed.Load()
}

// turnsPerTenant is how many processors the share of a tenant has, at least one.
func (h *Hub) turnsPerTenant() int { return max(1, processors()*h.limits.Load().TenantShare/100) }

// processorShare is what a tenant may use of the processors, in percent; 0: all.
func (h *Hub) processorShare() int {
	if share := h.limits.Load().TenantShare; share > 0 && share < 100 {
		return share
	}
	return 0
}

// processors is GOMAXPROCS as it was at the first call: to ask for it takes a lock.
var processors = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// tenantCPU is cpuAccountOf without its lock, for a tenant that has subscribers here; t is nil
// if it has none.
func (h *Hub) tenantCPU(t *tenant, name []byte) *cpuAccount {
	if t == nil {
		return h.cpuAccountOf(name)
	}
	l := t.account.Load()
	if l == nil || l.removed.Load() {
		l = h.cpuAccountOf(name)
		t.account.Store(l)
	}
	return l
}

// noteMessage notes that a message of l's tenant came.
func (h *Hub) noteMessage(l *cpuAccount, now time.Duration) {
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

// chargeTime counts the time since then as used by the tenant, and returns the time now.
func (h *Hub) chargeTime(l *cpuAccount, since time.Duration) (now time.Duration) {
	now = h.now()
	h.chargeAt(l, now, now-since)
	return now
}

func (h *Hub) chargeAt(l *cpuAccount, now, used time.Duration) {
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

// contended reports whether messages of several tenants came within rivalTime.
func (h *Hub) contended(now time.Duration) bool {
	rival := h.loads.rivalAt.Load()
	return rival != 0 && now-time.Duration(rival) <= rivalTime
}

// debt returns how long a tenant has to wait: 0 while no other tenant publishes.
func (h *Hub) debt(l *cpuAccount, now time.Duration) time.Duration {
	if debt := time.Duration(l.paidUntil.Load()) - now; debt > 0 && h.contended(now) {
		return debt
	}
	return 0
}
