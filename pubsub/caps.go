package pubsub

import (
	"maps"
	"sync"
	"time"
)

// byteCaps are the buckets that all connections of a token share, or all
// messages of a tenant.
type byteCaps struct {
	ingress  fairBucket
	egress   sharedBucket
	lastUsed time.Time // when it was asked for last; guarded by groups.mu
}

// idle reports whether nothing is lost if new ones take their place. The rate is
// that of egress, in bytes per second.
func (c *byteCaps) idle(now time.Time, egress float64) bool {
	return c.ingress.idle(now) && c.egress.idle(now, egress)
}

// capsRegistry holds the caps of tenants in use, or of tokens that have no connection
// now: who comes back finds the bucket as it was.
type capsRegistry struct {
	mu      sync.Mutex
	caps    map[string]*byteCaps
	sweepAt int // from so many on those that are out of use are looked for; 0: manyGroups
}

const (
	minSweep   = 1024
	unusedKept = time.Minute // after the last use
)

// get returns the caps of a name, made if there are none.
func (g *capsRegistry) get(name []byte, egress float64) *byteCaps {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.caps[string(name)]
	if c == nil {
		c = new(byteCaps)
		g.add(string(name), c, egress)
	}
	c.lastUsed = time.Now()
	return c
}

// put notes the caps of a name.
func (g *capsRegistry) put(name string, c *byteCaps, egress float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.lastUsed = time.Now()
	g.add(name, c, egress)
}

// take returns the caps of a name, and forgets them; nil: there are none.
func (g *capsRegistry) take(name string) *byteCaps {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.caps[name]
	delete(g.caps, name)
	return c
}

// setIngress changes the rate of all, in bytes per second; 0: no cap.
func (g *capsRegistry) setIngress(rate float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.caps {
		c.ingress.setRate(rate)
	}
}

// add makes room for one more. The caller holds g.mu.
func (g *capsRegistry) add(name string, c *byteCaps, egress float64) {
	if len(g.caps) >= max(g.sweepAt, minSweep) {
		now := time.Now()
		maps.DeleteFunc(g.caps, func(_ string, c *byteCaps) bool {
			return now.Sub(c.lastUsed) > unusedKept && c.idle(now, egress)
		})
		g.sweepAt = 2 * len(g.caps) // else each one more would look at all
	}
	if g.caps == nil {
		g.caps = map[string]*byteCaps{}
	}
	g.caps[name] = c
}

// tenantCapsOf returns the caps of a tenant.
func (h *Hub) tenantCapsOf(tenant []byte) *byteCaps {
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
