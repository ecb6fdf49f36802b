package pubsub

import "time"

// refusalCost is what each byte of a right costs where it refuses something, about: all of its
// rules are looked at. BenchmarkCanPublish says what it is. It is charged without a clock.
const refusalCost = 6 * time.Nanosecond

// allows asks the session's right, and charges what it costs where it refuses; where it allows, that is a
// part of the work on the message. It does not wait: awaitPaid does, before the next message.
func (s *Session) allows(check func(Rights) bool) bool {
	if check(s.identity.Rights) {
		return true
	}
	// It is the message of a tenant, and all that there is of it.
	s.hub.chargeMessage(s.tokenPayers(), time.Duration(s.identity.RightBytes)*refusalCost)
	s.owes.Store(true)
	return false
}

// ChargeRight has the first tenant of a right, and the issuer of its token, pay for the time that a
// handshake took to read it. Nobody waits for that; what they publish does.
func (h *Hub) ChargeRight(tenants []string, issuer string, cost time.Duration) {
	h.chargeMessage(payers{h.tokenTenant(tenants, issuer), h.cpuAccountIn(&h.loads.issuers, []byte(issuer))}, cost)
}

// chargeMessage charges time for something that is a message of the payers, and all that there is of it.
func (h *Hub) chargeMessage(by payers, cost time.Duration) {
	now := h.now()
	h.noteWork(by.tenant, now)
	h.noteWork(by.issuer, now)
	h.charge(by, now, cost)
}
