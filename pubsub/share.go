package pubsub

import (
	"net/netip"
	"sync/atomic"
)

// An edge serves many parties that don't know each other. So no token, tenant or address
// takes more than its share of the edge, which is half where no option says otherwise:
// of its connections, of the handshakes under way, and of the bytes in its queues. For issuers
// of tokens see issuers.go.
// The reasons are in docs/decisions/0031-issuers.md.

const (
	// MaxTenantsCounted is how many tenants of its token a connection counts for: the
	// first ones. A token may name thousands.
	MaxTenantsCounted = 16
	// queueChunk is how much a session's queue must grow, at least, before the edge
	// counts it: a single delivery touches nothing but its session.
	queueChunk = 16 << 10
)

// shareOf is what one token, tenant or address may take of what an edge has: its own
// limit if there is one, otherwise half; 0: no limit.
func shareOf(own, all int) int {
	if own > 0 {
		return own
	}
	return (all + 1) / 2
}

// account is what a token, an issuer, a tenant or an address takes of an edge. A nil account
// takes nothing.
type account struct {
	users       int          // tokens, or sessions, that hold it; guarded by the hub's mutex
	rightBytes  int          // of tokens, see Limits.RightMemory; guarded by the hub's mutex
	connections atomic.Int64 // without those that were told to reconnect: their clients must be able to come back before these end
	files       atomic.Int64 // of these connections, see Cost
	memory      atomic.Int64 // bytes of them, likewise
	queued      atomic.Int64 // bytes, in chunks; see Session.countQueue

	// Of a token and an issuer alone:
	patterns atomic.Int64 // distinct ones that their sessions were the first to have
	amounts  amounts
	// Of an issuer alone:
	cpu     atomic.Pointer[cpuAccount]
	replays tokenReplays
}

// atLimit reports whether one more connection would be over a limit; 0: none.
func (a *account) atLimit(limit int) bool {
	return a != nil && limit > 0 && a.connections.Load() >= int64(limit)
}

// atShare reports whether one more connection would be more than an account may have: its own limit,
// or else its share of everything that the edge has for connections. Without an account, it is the first.
func (a *account) atShare(own int, share func(all int) int, cost Cost, l *Limits) bool {
	if own > 0 || a == nil || l.MaxConnections == 0 {
		return a.atLimit(own)
	}
	taken := Cost{Files: int(a.files.Load()), Memory: int(a.memory.Load())}
	return a.atLimit(share(l.MaxConnections)) || cost.check(taken, l.Room.share(share)) != nil
}

// countConnection counts a connection, or with -1 takes that back.
func (a *account) countConnection(cost Cost, sign int64) {
	a.connections.Add(sign)
	a.files.Add(sign * int64(cost.Files))
	a.memory.Add(sign * int64(cost.Memory))
}

// half is the share of a token, a tenant or an address.
func half(all int) int { return shareOf(0, all) }

// accounts are the accounts of one kind that are in use.
type accounts[K comparable] map[K]*account

// tenantSubject is a subject within a tenant: that of another tenant is somebody else, even
// if it has the same name.
type tenantSubject struct{ tenant, subject string }

// acquire returns the account of a key, and counts one more user of it.
func (m accounts[K]) acquire(key K) *account {
	a := m[key]
	if a == nil {
		a = new(account)
		m[key] = a
	}
	a.users++
	return a
}

// release counts one user less, and forgets an account without users.
func (m accounts[K]) release(key K) {
	if a := m[key]; a != nil {
		if a.users--; a.users == 0 {
			delete(m, key)
		}
	}
}

// checkShares returns nil if a client may have one more connection, or else the reason
// why not. The caller holds h.mu.
func (h *Hub) checkShares(id *Identity, client *Client) error {
	l := h.limits.Load()
	if !h.hasRightRoom(id, l) {
		return ErrRightsFull
	}
	issuer := h.issuerAccounts[id.Issuer]
	if t := h.tokens[id.TokenID]; t != nil {
		if t.own.atShare(l.MaxConnectionsPerToken, half, client.Cost, l) {
			return ErrTokenFull
		}
		issuer = t.issuer // for whom its sessions count, also when its master token has another prefix now
	}
	if issuer.atShare(0, func(all int) int { return h.issuerShareOf(all, l) }, client.Cost, l) {
		return ErrIssuerFull
	}
	if limit := l.MaxConnectionsPerSubject; limit > 0 && id.Subject != "" {
		for _, tenant := range id.Tenants {
			if h.subjectAccounts[tenantSubject{tenant, id.Subject}].atLimit(limit) {
				return ErrSubjectFull
			}
		}
	}
	for _, tenant := range id.Tenants {
		if h.tenantAccounts[tenant].atShare(l.MaxConnectionsPerTenant, half, client.Cost, l) {
			return ErrTenantFull
		}
	}
	if ip, counts := client.network(); counts && h.addressAccounts[ip].atShare(l.MaxConnectionsPerAddress, half, client.Cost, l) {
		return ErrAddressFull
	}
	return nil
}

