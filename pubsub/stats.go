package pubsub

import (
	"maps"
	"slices"
	"time"
)

// Stat describes one open session to an operator.
type Stat struct {
	ID            uint64    `json:"id"`
	TokenID       string    `json:"token_id"`
	IP            string    `json:"ip"`
	Transport     string    `json:"transport"`
	Since         time.Time `json:"since"`
	ExpiresAt     time.Time `json:"expires_at"`
	Subscriptions int64     `json:"subscriptions"`
	QueuedBytes   int       `json:"queued_bytes"`
	Dropped       uint64    `json:"dropped"`
	Draining      bool      `json:"draining"`
}

// Stats lists the open sessions, oldest first.
func (h *Hub) Stats() []Stat {
	h.mu.Lock()
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	stats := make([]Stat, 0, len(sessions))
	for _, s := range sessions {
		s.mu.Lock()
		stat := Stat{
			ID:            s.client.ID,
			TokenID:       s.identity.TokenID,
			Transport:     s.client.Transport,
			Since:         s.client.Since.UTC(),
			ExpiresAt:     s.expiresAt.UTC(),
			Subscriptions: int64(len(s.subscriptions)),
			QueuedBytes:   s.queue.deliveries + s.queue.controlBytes,
			Dropped:       s.droppedTotal.Load(),
			Draining:      s.reconnectSent,
		}
		s.mu.Unlock()
		if s.client.IP.IsValid() {
			stat.IP = s.client.IP.String()
		}
		stats = append(stats, stat)
	}
	slices.SortFunc(stats, func(a, b Stat) int { return int(int64(a.ID) - int64(b.ID)) })
	return stats
}
