package unixbroker

// confirmation is called when all peers have answered the kindSync with its number.
type confirmation struct {
	number    uint64
	confirmed func()
}

// notifyLoop calls Linked when the link changes, and what waits for a confirmation. Both
// come from this goroutine alone, so nothing is confirmed on a link that is down before
// Linked has said that it is.
func (b *Broker) notifyLoop(up bool) {
	for {
		select {
		case <-b.changed:
		case <-b.ctx.Done():
			return
		}
		b.mu.Lock()
		lost, linked := b.lost, len(b.missing) == 0
		b.lost = false
		confirmed := b.takeConfirmed()
		b.mu.Unlock()
		if up && (lost || !linked) {
			up = false
			b.receiver.Linked(false)
		}
		if !up && linked {
			up = true
			b.receiver.Linked(true)
		}
		for _, c := range confirmed {
			c.confirmed()
		}
	}
}

// takeConfirmed takes what all peers have answered. The caller holds b.mu.
func (b *Broker) takeConfirmed() []confirmation {
	answered := b.number
	for _, p := range b.peers {
		if !p.leaving {
			answered = min(answered, p.synced)
		}
	}
	n := 0
	for n < len(b.waiting) && b.waiting[n].number <= answered {
		n++
	}
	taken := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return taken
}
