package pubsub

// largeRight is from how many bytes on checking a right is paid for: it may have thousands of rules,
// all of which are looked at before something is refused. A smaller one costs no more than the line
// or frame itself.
const largeRight = 4 << 10

// awaitRightPaid has a command of a session with a large right wait while what its right has cost
// before is not paid. It reports false if the session closes meanwhile. The caller holds no lock.
func (s *Session) awaitRightPaid() bool {
	if s.identity.RightBytes < largeRight {
		return true
	}
	pace, ok := s.hub.beginPaced(s.rightAccount(), s.done)
	if ok {
		pace.end()
	}
	return ok
}

// allows asks the session's right, and charges the time that a large one takes. It does not wait.
func (s *Session) allows(check func(Rights) bool) bool {
	if s.identity.RightBytes < largeRight {
		return check(s.identity.Rights)
	}
	since := s.hub.now()
	allowed := check(s.identity.Rights)
	s.hub.chargeTime(s.rightAccount(), since)
	return allowed
}

// rightAccount is who pays for checks: the first tenant of the token. The one that a command names
// may be somebody else's.
func (s *Session) rightAccount() *cpuAccount {
	tenant := defaultTenant
	if len(s.identity.Tenants) > 0 {
		tenant = []byte(s.identity.Tenants[0])
	}
	return s.hub.cpuAccountOf(tenant)
}
