package pubsub

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// Renew sets when the session's token expires, unless a newer version of the token's
// record has set it already.
func (s *Session) Renew(expiresAt time.Time, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.tokenVersion || s.detached {
		return
	}
	s.tokenVersion, s.expiresAt = version, expiresAt
	if s.expiryTimer == nil {
		s.expiryTimer = time.AfterFunc(time.Until(expiresAt), s.expire)
	} else {
		s.expiryTimer.Reset(time.Until(expiresAt))
	}
}

// expire closes the session if its token has expired.
func (s *Session) expire() {
	s.mu.Lock()
	early := time.Until(s.expiresAt) > 0 // a refresh came in between, or the clock was set back
	if early && !s.detached {
		s.expiryTimer.Reset(time.Until(s.expiresAt))
	}
	s.mu.Unlock()
	if !early {
		s.closeWithError(wire.CloseUnauthorized, wire.CodeTokenExpired)
	}
}

// Revoke closes the session because its token was revoked. Soon its client is present nowhere,
// even if it does not answer the close. Revoke does not wait for that: a token store calls it.
func (s *Session) Revoke() {
	s.closeWithError(wire.CloseForbidden, wire.CodeTokenRevoked)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.detached {
		s.hub.Go(s.leaveAll) // the session holds the group open
	}
}

// tokenState is what the sessions of one token share on this edge.
type tokenState struct {
	sessions   map[*Session]struct{} // guarded by the hub's mutex
	caps       *byteCaps
	own        account
	issuer     *account
	issuerName string
	sender     []byte     // its subject, as what its sessions publish has it; static
	tenants    []string   // that the sessions count for
	rightBytes int        // of memory that its right takes; static
	accounts   []*account // own, the issuer's, and those of tenants
	subject    string     // empty: it has none
	// subjectAccounts are those of the subject in each of tenants, for connections alone.
	subjectAccounts []*account
	replays         tokenReplays // pages of histories that its sessions wait for
	denials         denialBudget

	payers atomic.Pointer[tokenPayers] // see Session.tokenPayers; nil: not known yet
}

// releaseToken takes a session off its token, and forgets the token after its last one.
// The caller holds h.mu.
func (h *Hub) releaseToken(s *Session) {
	delete(s.token.sessions, s)
	if len(s.token.sessions) > 0 {
		return
	}
	delete(h.tokens, s.identity.TokenID)
	h.countRight(s.token, -1)
	h.issuerAccounts.release(s.token.issuerName)
	for _, tenant := range s.token.tenants {
		h.tenantAccounts.release(tenant)
		if s.token.subject != "" {
			h.subjectAccounts.release(tenantSubject{tenant, s.token.subject})
		}
	}
	// Its caps also hold for a client that connects again for each message.
	if egress := kb(h.limits.Load().TokenEgressKB); !s.token.caps.idle(time.Now(), egress) {
		h.idleTokenCaps.put(s.identity.TokenID, s.token.caps, egress)
	}
}

// sessionsOf returns the sessions of a token. The caller holds h.mu.
func (h *Hub) sessionsOf(tokenID string) map[*Session]struct{} {
	if t := h.tokens[tokenID]; t != nil {
		return t.sessions
	}
	return nil
}

// listSessionsOf is sessionsOf for a caller that does not hold h.mu.
func (h *Hub) listSessionsOf(tokenID string) []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.sessionsOf(tokenID)))
}

// TokenRevoked closes every session of a token. It waits for none of them.
func (h *Hub) TokenRevoked(tokenID string) {
	for _, s := range h.listSessionsOf(tokenID) {
		s.Revoke()
	}
}

// TokenRenewed moves the expiry of every session of a token.
func (h *Hub) TokenRenewed(tokenID string, expiresAt time.Time, version uint64) {
	for _, s := range h.listSessionsOf(tokenID) {
		s.Renew(expiresAt, version)
	}
}

// TokenUnverifiable closes every session of a token: it is not known any more whether the
// token is still valid. It waits for none of them.
func (h *Hub) TokenUnverifiable(tokenID string) {
	for _, s := range h.listSessionsOf(tokenID) {
		s.closeWithError(wire.CloseTryLater, wire.CodeTokenUnverifiable)
	}
}

// TokensUnverifiable closes every session: it is not known any more whether their
// tokens are still valid.
func (h *Hub) TokensUnverifiable() {
	for _, s := range h.listSessions() {
		s.closeWithError(wire.CloseTryLater, wire.CodeTokenUnverifiable)
	}
}
