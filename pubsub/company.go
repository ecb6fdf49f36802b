package pubsub

import (
	"math"
	"time"
)

// Who uses processors only waits for others that want them, too. So for each tenant, and each issuer, it is
// known how long no other one was at work; that decides in three steps, from the shortest time on:
//
//   - While another one is at work, who is over its share waits until it has paid.
//   - While others have been there a moment ago, it works in the pace of its share. What comes next finds a
//     processor soon, also where there is but one.
//   - Later, it uses all processors but one, in turns: that many messages are handled at a time. So who is rarely
//     there finds a processor, too. Of two processors that leaves one, which is its share already.
const (
	// atWorkTime is for how long somebody counts as at work: looks at the clock are up to 1 ms apart.
	atWorkTime = 2 * time.Millisecond
	// activeTime is for how long others count as there.
	activeTime = 100 * time.Millisecond
	// Turns are taken for so long after a message of another tenant, or another issuer, came. Issuers do not
	// know each other; that one has a message now and then must not depend on what others do.
	rivalTime       = time.Second
	issuerRivalTime = time.Minute
	// noteEvery is how exactly it is known when somebody was at work: to note it more often would have all
	// processors change the same words.
	noteEvery = 100 * time.Microsecond
)

// noteWork notes that there is work for which l pays; nil: for which nobody does.
func (h *Hub) noteWork(l *cpuAccount, now time.Duration) {
	if l == nil {
		return
	}
	g := l.group
	latest, at := g.latest.Load(), time.Duration(g.latestAt.Load())
	switch {
	case latest == l:
		if now-at < noteEvery {
			return
		}
	case latest == nil || latest.name == l.name: // it is the first, or starts over
		g.latest.Store(l)
	case now-at < noteEvery && now-time.Duration(g.othersAt.Load()) < noteEvery: // all know that others are there
		return
	default:
		g.othersAt.Store(int64(at))
		g.latest.Store(l)
	}
	g.latestAt.Store(int64(now))
}

// notePayers is noteWork for all who pay.
func (h *Hub) notePayers(by payers, now time.Duration) {
	h.noteWork(by.tenant, now)
	h.noteWork(by.issuer, now)
}

// sinceOther is for how long no other one of the group was at work, noteEvery more or less.
func (l *cpuAccount) sinceOther(now time.Duration) time.Duration {
	at := l.group.othersAt.Load()
	if latest := l.group.latest.Load(); latest != l && latest != nil && latest.name != l.name {
		at = l.group.latestAt.Load()
	}
	if at == 0 {
		return math.MaxInt64
	}
	return now - time.Duration(at)
}

// contended reports whether messages of l take turns, since those of others come, too.
func (h *Hub) contended(l *cpuAccount, now time.Duration) bool {
	if l.group == &h.loads.issuers {
		return l.sinceOther(now) <= issuerRivalTime
	}
	return l.sinceOther(now) <= rivalTime
}

// mostTurns is how many messages of a tenant or an issuer are handled at a time, while they take turns: as many as
// there are processors in its share or, when others have not been there for a while, all but one.
func (h *Hub) mostTurns(l *cpuAccount, now time.Duration) int {
	if l.sinceOther(now) > activeTime {
		return max(l.most, processors()-1)
	}
	return l.most
}

// debt returns how long a tenant or an issuer has to wait now, to pay for what it used; nil: not at all.
func (h *Hub) debt(l *cpuAccount, now time.Duration) time.Duration {
	if l == nil {
		return 0
	}
	debt := time.Duration(l.paidUntil.Load()) - now
	if debt < minDebt {
		return 0
	}
	switch quiet := l.sinceOther(now); {
	case quiet > activeTime:
		return 0
	case quiet > atWorkTime:
		debt -= loan
	}
	if debt < minDebt {
		return 0
	}
	return debt
}

// isNearShare reports whether a tenant or an issuer has used most of what its share allows at once, or more, and
// others are there.
func (h *Hub) isNearShare(l *cpuAccount, now time.Duration) bool {
	return h.contended(l, now) && time.Duration(l.paidUntil.Load()) > now-loadCredit/2
}

// debtOf is how long the payers have to wait.
func (h *Hub) debtOf(p payers, now time.Duration) time.Duration {
	return max(h.debt(p.tenant, now), h.debt(p.issuer, now))
}
