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
	lastUsed time.Time // guarded by capsRegistry.mu
}

// idle reports whether new buckets would allow as much as these. The rate is that of
// egress, in bytes per second.
func (c *byteCaps) idle(now time.Time, egress float64) bool {
	return c.ingress.idle(now) && c.egress.idle(now, egress)
}

// capsRegistry holds the caps of the tenants in use, or of tokens that have no connection
// now: a client that comes back finds the buckets as they were.
type capsRegistry struct {
	mu      sync.Mutex
	caps    map[string]*byteCaps
	sweepAt int // with so many caps, unused ones are removed; 0: minSweep
}

const (
	minSweep   = 1024
	unusedKept = time.Minute // after the last use
)

// get returns the caps of a name, and makes them if there are none.
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

// put stores the caps of a name.
func (g *capsRegistry) put(name string, c *byteCaps, egress float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.lastUsed = time.Now()
	g.add(name, c, egress)
}

// take removes the caps of a name, and returns them; nil: there are none.
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

// add stores the caps of a name, and removes unused ones when there are many. The caller
// holds g.mu.
func (g *capsRegistry) add(name string, c *byteCaps, egress float64) {
	if len(g.caps) >= max(g.sweepAt, minSweep) {
		now := time.Now()
		maps.DeleteFunc(g.caps, func(_ string, c *byteCaps) bool {
			return now.Sub(c.lastUsed) > unusedKept && c.idle(now, egress)
		})
		g.sweepAt = 2 * len(g.caps) // otherwise each further one would look at all
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
