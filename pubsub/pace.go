package pubsub

import "time"

// pace makes the handling of one message wait when its tenant is over its share of the
// processors.
type pace struct {
	hub          *Hub
	account      *cpuAccount
	chargedUntil time.Duration   // the time used from here on is not charged yet
	paced        bool            // the tenant is over its share, or the message had to wait for its turn
	takesTurns   bool            // the message may wait for a turn
	hasTurn      bool            // it has a turn, which end gives back
	canceled     <-chan struct{} // closed: nobody waits for the message any more
}

// beginPaced waits for the turn of a client's message if its tenant is over its share.
// It reports false if the message must not be handled: canceled was closed meanwhile.
// Otherwise end must be called.
func (h *Hub) beginPaced(l *cpuAccount, canceled <-chan struct{}) (p pace, ok bool) {
	p = pace{hub: h, account: l, chargedUntil: h.now(), takesTurns: true, canceled: canceled}
	h.noteMessage(l, p.chargedUntil)
	if h.processorShare() == 0 || !h.contended(p.chargedUntil) || h.debt(l, p.chargedUntil) == 0 && p.tryTurn() {
		return p, true
	}
	p.waitUntilPaid()
	if p.isCanceled() {
		if p.hasTurn {
			<-l.turns
		}
		return p, false
	}
	return p, true
}

// beginPacedReceived is begin for a message that the broker hands over, from another edge or
// this one: it takes no turn, as the tenant's messages come one at a time anyway. It is
// handled also if it need not wait any more.
func (h *Hub) beginPacedReceived(l *cpuAccount) (p pace) {
	p = pace{hub: h, account: l, chargedUntil: h.now(), canceled: h.served}
	h.noteMessage(l, p.chargedUntil)
	if h.debt(l, p.chargedUntil) > 0 {
		p.waitUntilPaid()
	}
	return p
}

// tryTurn takes a turn if one is free.
func (p *pace) tryTurn() bool {
	select {
	case p.account.turns <- struct{}{}:
		p.hasTurn = true
	default:
	}
	return p.hasTurn
}

// takeTurn waits for a turn, if the message may.
func (p *pace) takeTurn() {
	if p.takesTurns && !p.hasTurn {
		select {
		case p.account.turns <- struct{}{}:
			p.hasTurn = true
		case <-p.canceled:
		}
	}
}

// waitUntilPaid waits until the tenant has no debt.
func (p *pace) waitUntilPaid() {
	p.paced = true
	p.takeTurn()
	p.chargedUntil = p.hub.now()
	for debt := p.hub.debt(p.account, p.chargedUntil); debt > 0 && !p.isCanceled(); debt = p.hub.debt(p.account, p.chargedUntil) {
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

// sleep pauses. Timers are late, which leaves the tenant with credit: all of it but
// pacedCredit is taken back, since all others would have to wait while it is used at once.
func (p *pace) sleep(d time.Duration) {
	sleep(d, p.canceled)
	now := p.hub.now()
	p.hub.loads.paused.Add(int64(now - p.chargedUntil))
	p.chargedUntil = now
	if old, least := p.account.paidUntil.Load(), int64(now-pacedCredit); old < least {
		p.account.paidUntil.CompareAndSwap(old, least)
	}
}

// pauseDue reports whether a long fan-out must pause: its tenant is over its share by
// now. It is called from time to time.
func (p *pace) pauseDue() bool {
	if now := p.hub.now(); now-p.chargedUntil < paceEvery {
		return false
	}
	p.chargedUntil = p.hub.chargeTime(p.account, p.chargedUntil)
	return p.hub.debt(p.account, p.chargedUntil) > 0
}

// pause makes a fan-out wait for its tenant's debt, for maxPause at most. The caller has
// flushed what it queued.
func (p *pace) pause() {
	p.paced = true
	p.takeTurn()
	p.chargedUntil = p.hub.now()
	p.sleep(min(p.hub.debt(p.account, p.chargedUntil), maxPause))
}

// end charges the time that was used, and gives the turn back.
func (p *pace) end() {
	p.hub.chargeTime(p.account, p.chargedUntil)
	if p.hasTurn {
		<-p.account.turns
	}
}

// writesInline reports whether the message's goroutine makes its writes itself: other
// goroutines would use more processors than there are turns.
func (p *pace) writesInline() bool {
	return p.paced || p.hasTurn && len(p.account.turns) == cap(p.account.turns)
}

// maxWriters is how many goroutines may write what the message has queued.
func (p *pace) maxWriters() int {
	if p.hasTurn {
		return cap(p.account.turns)
	}
	return processors()
}
