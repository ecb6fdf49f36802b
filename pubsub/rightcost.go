package pubsub

import "time"

const (
	// refusalCost is what each byte of a right costs where it refuses something, about: all of its
	// rules are looked at. BenchmarkCanPublish says what it is. It is charged without a clock.
	refusalCost = 6 * time.Nanosecond
	// largeRight is from how many bytes on the time is charged that a right takes to allow something,
	// as its last rule may. A smaller one takes less than what is allowed.
	largeRight = 2 << 10
)

// allows asks the session's right, and charges what that costs. It does not wait: awaitRightPaid does,
// before the next command.
func (s *Session) allows(check func(Rights) bool) bool {
	h, size := s.hub, s.identity.RightBytes
	var since time.Duration
	if size >= largeRight {
		since = h.now()
	}
	allowed := check(s.identity.Rights)
	switch {
	case !allowed: // the message of a tenant, and all that there is of it
		h.chargeMessage(s.rightPayers(), time.Duration(size)*refusalCost)
	case size >= largeRight:
		h.chargeTime(s.rightPayers(), since)
	default:
		return true
	}
	s.chargedRight.Store(true)
	return allowed
}

// awaitRightPaid has a command of a session whose right has cost something wait while that is not paid,
// if its tenant or its issuer is over its share; then it takes a turn, as all that they do. It reports
// false if the session closes meanwhile. The caller holds no lock.
func (s *Session) awaitRightPaid() bool {
	if !s.chargedRight.Load() {
		return true
	}
	s.chargedRight.Store(false)
	by, now := s.rightPayers(), s.hub.now()
	if s.hub.debtOf(by, now) == 0 {
		return true
	}
	p := pace{hub: s.hub, payers: by, takesTurns: true, canceled: s.done}
	if s.hub.debt(by.tenant, now) > 0 {
		p.waitUntilPaid(by.tenant, &p.tenantTurn)
	}
	if s.hub.debt(by.issuer, s.hub.now()) > 0 {
		p.waitUntilPaid(by.issuer, &p.issuerTurn)
	}
	p.giveTurnsBack()
	return !p.isCanceled()
}

// rightPayers are who pays for checks: the first tenant of the token, and its issuer. The tenant that a
// command names may be somebody else's.
func (s *Session) rightPayers() payers {
	l := s.token.rightAccount.Load()
	if l == nil || l.removed.Load() {
		l = s.hub.rightAccountOf(s.identity.Tenants)
		s.token.rightAccount.Store(l)
	}
	return payers{l, s.hub.issuerCPU(s.token)}
}

func (h *Hub) rightAccountOf(tenants []string) *cpuAccount {
	if len(tenants) == 0 {
		return h.cpuAccountOf(defaultTenant)
	}
	return h.cpuAccountOf([]byte(tenants[0]))
}

// ChargeRight has the first tenant of a right, and the issuer of its token, pay for the time that a
// handshake took to read it. Nobody waits for that; what they publish does.
func (h *Hub) ChargeRight(tenants []string, issuer string, cost time.Duration) {
	h.chargeMessage(payers{h.rightAccountOf(tenants), h.cpuAccountIn(&h.loads.issuers, []byte(issuer))}, cost)
}

// chargeMessage charges time for something that is a message of the payers, and all that there is of it.
func (h *Hub) chargeMessage(by payers, cost time.Duration) {
	now := h.now()
	h.noteWork(by.tenant, now)
	h.noteWork(by.issuer, now)
	h.charge(by, now, cost)
}
