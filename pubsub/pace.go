package pubsub

import "time"

// pace makes the handling of one message wait when its tenant, or its issuer, is over its share of the
// processors. Who holds a turn of an issuer holds one of a tenant already, or needs none, so nobody
// waits for each other; and while it waits for its tenant's debt it has no turn of its issuer, whose
// other tenants would wait with it.
type pace struct {
	hub          *Hub
	payers       payers
	chargedUntil time.Duration   // the time used from here on is not charged yet
	paced        bool            // a payer is over its share, or the message had to wait for its turn
	takesTurns   bool            // the message may wait for a turn
	tenantTurn   bool            // it has a turn of its tenant, which end gives back
	issuerTurn   bool            // likewise
	canceled     <-chan struct{} // closed: nobody waits for the message any more
}

// beginPaced waits for the turn of a client's message if its tenant or its issuer is over its share; since
// when work on it is to be charged, the caller says. It reports false if the message must not be handled:
// canceled was closed meanwhile. Otherwise end must be called.
func (h *Hub) beginPaced(by payers, since time.Duration, canceled <-chan struct{}) (p pace, ok bool) {
	p = pace{hub: h, payers: by, chargedUntil: since, takesTurns: true, canceled: canceled}
	p.note()
	if h.processorShare(&h.loads.tenants) == 0 {
		return p, true
	}
	if by.tenant != nil && !p.isFree(by.tenant, &p.tenantTurn) {
		p.waitUntilPaid(by.tenant, &p.tenantTurn)
	}
	if by.issuer != nil && !p.isFree(by.issuer, &p.issuerTurn) {
		p.waitUntilPaid(by.issuer, &p.issuerTurn)
	}
	if p.paced && p.isCanceled() {
		p.giveTurnsBack()
		return p, false
	}
	return p, true
}

// beginPacedReceived is beginPaced for a message that the broker hands over, from another edge or
// this one: it takes no turn, as the tenant's messages come one at a time anyway. It is
// handled also if it need not wait any more.
func (h *Hub) beginPacedReceived(by payers) (p pace) {
	p = pace{hub: h, payers: by, chargedUntil: h.now(), canceled: h.served}
	p.note()
	for _, l := range [...]*cpuAccount{by.tenant, by.issuer} {
		if h.debt(l, p.chargedUntil) > 0 {
			p.waitUntilPaid(l, nil)
		}
	}
	return p
}

// note notes that the payers are at work.
func (p *pace) note() {
	p.hub.noteWork(p.payers.tenant, p.chargedUntil)
	p.hub.noteWork(p.payers.issuer, p.chargedUntil)
}

// isFree reports whether a payer need not wait now; if others are there, the message has its turn.
func (p *pace) isFree(l *cpuAccount, turn *bool) bool {
	return !p.hub.contended(l, p.chargedUntil) || p.hub.processorShare(l.group) == 0 ||
		p.hub.debt(l, p.chargedUntil) == 0 && tryTurn(l, turn)
}

// tryTurn takes a turn if one is free.
func tryTurn(l *cpuAccount, turn *bool) bool {
	select {
	case l.turns <- struct{}{}:
		*turn = true
	default:
	}
	return *turn
}

// takeTurn waits for a turn, if the message may.
func (p *pace) takeTurn(l *cpuAccount, turn *bool) {
	if p.takesTurns && !*turn {
		since := p.hub.now()
		select {
		case l.turns <- struct{}{}:
			*turn = true
		case <-p.canceled:
		}
		p.hub.countPause(p.payers, p.hub.now()-since)
	}
}

// waitUntilPaid waits until a payer has no debt, for maxLoadDebt at most: what it is charged for meanwhile
// may not wait itself, as what sessions' own writers write.
func (p *pace) waitUntilPaid(l *cpuAccount, turn *bool) {
	p.paced = true
	p.hub.chargeTime(p.payers, p.chargedUntil)
	p.takeTurn(l, turn)
	begun := p.hub.now()
	p.chargedUntil = begun
	for debt := p.hub.debt(l, begun); debt > 0 && p.chargedUntil-begun < maxLoadDebt && !p.isCanceled(); debt = p.hub.debt(l, p.chargedUntil) {
		p.sleep(l, min(debt, maxPause)) // meanwhile, those may be done whom it waits for
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

// sleep pauses. Timers are late, which leaves the payer with credit: all of it but
// pacedCredit is taken back, since all others would have to wait while it is used at once.
func (p *pace) sleep(l *cpuAccount, d time.Duration) {
	sleep(d, p.canceled)
	now := p.hub.now()
	p.hub.countPause(p.payers, now-p.chargedUntil)
	p.chargedUntil = now
	if old, least := l.paidUntil.Load(), int64(now-pacedCredit); old < least {
		l.paidUntil.CompareAndSwap(old, least)
	}
}

// look charges what was used since the last look, if that is worth it, and reports whether it was. It is
// called from time to time, at least once in maxLook of work.
func (p *pace) look() bool {
	if now := p.hub.now(); now-p.chargedUntil < paceEvery {
		return false
	}
	p.chargedUntil = p.hub.chargeTime(p.payers, p.chargedUntil)
	p.note()
	return true
}

// pauseDue is look, and reports whether a long fan-out must pause: a payer is over its share by now.
func (p *pace) pauseDue() bool {
	return p.look() && p.hub.debtOf(p.payers, p.chargedUntil) > 0
}

// pause makes a fan-out wait for the debt of its payers, for maxPause each at most. The caller has
// flushed what it queued.
func (p *pace) pause() {
	p.paced = true
	p.chargedUntil = p.hub.chargeTime(p.payers, p.chargedUntil)
	had := p.issuerTurn
	if p.hub.debt(p.payers.tenant, p.chargedUntil) > 0 {
		p.giveBack(p.payers.issuer, &p.issuerTurn)
		p.pauseFor(p.payers.tenant, &p.tenantTurn)
	}
	if had || p.hub.debt(p.payers.issuer, p.chargedUntil) > 0 {
		p.pauseFor(p.payers.issuer, &p.issuerTurn)
	}
}

func (p *pace) pauseFor(l *cpuAccount, turn *bool) {
	p.takeTurn(l, turn)
	p.chargedUntil = p.hub.now()
	if debt := p.hub.debt(l, p.chargedUntil); debt > 0 {
		p.sleep(l, min(debt, maxPause))
	}
}

// end charges the time that was used, and gives the turns back.
func (p *pace) end() {
	p.hub.chargeTime(p.payers, p.chargedUntil)
	p.giveTurnsBack()
}

func (p *pace) giveTurnsBack() {
	p.giveBack(p.payers.issuer, &p.issuerTurn)
	p.giveBack(p.payers.tenant, &p.tenantTurn)
}

func (p *pace) giveBack(l *cpuAccount, turn *bool) {
	if *turn {
		*turn = false
		<-l.turns
	}
}

// writesInline reports whether the message's goroutine makes its writes itself: other
// goroutines would use more processors than there are turns.
func (p *pace) writesInline() bool {
	return p.paced || p.tenantTurn && areTaken(p.payers.tenant) || p.issuerTurn && areTaken(p.payers.issuer)
}

func areTaken(l *cpuAccount) bool { return len(l.turns) == cap(l.turns) }

// maxWriters is how many goroutines may write what the message has queued.
func (p *pace) maxWriters() int {
	n := processors()
	if p.tenantTurn {
		n = min(n, cap(p.payers.tenant.turns))
	}
	if p.issuerTurn {
		n = min(n, cap(p.payers.issuer.turns))
	}
	return n
}
