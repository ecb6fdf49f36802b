package pubsub

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

	"github.com/millrace/millrace/wire"
)

// ConnectionFilter says which sessions an operator wants to see. The zero value: all.
type ConnectionFilter struct {
	ConnectionID wire.ConnectionID // zero: any
	TokenID      string            // empty: any
	Subject      string            // of the token; empty: any
	Tenant       string            // that the token names (see [Stat]), or that it has a subscription in; empty: any
	Network      netip.Prefix      // of the client's address; not valid: any, also one that is not known
	Transport    string            // empty: any
	Limited      bool              // only those with messages that have waited for a cap; see [Stat]
}

// ConnectionPage is a part of the list of sessions.
type ConnectionPage struct {
	Connections []Stat `json:"connections"` // oldest first
	Total       int    `json:"total"`       // open on this edge
	Matching    int    `json:"matching"`    // of these, on this page or not
	Draining    bool   `json:"draining"`    // the edge drains; false also from an edge of an earlier version
	Next        uint64 `json:"next"`        // the `after` of the next page; 0: this is the last
}

// Connections lists the sessions that match a filter and have an ID above after, at most
// limit of them; with limit 0 it only counts. Its cost grows with the number of sessions,
// or with that of the token's if the filter names one; only those on the page are described.
// Since IDs grow, a session that is open all the while is on exactly one of the pages, and
// new ones come on the last.
func (h *Hub) Connections(f ConnectionFilter, after uint64, limit int) ConnectionPage {
	f.Network = unmapPrefix(f.Network)
	sessions, total := h.candidates(f.TokenID)
	subscribed := f.Tenant != "" && h.tenant([]byte(f.Tenant)) != nil // else nobody needs to be asked
	page := ConnectionPage{Connections: []Stat{}, Total: total, Draining: errors.Is(h.Available(), ErrDraining)}
	first := firstSessions{limit: max(limit, 0)}
	for _, s := range sessions {
		if !f.matches(s, subscribed) {
			continue
		}
		page.Matching++
		if s.client.ID > after {
			first.add(s)
		}
	}
	limits := h.limits.Load()
	for _, s := range first.take() {
		page.Connections = append(page.Connections, s.stat(limits))
	}
	if n := len(page.Connections); n > 0 && first.more {
		page.Next = page.Connections[n-1].ID
	}
	return page
}

// candidates returns the sessions of a token, or all if it is empty, in no order, and how
// many are open in all.
func (h *Hub) candidates(tokenID string) (sessions []*Session, total int) {
	if tokenID == "" {
		sessions = h.listSessions()
		return sessions, len(sessions)
	}
	sessions = h.listSessionsOf(tokenID)
	h.mu.Lock()
	defer h.mu.Unlock()
	return sessions, len(h.sessions)
}

// matches reports whether a session passes the filter, its TokenID aside. subscribed says
// whether anybody has a subscription in its tenant.
func (f *ConnectionFilter) matches(s *Session, subscribed bool) bool {
	switch {
	case f.ConnectionID != 0 && s.client.ConnectionID != f.ConnectionID,
		f.Transport != "" && s.client.Transport != f.Transport,
		f.Subject != "" && s.identity.Subject != f.Subject,
		f.Limited && !s.isLimited(),
		f.Network.IsValid() && !f.Network.Contains(s.client.IP.Unmap().WithZone("")):
		return false
	case f.Tenant == "", slices.Contains(s.identity.Tenants, f.Tenant):
		return true
	}
	return subscribed && s.subscribesIn(f.Tenant)
}

// isLimited reports whether the session has messages that have waited for a cap.
func (s *Session) isLimited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limitedSince(ingress) > 0 || s.limitedSince(egress) > 0
}

// subscribesIn reports whether the session has a subscription in a tenant.
func (s *Session) subscribesIn(tenant string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.subscriptions {
		if key.tenant == tenant {
			return true
		}
	}
	return false
}

// unmapPrefix turns a prefix of IPv4 addresses that are written as IPv6 into one of IPv4,
// as which addresses are compared.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.IsValid() && p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// firstSessions collects the sessions with the lowest IDs out of many, and keeps at most
// twice as many as it is to return: to sort all would take longer than to look at them.
type firstSessions struct {
	limit    int
	sessions []*Session
	last     uint64 // those with a higher ID are not among the first; 0: not known yet
	more     bool   // there are others
}

func (f *firstSessions) add(s *Session) {
	if f.limit == 0 || f.last != 0 && s.client.ID > f.last {
		f.more = true
		return
	}
	f.sessions = append(f.sessions, s)
	if len(f.sessions)/2 >= f.limit {
		f.last = f.take()[f.limit-1].client.ID
	}
}

// take sorts the first ones, and forgets the rest.
func (f *firstSessions) take() []*Session {
	slices.SortFunc(f.sessions, func(a, b *Session) int { return cmp.Compare(a.client.ID, b.client.ID) })
	if len(f.sessions) > f.limit {
		clear(f.sessions[f.limit:])
		f.sessions, f.more = f.sessions[:f.limit], true
	}
	return f.sessions
}

// Disconnect closes a session at an operator's wish, with ERR:closed_by_operator and close
// 1013: its client may come back while its token is valid. False: there is none with this ID.
func (h *Hub) Disconnect(id uint64) bool {
	s := h.session(id)
	if s == nil {
		return false
	}
	s.closeByOperator()
	return true
}

// DisconnectToken is [Hub.Disconnect] for all sessions of a token, and returns how many
// there were.
func (h *Hub) DisconnectToken(tokenID string) int {
	sessions := h.listSessionsOf(tokenID)
	for _, s := range sessions {
		s.closeByOperator()
	}
	return len(sessions)
}

func (s *Session) closeByOperator() { s.closeWithError(wire.CloseTryLater, wire.CodeClosedByOperator) }
