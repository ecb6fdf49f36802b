package pubsub

import (
	"maps"
	"sync"
	"time"
)

// groupCaps are the buckets that all connections of a token share, or all
// messages of a tenant.
type groupCaps struct {
	ingress, egress sharedBucket
	used            time.Time // when a tenant's were asked for last; guarded by groups.mu
}

// groups holds the caps of tenants in use.
type groups struct {
	mu   sync.Mutex
	caps map[string]*groupCaps
}

const (
	manyGroups = 1024        // from here on those that are out of use are looked for
	groupKept  = time.Minute // by then a bucket is full, and a new one gives less
)

// capsOf returns the caps of a tenant.
func (h *Hub) capsOf(tenant []byte) *groupCaps {
	g := &h.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.caps[string(tenant)]
	if c == nil {
		now := time.Now()
		if len(g.caps) >= manyGroups {
			maps.DeleteFunc(g.caps, func(_ string, c *groupCaps) bool { return now.Sub(c.used) > groupKept })
		}
		if g.caps == nil {
			g.caps = map[string]*groupCaps{}
		}
		c = new(groupCaps)
		g.caps[string(tenant)] = c
	}
	c.used = time.Now()
	return c
}

// ingressPause returns how long the client is not to be read from: as its own
// cap wants, and those of its token and of the tenant that it last published to.
func (s *Session) ingressPause() time.Duration {
	limits := s.hub.limits.Load()
	now := time.Now()
	pause := s.ingress.wait(now, s.rate(s.identity.IngressKB, limits.DefaultIngressKB))
	if limits.TokenIngressKB > 0 {
		pause = max(pause, s.token.caps.ingress.wait(now, kb(limits.TokenIngressKB)))
	}
	if s.owes != nil && limits.TenantIngressKB > 0 {
		pause = max(pause, s.owes.ingress.wait(now, kb(limits.TenantIngressKB)))
	}
	return pause
}

// chargeTenant counts a publish of n bytes against its tenant's ingress cap.
func (s *Session) chargeTenant(tenant []byte, n int) {
	if s.hub.limits.Load().TenantIngressKB == 0 {
		s.owes = nil
		return
	}
	s.owes = s.hub.capsOf(tenant)
	s.owes.ingress.charge(n)
}

// rate is a connection's cap in bytes per second.
func (s *Session) rate(own, byDefault int) float64 {
	if own == 0 {
		own = byDefault
	}
	return kb(own)
}

// kb is a cap in bytes per second.
func kb(n int) float64 { return float64(n) * 1024 }
