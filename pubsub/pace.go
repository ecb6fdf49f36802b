package pubsub

import "time"

// pace makes the handling of one message wait when its tenant is over its share of the
// processors.
type pace struct {
	hub        *Hub
	load       *load
	since      time.Duration   // the time used from here on is not charged yet
	paced      bool            // the tenant is over its share, or the message had to wait for its turn
	takesTurns bool            // the message may wait for a turn
	hasTurn    bool            // it has a turn, which end gives back
	canceled   <-chan struct{} // closed: nobody waits for the message any more
}

// begin waits for the turn of a client's message if its tenant is over its share.
// It reports false if the message must not be handled: canceled was closed meanwhile.
// Otherwise end must be called.
func (h *Hub) begin(l *load, canceled <-chan struct{}) (p pace, ok bool) {
	p = pace{hub: h, load: l, since: h.now(), takesTurns: true, canceled: canceled}
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

// beginReceived is begin for a message that the broker hands over, from another edge or
// this one: it takes no turn, as the tenant's messages come one at a time anyway.
func (h *Hub) beginReceived(l *load) (p pace) {
	p = pace{hub: h, load: l, since: h.now()}
	h.noteMessage(l, p.since)
	if h.debt(l, p.since) > 0 {
		p.waitForDebt()
	}
	return p
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

// takeTurn waits for a turn, if the message may.
func (p *pace) takeTurn() {
	if p.takesTurns && !p.hasTurn {
		select {
		case p.load.turns <- struct{}{}:
			p.hasTurn = true
		case <-p.canceled:
		}
	}
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

// sleep pauses. Timers are late, which leaves the tenant with credit: all of it but
// pacedCredit is taken back, since all others would have to wait while it is used at once.
func (p *pace) sleep(d time.Duration) {
	sleep(d, p.canceled)
	now := p.hub.now()
	p.hub.loads.paused.Add(int64(now - p.since))
	p.since = now
	if old, least := p.load.paidUntil.Load(), int64(now-pacedCredit); old < least {
		p.load.paidUntil.CompareAndSwap(old, least)
	}
}

// pauseDue reports whether a long fan-out must pause: its tenant is over its share by
// now. It is called from time to time.
func (p *pace) pauseDue() bool {
	if now := p.hub.now(); now-p.since < paceEvery {
		return false
	}
	p.since = p.hub.charge(p.load, p.since)
	return p.hub.debt(p.load, p.since) > 0
}

// pause makes a fan-out wait for its tenant's debt, for maxPause at most. The caller has
// flushed what it queued.
func (p *pace) pause() {
	p.paced = true
	p.takeTurn()
	p.since = p.hub.now()
	p.sleep(min(p.hub.debt(p.load, p.since), maxPause))
}

// end charges the time that was used, and gives the turn back.
func (p *pace) end() {
	p.hub.charge(p.load, p.since)
	if p.hasTurn {
		<-p.load.turns
	}
}

// writesInline reports whether the message's goroutine makes its writes itself: other
// goroutines would use more processors than there are turns.
func (p *pace) writesInline() bool {
	return p.paced || p.hasTurn && len(p.load.turns) == cap(p.load.turns)
}

// maxWriters is how many goroutines may write what the message has queued.
func (p *pace) maxWriters() int {
	if p.hasTurn {
		return cap(p.load.turns)
	}
	return processors()
}
