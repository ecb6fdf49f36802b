package tokenstore

import (
	"maps"
	"sync"
	"weak"
)

// The bounds of what an accessCache keeps for later.
const (
	maxRecent      = 1024    // tokens
	maxRecentBytes = 8 << 20 // of their rights

	minSwept = 2 * maxRecent // with fewer tokens in use, those that are not any more stay in the map
)

// accessCache knows the tokens in use, so that all connections of a token share one right, however
// large it is and however many versions of the token there were, and keeps the last ones that were
// compiled. It cannot be stale: the version that was just read from the store selects the entry.
type accessCache struct {
	mu      sync.Mutex
	inUse   map[string]tokenInUse // by token id; of some, nothing is in memory any more
	sweepAt int                   // with so many, these are removed
	recent  []*Access             // oldest first
	bytes   int                   // of recent
}

// tokenInUse is what is in memory of a token while a connection, or the cache, holds on to it. A
// cleanup of the right could tell when that ends, but would hold on to the cache, and so to the right.
type tokenInUse struct {
	right  weak.Pointer[compiledRight]
	latest weak.Pointer[Access] // the version that was compiled last
}

// get returns a version of a token if it is in memory, or nil.
func (c *accessCache) get(id string, version uint64) *Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.inUse[id].latest.Value(); a != nil && a.Version == version {
		return a
	}
	return nil
}

// add adds a version of a token, which nobody has yet, and returns what is to be used in its place:
// itself, with the right of earlier versions if that is the same, or what another one has added.
func (c *accessCache) add(a *Access) *Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.inUse[a.ID]
	if latest := t.latest.Value(); latest != nil && latest.Version == a.Version {
		return latest
	}
	if r := t.right.Value(); r != nil && r.equal(a.right) {
		a.right = r
	}
	c.sweep()
	c.inUse[a.ID] = tokenInUse{right: weak.Make(a.right), latest: weak.Make(a)}
	c.recent = append(c.recent, a)
	c.bytes += a.Size()
	for len(c.recent) > maxRecent || c.bytes > maxRecentBytes {
		c.bytes -= c.recent[0].Size()
		c.recent[0] = nil
		c.recent = c.recent[1:]
	}
	return a
}

// sweep makes room for one more token in use. The caller holds c.mu.
func (c *accessCache) sweep() {
	if len(c.inUse) < c.sweepAt {
		return
	}
	if c.inUse == nil {
		c.inUse = map[string]tokenInUse{}
	}
	maps.DeleteFunc(c.inUse, func(_ string, t tokenInUse) bool { return t.right.Value() == nil })
	c.sweepAt = max(minSwept, 2*len(c.inUse))
}
