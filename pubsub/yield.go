package pubsub

import "time"

// yieldEvery is how long those who owe something keep others from a processor at most. It costs them 1 %.
const yieldEvery = 500 * time.Microsecond

// yield has those run who have become ready meanwhile, if others are there and the message comes from who owed something
// when it came, or had to wait: also who may go on must not do so until the scheduler takes its processor away, after
// 10 ms. It does so, too, if writers of sessions were woken: thousands of them would be ahead of all others. It
// reports whether it did. What was used until now is charged, and the time that others run is not.
func (p *pace) yield(woken bool) bool {
	now := max(p.begun, p.chargedUntil)
	looked := p.hub.loads.lookedAt.Load()
	due := now-time.Duration(looked) >= yieldEvery
	if !(woken && p.isContended(now)) && !(due && (p.owed || p.paced) && p.owes(now)) {
		return false
	}
	p.charge()
	if due && p.hub.loads.lookedAt.CompareAndSwap(looked, int64(p.chargedUntil)) {
		lookAtNetwork()
	}
	letOthersRun()
	p.chargedUntil = p.hub.now()
	return true
}

// owes reports whether a payer has not paid for all that it used, while others come: also for what it need not pay
// for at once.
func (p *pace) owes(now time.Duration) bool {
	owes := func(l *cpuAccount) bool {
		return l != nil && time.Duration(l.paidUntil.Load()) > now && p.hub.contended(l, now)
	}
	return owes(p.payers.tenant) || owes(p.payers.issuer)
}

// isContended reports whether others than a payer are there.
func (p *pace) isContended(now time.Duration) bool {
	return p.payers.tenant != nil && p.hub.contended(p.payers.tenant, now) ||
		p.payers.issuer != nil && p.hub.contended(p.payers.issuer, now)
}
