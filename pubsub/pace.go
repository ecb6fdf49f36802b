package pubsub

import "time"

// pace makes the handling of one message wait when its tenant, or its issuer, is over its share of the
// processors. While it waits for its tenant's debt it has no turn of its issuer, whose other tenants would
// wait with it.
//
// Who may have a turn, and wait for what. Everything here must keep to this, or all can wait for each other:
//
//   - A turn of a tenant is taken before one of an issuer: nobody who has one of an issuer waits for one of a tenant.
//   - Who waits for a turn holds no lock but that of its connection, and nobody with a turn waits for it: no client's
//     message waits for the sequencer, or a worker of the broker's inbox, once it has a turn. Where there is no room
//     for more, it waits before that (publishWindow.awaitRoom), or is refused.
//   - What is no publish and changes no subscription waits for turns for maxTurnWait, and has none when it is handled.
//   - Who has a turn waits only for time: for a debt, of at most maxLoadDebt, or a look at the network (yield); and for
//     locks that nobody holds who waits for more than that, for each message that a broker has kept for a tenant. So
//     each turn comes to an end, whatever clients, stores and other edges do.
//   - A broker may call Receive in Publish, whose caller has turns. Such a message takes none
//     (Message.Remote), as it is a part of the one that does.
type pace struct {
	hub          *Hub
	payers       payers
	begun        time.Duration   // when its turn came
	chargedUntil time.Duration   // the time used from here on is not charged yet
	work         work            // that was done since then
	paced        bool            // a payer is over its share, or the message had to wait for its turn
	owed         bool            // a payer owed something when it came
	takesTurns   bool            // the message may wait for a turn
	accepted     bool            // it was accepted before: it takes turns of its issuer alone, and ahead of new ones
	issuerPasses bool            // its issuer pays, but it waits neither for that nor for a turn of it
	waited       time.Duration   // for debts, before it began
	turnBy       time.Duration   // when it goes on without a turn; 0: never
	tenantTurn   bool            // it has a turn of its tenant, which end gives back
	issuerTurn   bool            // likewise
	canceled     <-chan struct{} // closed: nobody waits for the message any more
}

// beginPaced waits for the turn of a client's message if its tenant or its issuer is over its share; the caller says
// what was used for it before, since when more is to be charged, and what time it is: a look at the clock takes
// longer than all else here. It reports false if the message must not be handled: canceled was closed meanwhile.
// Otherwise end must be called.
func (h *Hub) beginPaced(by payers, used, since, now time.Duration, canceled <-chan struct{}) (p pace, ok bool) {
	p = pace{hub: h, payers: by, begun: now, chargedUntil: since, takesTurns: true, canceled: canceled}
	p.work.beside = used
	p.note(p.begun)
	if h.processorShare(&h.loads.tenants) == 0 {
		return p, true
	}
	p.begin()
	if p.paced && p.isCanceled() {
		p.giveTurnsBack()
		return p, false
	}
	p.canceled = h.served // from here on it is carried out, also if its publisher leaves
	return p, true
}

// beginPacedAccepted is beginPaced for a message that was accepted before: from the broker, or a history. It takes
// no turn of its tenant, whose messages come one at a time anyway; with takesTurns it takes one of its issuer, which
// may have any number of tenants. With issuerPasses it does not wait for its issuer, which is not the tenant's owner:
// those who belong to the tenant would wait with it, and its publisher has waited. It is handled also if it need
// not wait any more.
func (h *Hub) beginPacedAccepted(by payers, takesTurns, issuerPasses bool) (p pace) {
	now := h.now()
	p = pace{hub: h, payers: by, begun: now, chargedUntil: now, takesTurns: takesTurns, accepted: true, canceled: h.served}
	p.issuerPasses = issuerPasses
	p.note(now)
	p.begin()
	p.paced = p.paced || issuerPasses && h.debt(by.issuer, p.chargedUntil) > 0
	return p
}

// begin waits for the payers, as far as the message has to.
func (p *pace) begin() {
	p.owed = p.owes(p.begun)
	if by := p.payers.tenant; by != nil && !p.isFree(by, &p.tenantTurn) {
		p.waitUntilPaid(by, &p.tenantTurn)
	}
	if by := p.payers.issuer; by != nil && !p.issuerPasses && !p.isFree(by, &p.issuerTurn) {
		p.waitUntilPaid(by, &p.issuerTurn)
	}
	if !p.yield(false) {
		return
	}
	p.begun = p.chargedUntil
	had := p.issuerTurn
	if by := p.payers.tenant; p.hub.debt(by, p.begun) > 0 { // to those who have come meanwhile
		p.giveBack(p.payers.issuer, &p.issuerTurn)
		p.waitUntilPaid(by, &p.tenantTurn)
	}
	if by := p.payers.issuer; had && !p.issuerTurn || p.issuerDebt() > 0 {
		p.waitUntilPaid(by, &p.issuerTurn)
	}
}

