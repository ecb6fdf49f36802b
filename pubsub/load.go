package pubsub

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// cpuAccount is what the messages of a tenant, or an issuer, cost this edge, in processor time: from
// accepting a message, or receiving it from another edge, to its writes. The time is
// measured, so whatever makes a message expensive is counted: its subscribers, their patterns
// or its size. Only what goroutines write that may wait for their clients is estimated.
//
// A tenant may use its share (Limits.TenantShare) of the processors while messages
// of others come, too (company.go). Its publishers take turns, as many at a time as there are
// processors in that share: otherwise a burst of many connections would have all
// processors at once, and whatever comes then waits for its end. A tenant over its share
// is paced (pace.go): each publisher waits until its tenant's debt is paid, and long
// fan-outs pause in between. What waits is what the tenant's clients send next, so
// nothing is lost, and the processors beside the share are there for all others. A
// tenant alone on the edge never waits.
//
// The same holds for issuers (Limits.IssuerShare), whose tenants have one share together while
// messages of other issuers' tokens come.
type cpuAccount struct {
	name      string
	group     *cpuAccounts
	removed   atomic.Bool  // taken out of the hub
	paidUntil atomic.Int64 // when its share has paid for all that it used, on the hub's clock
	turns     turns        // of its messages
	// connectedUntil is likewise for connections, see PayForConnection.
	connectedUntil atomic.Int64
	most           int // how many turns there are while others are there: as many as processors in its share
}

const (
	// loadCredit is what a tenant that was quiet may use at once: as much as somebody needs who sends a
	// message to a thousand clients now and then, and may have been held up before. With less, it would
	// be the one to wait while somebody else is always at the limit.
	loadCredit = 10 * time.Millisecond
	// pacedCredit is the same for a tenant that has just been made to wait: as much as timers are late, on an
	// idle processor. With less, it would get a part of its share.
	pacedCredit = time.Millisecond
	// minDebt is how long somebody waits at least: timers are no more exact.
	minDebt = time.Millisecond
	// loan is what somebody may owe while others have been there a moment ago, and nobody else is at work. So it
	// has its share, but waits while they are.
	loan = 20 * time.Millisecond
	// maxLoadDebt bounds how long a tenant waits for one very expensive message, and a message for its tenant.
	maxLoadDebt = 250 * time.Millisecond
	// paceEvery is how long a paced tenant works without a pause.
	paceEvery = 100 * time.Microsecond
	// maxPause is how long a fan-out pauses before it goes on.
	maxPause = 10 * time.Millisecond
)

// loads holds the loads of the tenants and issuers in use.
type loads struct {
	tenants, issuers cpuAccounts
	paused           atomic.Int64 // the sum of all pauses, ns
	lookedAt         atomic.Int64 // when somebody who owed something has looked at the network, on the hub's clock
}

// cpuAccounts are the accounts of all tenants, or of all issuers.
type cpuAccounts struct {
	mu      sync.Mutex
	byName  map[string]*cpuAccount
	sweepAt int // with so many accounts, unused ones are removed

	// On the hub's clock, see noteWork; 0: never.
	latest   atomic.Pointer[cpuAccount] // who was at work last
	latestAt atomic.Int64               // when
	othersAt atomic.Int64               // when another one was, at the latest
}

// payers are who pays for a message. A nil one pays nothing.
type payers struct{ tenant, issuer *cpuAccount }

// cpuAccountOf returns the load of a tenant, and makes it if there is none.
func (h *Hub) cpuAccountOf(tenant []byte) *cpuAccount {
	return h.cpuAccountIn(&h.loads.tenants, tenant)
}

func (h *Hub) cpuAccountIn(g *cpuAccounts, name []byte) *cpuAccount {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byName[string(name)]
	if l != nil {
		return l
	}
	if g.byName == nil {
		g.byName, g.sweepAt = map[string]*cpuAccount{}, minSweep
	}
	if len(g.byName) >= g.sweepAt {
		old := int64(h.now() - unusedKept)
		maps.DeleteFunc(g.byName, func(_ string, l *cpuAccount) bool {
			unused := l.paidUntil.Load() < old
			if unused {
				l.removed.Store(true)
			}
			return unused
		})
		g.sweepAt = max(minSweep, 2*len(g.byName))
	}
	l = &cpuAccount{name: string(name), group: g, most: h.turnsOf(g)}
	l.paidUntil.Store(int64(h.now() - loadCredit))
	g.byName[l.name] = l
	return l
}

