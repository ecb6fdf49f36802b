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
		l, now := s.rightAccount(), h.now()
		h.noteMessage(l, now)
		h.chargeAt(l, now, time.Duration(size)*refusalCost)
	case size >= largeRight:
		h.chargeTime(s.rightAccount(), since)
	default:
		return true
	}
	s.chargedRight.Store(true)
	return allowed
}

// awaitRightPaid has a command of a session whose right has cost something wait while that is not paid,
// if its tenant is over its share; then it takes a turn, as all that this tenant does. It reports
// false if the session closes meanwhile. The caller holds no lock.
func (s *Session) awaitRightPaid() bool {
	if !s.chargedRight.Load() {
		return true
	}
	s.chargedRight.Store(false)
	l := s.rightAccount()
	if s.hub.debt(l, s.hub.now()) == 0 {
		return true
	}
	p := pace{hub: s.hub, account: l, takesTurns: true, canceled: s.done}
	p.waitUntilPaid()
	if p.hasTurn {
		<-l.turns
	}
	return !p.isCanceled()
}

// rightAccount is who pays for checks: the first tenant of the token. The one that a command names
// may be somebody else's.
func (s *Session) rightAccount() *cpuAccount {
	l := s.token.rightAccount.Load()
	if l == nil || l.removed.Load() {
		l = s.hub.rightAccountOf(s.identity.Tenants)
		s.token.rightAccount.Store(l)
	}
	return l
}

func (h *Hub) rightAccountOf(tenants []string) *cpuAccount {
	if len(tenants) == 0 {
		return h.cpuAccountOf(defaultTenant)
	}
	return h.cpuAccountOf([]byte(tenants[0]))
}

// ChargeRight has the first tenant of a right pay for the time that a handshake took to read it. Nobody
// waits for that; what the tenant publishes does.
func (h *Hub) ChargeRight(tenants []string, cost time.Duration) {
	if cost > 0 {
		l, now := h.rightAccountOf(tenants), h.now()
		h.noteMessage(l, now)
		h.chargeAt(l, now, cost)
	}
}
