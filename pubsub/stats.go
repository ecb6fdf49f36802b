package pubsub

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// Stat describes one open session to an operator.
type Stat struct {
	ConnectionID  wire.ConnectionID `json:"connection_id,omitzero"` // that the client can tell support
	ID            uint64            `json:"id"`                     // of this edge's sessions, a later one has a higher one
	TokenID       string            `json:"token_id"`
	Issuer        string            `json:"issuer,omitempty"`  // of the token, for whose share it counts; empty: the operator
	Subject       string            `json:"subject,omitempty"` // whose token it is
	Info          json.RawMessage   `json:"info,omitempty"`    // of the token: a JSON object
	Tenants       []string          `json:"tenants"`           // that the token names: the first MaxTenantsCounted
	IP            string            `json:"ip"`                // empty: not known
	Transport     string            `json:"transport"`
	Since         time.Time         `json:"since"`
	ExpiresAt     time.Time         `json:"expires_at"`
	Subscriptions int64             `json:"subscriptions"`
	QueuedBytes   int               `json:"queued_bytes"` // that wait to be written, bookkeeping included
	Dropped       uint64            `json:"dropped"`      // deliveries
	Draining      bool              `json:"draining"`     // was told to reconnect elsewhere
	// How long messages that wait for a cap have waited, in seconds, as it was noted in the last minute: what the
	// client publishes, and what it receives. 0: none has for 2 s.
	IngressDelay int `json:"ingress_delay_seconds,omitempty"`
	EgressDelay  int `json:"egress_delay_seconds,omitempty"`
	// The caps of the connection that are in effect, in KiB/s; 0: none.
	IngressKB int `json:"ingress_kb_per_sec"`
	EgressKB  int `json:"egress_kb_per_sec"`
}

// maxPatternsListed bounds ConnectionDetail.Patterns.
const maxPatternsListed = 1000

// ConnectionDetail is a session with its subscriptions.
type ConnectionDetail struct {
	Stat
	Patterns     []TenantPattern `json:"patterns"`      // the first 1,000 by tenant and pattern
	MorePatterns int             `json:"more_patterns"` // how many others there are
}

// TenantPattern is what a subscription is to.
type TenantPattern struct {
	Tenant  string `json:"tenant"`
	Pattern string `json:"pattern"`
	// Positions: it is an RSUB, whose messages come with positions.
	Positions bool `json:"positions,omitempty"`
}

// Stats lists the open sessions, oldest first.
func (h *Hub) Stats() []Stat {
	sessions, limits := h.listSessions(), h.limits.Load()
	stats := make([]Stat, 0, len(sessions))
	for _, s := range sessions {
		stats = append(stats, s.stat(limits))
	}
	slices.SortFunc(stats, func(a, b Stat) int { return cmp.Compare(a.ID, b.ID) })
	return stats
}

// Connection describes one session; false: there is none with this ID.
func (h *Hub) Connection(id uint64) (ConnectionDetail, bool) {
	s := h.session(id)
	if s == nil {
		return ConnectionDetail{}, false
	}
	d := ConnectionDetail{Stat: s.stat(h.limits.Load()), Patterns: s.patterns()}
	if n := len(d.Patterns); n > maxPatternsListed {
		d.Patterns, d.MorePatterns = d.Patterns[:maxPatternsListed:maxPatternsListed], n-maxPatternsListed
	}
	return d, true
}

// listSessions returns the open sessions, in no order.
func (h *Hub) listSessions() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.AppendSeq(make([]*Session, 0, len(h.sessions)), maps.Keys(h.sessions))
}

// session returns the one with an ID, or nil.
func (h *Hub) session(id uint64) *Session {
	sessions := h.listSessions() // to look at them with h.mu held would take longer
	i := slices.IndexFunc(sessions, func(s *Session) bool { return s.client.ID == id })
	if i < 0 {
		return nil
	}
	return sessions[i]
}

// stat describes the session.
func (s *Session) stat(limits *Limits) Stat {
	stat := Stat{
		ID: s.client.ID, ConnectionID: s.client.ConnectionID,
		TokenID:   s.identity.TokenID,
		Issuer:    s.token.issuerName,
		Subject:   s.identity.Subject,
		Info:      s.identity.Info,
		Tenants:   append([]string{}, s.identity.Tenants...), // in JSON a list, also if it is empty
		Transport: s.client.Transport,
		Since:     s.client.Since.UTC(),
		IngressKB: cmp.Or(s.identity.IngressKB, limits.DefaultIngressKB),
		EgressKB:  cmp.Or(s.identity.EgressKB, limits.DefaultEgressKB),
	}
	if s.client.IP.IsValid() {
		stat.IP = s.client.IP.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stat.ExpiresAt = s.expiresAt.UTC()
	stat.Subscriptions = int64(len(s.subscriptions))
	stat.QueuedBytes = s.queue.deliveries + s.queue.controlBytes
	stat.Dropped = s.droppedTotal.Load()
	stat.Draining = s.reconnectSent
	stat.IngressDelay, stat.EgressDelay = int(s.limitedSince(ingress)/time.Second), int(s.limitedSince(egress)/time.Second)
	return stat
}

// patterns lists what the session subscribes to, by tenant and pattern.
func (s *Session) patterns() []TenantPattern {
	s.mu.Lock()
	list := make([]TenantPattern, 0, len(s.subscriptions))
	for key, sub := range s.subscriptions {
		list = append(list, TenantPattern{key.tenant, key.pattern, sub.isResumable()})
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b TenantPattern) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Pattern, b.Pattern))
	})
	return slices.Compact(list) // one with a stream of its own, and one without
}
