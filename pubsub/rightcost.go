package pubsub

import "time"

// allows asks the session's right. What that takes is a part of the work on the message; where it refuses, the
// message was one of its token's payers, and all that there is of it. It does not wait: awaitPaid does, before
// the next message.
func (s *Session) allows(check func(Rights) bool) bool {
	if check(s.identity.Rights) {
		return true
	}
	by, now := s.tokenPayers(), s.hub.now()
	s.hub.notePayers(by, now)
	s.owes.Store(true)
	return false
}

// ChargeRight has the first tenant of a right, and the issuer of its token, pay for the time that a
// handshake took to read it. Nobody waits for that; what they publish does.
func (h *Hub) ChargeRight(tenants []string, issuer string, cost time.Duration) {
	by, now := payers{h.tokenTenant(tenants, issuer), h.cpuAccountIn(&h.loads.issuers, []byte(issuer))}, h.now()
	h.notePayers(by, now)
	h.charge(by, now, cost)
}