// note notes that the payers are at work now.
func (p *pace) note(now time.Duration) {
	p.hub.notePayers(p.payers, now)
}

// isFree reports whether a payer need not wait now; if others are there, the message has its turn.
func (p *pace) isFree(l *cpuAccount, turn *bool) bool {
	return !p.hub.contended(l, p.begun) || p.hub.processorShare(l.group) == 0 ||
		p.hub.debt(l, p.begun) == 0 && (!p.takesTurn(l) || p.tryTurn(l, turn))
}

// takesTurn reports whether the message takes turns of a payer.
func (p *pace) takesTurn(l *cpuAccount) bool {
	return p.takesTurns && (!p.accepted || l == p.payers.issuer)
}

// tryTurn takes a turn if one is free.
func (p *pace) tryTurn(l *cpuAccount, turn *bool) bool {
	*turn = l.turns.tryTake(p.hub.mostTurns(l, p.begun))
	return *turn
}

// takeTurn waits for a turn, if the message takes one.
func (p *pace) takeTurn(l *cpuAccount, turn *bool) {
	if p.takesTurn(l) && !*turn {
		since := p.hub.now()
		var late <-chan time.Time
		if p.turnBy > 0 {
			timer := time.NewTimer(p.turnBy - since)
			defer timer.Stop()
			late = timer.C
		}
		*turn = l.turns.take(p.hub.mostTurns(l, since), p.accepted, p.canceled, late)
		// Who had the turn before has started this goroutine, ahead of all that are ready, and so on: without this,
		// they would keep a processor for 30 ms and more.
		letOthersRun()
		p.hub.countPause(p.payers, p.hub.now()-since)
	}
}

// waitUntilPaid waits until a payer has no debt, for maxLoadDebt at most, for all payers of a message together: what
// they are charged for meanwhile may not wait itself.
func (p *pace) waitUntilPaid(l *cpuAccount, turn *bool) {
	p.paced = true
	p.charge()
	p.takeTurn(l, turn)
	p.chargedUntil = p.hub.now()
	for p.waited < maxLoadDebt && !p.isCanceled() {
		since := p.chargedUntil
		debt := p.hub.debt(l, since)
		if debt == 0 {
			break
		}
		p.sleep(l, min(debt, maxPause)) // meanwhile, those may be done whom it waits for
		p.waited += p.chargedUntil - since
	}
	p.begun = p.chargedUntil
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
// called from time to time.
func (p *pace) look() bool {
	if now := p.hub.now(); now-p.chargedUntil+p.work.beside < paceEvery {
		return false
	}
	p.charge()
	p.note(p.chargedUntil)
	return true
}

// pauseDue is look, and reports whether a long fan-out must pause: a payer is over its share by now.
func (p *pace) pauseDue() bool {
	return p.look() && (p.hub.debt(p.payers.tenant, p.chargedUntil) > 0 || p.issuerDebt() > 0)
}

// issuerDebt is how long the message has to wait for its issuer.
func (p *pace) issuerDebt() time.Duration {
	if p.issuerPasses {
		return 0
	}
	return p.hub.debt(p.payers.issuer, p.chargedUntil)
}

// pause makes a fan-out wait for the debt of its payers, for maxPause each at most. The caller has
// flushed what it queued.
func (p *pace) pause() {
	p.paced = true
	p.charge()
	had := p.issuerTurn
	if p.hub.debt(p.payers.tenant, p.chargedUntil) > 0 {
		p.giveBack(p.payers.issuer, &p.issuerTurn)
		p.pauseFor(p.payers.tenant, &p.tenantTurn)
	}
	if had || p.issuerDebt() > 0 {
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
	p.charge()
	p.giveTurnsBack()
}

func (p *pace) giveTurnsBack() {
	p.giveBack(p.payers.issuer, &p.issuerTurn)
	p.giveBack(p.payers.tenant, &p.tenantTurn)
}

func (p *pace) giveBack(l *cpuAccount, turn *bool) {
	if *turn {
		*turn = false
		l.turns.giveBack(p.hub.mostTurns(l, p.chargedUntil))
	}
}

// writesInline reports whether the message's goroutine makes its writes itself: other
// goroutines would use more processors than there are turns.
func (p *pace) writesInline() bool {
	return p.paced || p.tenantTurn && p.areTurnsTaken(p.payers.tenant) || p.issuerTurn && p.areTurnsTaken(p.payers.issuer)
}

func (p *pace) areTurnsTaken(l *cpuAccount) bool {
	return l.turns.areTaken(p.hub.mostTurns(l, p.chargedUntil))
}

// maxWriters is how many goroutines may write what the message has queued.
func (p *pace) maxWriters() int {
	n := processors()
	if p.tenantTurn {
		n = min(n, p.hub.mostTurns(p.payers.tenant, p.chargedUntil))
	}
	if p.issuerTurn {
		n = min(n, p.hub.mostTurns(p.payers.issuer, p.chargedUntil))
	}
	return n
}
