package pubsub

import (
	"maps"
	"sync"
	"time"
)

// groupCaps are the buckets that all connections of a token share, or all
// messages of a tenant.
type groupCaps struct {
	ingress fairBucket
	egress  sharedBucket
	used    time.Time // when it was asked for last; guarded by groups.mu
}

// idle reports whether nothing is lost if new ones take their place. The rate is
// that of egress, in bytes per second.
func (c *groupCaps) idle(now time.Time, egress float64) bool {
	return c.ingress.idle(now) && c.egress.idle(now, egress)
}

// groups holds the caps of tenants in use, or of tokens that have no connection
// now: who comes back finds the bucket as it was.
type groups struct {
	mu   sync.Mutex
	caps map[string]*groupCaps
	many int // from so many on those that are out of use are looked for; 0: manyGroups
}

const (
	manyGroups = 1024
	groupKept  = time.Minute // after the last use
)

// get returns the caps of a name, made if there are none.
func (g *groups) get(name []byte, egress float64) *groupCaps {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.caps[string(name)]
	if c == nil {
		c = new(groupCaps)
		g.add(string(name), c, egress)
	}
	c.used = time.Now()
	return c
}

// put notes the caps of a name.
func (g *groups) put(name string, c *groupCaps, egress float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.used = time.Now()
	g.add(name, c, egress)
}

// take returns the caps of a name, and forgets them; nil: there are none.
func (g *groups) take(name string) *groupCaps {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.caps[name]
	delete(g.caps, name)
	return c
}

// setIngress changes the rate of all, in bytes per second; 0: no cap.
func (g *groups) setIngress(rate float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.caps {
		c.ingress.setRate(rate)
	}
}

// add makes room for one more. The caller holds g.mu.
func (g *groups) add(name string, c *groupCaps, egress float64) {
	if len(g.caps) >= max(g.many, manyGroups) {
		now := time.Now()
		maps.DeleteFunc(g.caps, func(_ string, c *groupCaps) bool {
			return now.Sub(c.used) > groupKept && c.idle(now, egress)
		})
		g.many = 2 * len(g.caps) // else each one more would look at all
	}
	if g.caps == nil {
		g.caps = map[string]*groupCaps{}
	}
	g.caps[name] = c
}

// capsOf returns the caps of a tenant.
func (h *Hub) capsOf(tenant []byte) *groupCaps {
	return h.tenantCaps.get(tenant, kb(h.limits.Load().TenantEgressKB))
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