// hasRightRoom reports whether the edge has memory for the right of a token, if it has not counted it
// already. The caller holds h.mu.
func (h *Hub) hasRightRoom(id *Identity, l *Limits) bool {
	if l.RightMemory == 0 || h.tokens[id.TokenID] != nil {
		return true
	}
	if most, a := h.issuerShareOf(l.RightMemory, l), h.issuerAccounts[id.Issuer]; most > 0 && a != nil && a.rightBytes+id.RightBytes > most {
		return false
	}
	for _, tenant := range id.Tenants {
		if a := h.tenantAccounts[tenant]; a != nil && a.rightBytes+id.RightBytes > shareOf(0, l.RightMemory) {
			return false
		}
	}
	return h.rightBytes+id.RightBytes <= l.RightMemory
}

// countRight counts the right of a token that gets its first session, or with -1 that has lost its
// last one. The caller holds h.mu.
func (h *Hub) countRight(t *tokenState, sign int) {
	h.rightBytes += sign * t.rightBytes
	for _, a := range t.accounts {
		a.rightBytes += sign * t.rightBytes
	}
}

// network is the network whose share the client's address counts for; false: it counts
// for none, as the address is not known, or many clients are behind it.
func (c *Client) network() (netip.Addr, bool) {
	return Network(c.IP), c.IP.IsValid() && !c.IP.IsLoopback() && !c.SharedIP
}

// countSession counts a new session as a connection of its accounts. The caller holds
// h.mu.
func (h *Hub) countSession(s *Session) {
	for _, a := range s.token.accounts {
		a.countConnection(s.client.Cost, 1)
	}
	for _, a := range s.token.subjectAccounts {
		a.connections.Add(1)
	}
	if ip, counts := s.client.network(); counts {
		s.address = h.addressAccounts.acquire(ip)
		s.address.countConnection(s.client.Cost, 1)
	}
	s.counted = true
}

// uncountSession takes countSession back, once. The caller holds s.mu.
func (s *Session) uncountSession() {
	if !s.counted {
		return
	}
	s.counted = false
	for _, a := range s.token.accounts {
		a.countConnection(s.client.Cost, -1)
	}
	for _, a := range s.token.subjectAccounts {
		a.connections.Add(-1)
	}
	if s.address != nil {
		s.address.countConnection(s.client.Cost, -1)
	}
}

// enforceQueueMemory counts what the session's queue has grown by, once that is a chunk. If
// the edge has no room for it, or one of the session's accounts is over its share,
// the session is a slow consumer: its oldest deliveries are dropped, but never the
// newest one, or it closes, and enforceQueueMemory reports false. The caller holds s.mu.
func (s *Session) enforceQueueMemory(l *Limits, newest *frame) bool {
	q, least := &s.queue, int(newest.charge())
	if q.charge-q.countedCharge >= queueChunk && q.charge > least && !s.hasQueueRoom(q.charge-q.countedCharge, l) {
		if l.Slow == SlowDisconnect {
			s.closeSlow(0, slowQueueMemory)
			return false
		}
		n := uint64(0)
		for q.charge-q.countedCharge >= queueChunk && q.charge > least && q.dropOldest() {
			n++
		}
		q.dropped += n
		s.droppedTotal.Add(n)
		s.hub.count.drop(dropQueueMemory, n)
		s.wake() // to say so
	}
	s.addQueued(max(0, q.charge-q.countedCharge) / queueChunk * queueChunk)
	return true
}

// hasQueueRoom reports whether the edge has room for n more bytes in the session's queue.
func (s *Session) hasQueueRoom(n int, l *Limits) bool {
	if l.QueueMemory == 0 {
		return true
	}
	most := int64(shareOf(0, l.QueueMemory) - n)
	if s.hub.queuedBytes.Load() > int64(l.QueueMemory-n) || s.address != nil && s.address.queued.Load() > most {
		return false
	}
	for _, a := range s.token.accounts {
		if a.queued.Load() > most && a != s.token.issuer {
			return false
		}
	}
	ofIssuer := s.hub.issuerShareOf(l.QueueMemory, l)
	return ofIssuer == 0 || s.token.issuer.queued.Load() <= int64(ofIssuer-n)
}

// uncountQueue counts what the session's queue has shrunk by, in chunks, and all of it
// once the queue is empty. The caller holds s.mu.
func (s *Session) uncountQueue() {
	q := &s.queue
	if q.countedCharge > 0 && (q.charge == 0 || q.charge <= q.countedCharge-2*queueChunk) {
		s.addQueued(q.charge/queueChunk*queueChunk - q.countedCharge)
	}
}

func (s *Session) addQueued(n int) {
	if n == 0 {
		return
	}
	s.queue.countedCharge += n
	s.hub.queuedBytes.Add(int64(n))
	for _, a := range s.token.accounts {
		a.queued.Add(int64(n))
	}
	if s.address != nil {
		s.address.queued.Add(int64(n))
	}
}
