package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// What a session costs beside the messages that it publishes is paid for by the issuer of its token and
// the first tenant of that: connecting, reading from it, lines, what is refused, and what its own writers write. While
// one of these is over its share, the next message of such a session waits.

const (
	// readCost is what it takes to read a message and to check it, about: there is no clock between waiting
	// for the client and that. Each byte costs half a nanosecond more.
	readCost = time.Microsecond
	// writeCost is what a write of a session's own writer costs, about, with encryption, and each of its
	// bytes 2 ns more: on the clock, it is how long the client makes the edge wait.
	writeCost = 10 * time.Microsecond
	// packetCost is the same where the transport is a Packeter: goroutines of its own make and send a packet, and take
	// in what confirms it. Each of its bytes costs 4 ns more.
	packetCost = 20 * time.Microsecond
	// connectionCost is what it takes to open and to close a connection over TLS, about, with the memory that it leaves.
	connectionCost = time.Millisecond
	// pageCost is what it takes to have a page of a history read and handed on, about, beside the search for it and the
	// messages in it.
	pageCost = 60 * time.Microsecond
	// owedStep is how much of this a session adds up before it is charged: else all sessions of a
	// tenant would change the same word for each message.
	owedStep = 50 * time.Microsecond
	// maxTurnWait is how long a message waits for turns before it is known what it is: thousands of other
	// connections of its tenant may be before it.
	maxTurnWait = 5 * time.Second
	// freePingEvery is how often a ping of a session takes no turn: its client would take the connection for
	// dead. More of them are like other lines: who has many connections would get past a bound for each.
	freePingEvery = time.Second
)

// handleNow handles a message, and has it paid for as far as handle does not. It does not handle it if the
// session closes before its turn.
func (s *Session) handleNow(data []byte, handle func(*Session, []byte), isPing bool) {
	if !s.awaitPaid(isPing) {
		return
	}
	s.handling = s.hub.now() - s.reading
	s.reading = 0
	handle(s, data)
	s.chargeHandling(&s.handling)
}

// chargeHandling charges what was used since then, unless that was done.
func (s *Session) chargeHandling(since *time.Duration) {
	if *since != 0 {
		s.owe(min(s.hub.now()-*since, lookLimit+s.rightLimit()))
		*since = 0
	}
}

// rightLimit is the most that is charged for a look at the session's right.
func (s *Session) rightLimit() time.Duration {
	return mostPerRightByte * time.Duration(s.identity.RightBytes)
}

// beginHandling returns what was used since then, unless that was charged, and since when the rest of the work
// on the message is to be charged. The caller charges both.
func (s *Session) beginHandling(since *time.Duration) (used, begun time.Duration) {
	begun, *since = *since, 0
	switch {
	case begun == 0:
		begun = s.hub.now()
	case s.rightLimit() > lookLimit/2: // which bounds the rest
		now := s.hub.now()
		used, begun = min(now-begun, lookLimit+s.rightLimit()), now
	}
	return used, begun
}

// oweWrite has the token pay for a write that is not measured: of a session's own writer, or what TryWrite left to
// other goroutines.
func (s *Session) oweWrite(b *batch) {
	cost, size := writeCost, time.Duration(b.size)
	if s.makesPackets {
		cost, size = packetCost, 2*size
	}
	s.owe(cost + 2*size)
}

// owe has the token pay. It waits for nothing, and may be called with any lock held.
func (s *Session) owe(cost time.Duration) {
	if s.owed.Add(int64(cost)) < int64(owedStep) {
		return
	}
	cost = time.Duration(s.owed.Swap(0))
	s.hub.charge(s.tokenPayers(), s.hub.now(), cost)
	s.owes.Store(true)
}

// awaitPaid has a message of a session that has cost something wait while that is not paid, if its tenant
// or its issuer is over its share: for turns, as messages do, for maxTurnWait at most, and for maxLoadDebt for
// both together. It reports false if the session closes meanwhile. The caller holds no lock.
func (s *Session) awaitPaid(isPing bool) bool {
	if !s.owes.Load() {
		return true
	}
	s.owes.Store(false)
	by, now := s.tokenPayers(), s.hub.now()
	if s.hub.debtOf(by, now) == 0 {
		return true
	}
	isFree := isPing && now >= s.nextFreePing
	if isFree {
		s.nextFreePing = now + freePingEvery
	}
	p := pace{hub: s.hub, payers: by, begun: now, chargedUntil: now, canceled: s.done}
	p.takesTurns, p.turnBy = !isFree, now+maxTurnWait
	if s.hub.debt(by.tenant, now) > 0 {
		p.waitUntilPaid(by.tenant, &p.tenantTurn)
	}
	if s.hub.debt(by.issuer, s.hub.now()) > 0 {
		p.waitUntilPaid(by.issuer, &p.issuerTurn)
	}
	p.giveTurnsBack()
	return !p.isCanceled()
}

// PayForConnection charges what a connection costs, and waits while others are there until the shares of its payers
// have paid for the connections before it, for maxTurnWait at most and no longer than until gone is closed. It is called
// once, before the client hears of the session: otherwise whoever connects again and again has the processors for
// nothing. There are no turns: on a busy edge each would take as long as it takes to wake up.
func (s *Session) PayForConnection(gone <-chan struct{}) {
	by, now := s.tokenPayers(), s.hub.now()
	s.hub.notePayers(by, now)
	if wait := max(s.hub.reserveConnection(by.tenant, now), s.hub.reserveConnection(by.issuer, now)); wait > 0 {
		sleep(wait, gone)
		s.hub.countPause(by, s.hub.now()-now)
	}
	s.hub.charge(by, s.hub.now(), connectionCost)
}

// reserveConnection has a connection paid for behind those before it, and returns how long it waits for that.
func (h *Hub) reserveConnection(l *cpuAccount, now time.Duration) time.Duration {
	if l == nil || !h.contended(l, now) {
		return 0
	}
	share := h.processorShare(l.group)
	if share == 0 {
		return 0
	}
	for price := connectionCost * 100 / time.Duration(share*processors()); ; {
		old := l.connectedUntil.Load()
		begin := max(time.Duration(old), now-loadCredit)
		if !l.connectedUntil.CompareAndSwap(old, int64(min(begin+price, now+maxTurnWait))) {
			continue
		}
		if l.sinceOther(now) > activeTime {
			return 0
		}
		return max(0, begin-now)
	}
}

// tokenPayers are the issuer of the session's token and the first tenant of that, where it is no guest. The
// tenant that a command names may be somebody else's.
func (s *Session) tokenPayers() payers {
	p, division := s.token.payers.Load(), s.hub.division()
	if p == nil || p.division != division || p.tenant != nil && p.tenant.removed.Load() {
		p = &tokenPayers{s.hub.tokenTenant(s.identity.Tenants, s.token.issuerName), division}
		s.token.payers.Store(p)
	}
	return payers{p.tenant, s.hub.issuerCPU(s.token)}
}

// tokenPayers is the tenant that pays for what a token's sessions cost beside their messages.
type tokenPayers struct {
	tenant   *cpuAccount // nil: none; may have been removed
	division uint64      // of issuers when this was made
}

// tokenTenant returns the account of the first tenant of a token, unless that is a guest there.
func (h *Hub) tokenTenant(tenants []string, issuer string) *cpuAccount {
	first := wire.DefaultTenant
	if len(tenants) > 0 {
		first = tenants[0]
	}
	if h.isGuest(issuer, first) {
		return nil
	}
	return h.cpuAccountOf([]byte(first))
}