// resetCPUAccounts makes every tenant and issuer start over, with the turns of a new share.
func (h *Hub) resetCPUAccounts() {
	for _, g := range []*cpuAccounts{&h.loads.tenants, &h.loads.issuers} {
		g.mu.Lock()
		for _, l := range g.byName {
			l.removed.Store(true)
		}
		clear(g.byName)
		g.mu.Unlock()
	}
}

// is reports whether l is the load of this tenant.
func (l *cpuAccount) is(tenant []byte) bool {
	return l != nil && l.name == string(tenant) && !l.removed.Load()
}

// turnsOf is how many processors the share of a tenant or an issuer has, at least one.
func (h *Hub) turnsOf(g *cpuAccounts) int {
	share := h.limits.Load().TenantShare
	if g == &h.loads.issuers {
		share = h.limits.Load().IssuerShare
	}
	return max(1, processors()*share/100)
}

// processorShare is what a tenant or an issuer may use of the processors, in percent; 0: all. Without
// one for tenants, there is none for issuers.
func (h *Hub) processorShare(g *cpuAccounts) int {
	l := h.limits.Load()
	switch {
	case l.TenantShare <= 0 || l.TenantShare >= 100 || g == &h.loads.issuers && !h.isDivided():
		return 0
	case g == &h.loads.issuers:
		return l.IssuerShare
	}
	return l.TenantShare
}

// processors is GOMAXPROCS as it was at the first call: to ask for it takes a lock.
var processors = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// tenantCPU is cpuAccountOf without its lock, for a tenant that has subscribers here; t is nil
// if it has none.
func (h *Hub) tenantCPU(t *tenant, name []byte) *cpuAccount {
	if t == nil {
		return h.cpuAccountOf(name)
	}
	return keptAccount(h, &h.loads.tenants, &t.account, name)
}

// keptAccount returns the account that is kept in at, or looks it up if it is not there or was removed.
func keptAccount[T string | []byte](h *Hub, g *cpuAccounts, at *atomic.Pointer[cpuAccount], name T) *cpuAccount {
	l := at.Load()
	if l == nil || l.removed.Load() {
		l = h.cpuAccountIn(g, []byte(name))
		at.Store(l)
	}
	return l
}

// tenantPayers are who pays for a message of a tenant that comes from the broker or a store. Its
// publisher is not known here: its issuer is the tenant's owner.
func (h *Hub) tenantPayers(t *tenant, name []byte) payers {
	p := payers{tenant: h.tenantCPU(t, name)}
	if t != nil {
		p.issuer = t.owner.cpuAccount(h)
	}
	return p
}

// issuerCPU returns the account of a token's issuer.
func (h *Hub) issuerCPU(t *tokenState) *cpuAccount {
	return keptAccount(h, &h.loads.issuers, &t.issuer.cpu, t.issuerName)
}

// payersFor are who pays for what a session does in a tenant: its token's issuer, whomever the tenant
// belongs to, and the tenant. That pays nothing for guests, and they take none of its turns: those who
// belong there would wait for them.
func (s *Session) payersFor(tenant string) payers {
	by := payers{issuer: s.hub.issuerCPU(s.token)}
	if !s.hub.isGuest(s.token.issuerName, tenant) {
		by.tenant = s.hub.cpuAccountOf([]byte(tenant))
	}
	return by
}

// charge counts time as used by the payers. For issuers, that is only done while messages of several
// come: all publishers of one would otherwise change the same word, for nothing.
func (h *Hub) charge(p payers, now, used time.Duration) {
	if p.tenant != nil {
		h.chargeAt(p.tenant, now, used)
	}
	if p.issuer != nil && h.contended(p.issuer, now) {
		h.chargeAt(p.issuer, now, used)
	}
}

func (h *Hub) chargeAt(l *cpuAccount, now, used time.Duration) {
	share := h.processorShare(l.group)
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
