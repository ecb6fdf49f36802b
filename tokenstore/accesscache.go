package tokenstore

import (
	"runtime"
	"sync"
	"weak"
)

// The bounds of what an accessCache keeps for later.
const (
	maxRecent      = 1024    // tokens
	maxRecentBytes = 8 << 20 // of their rights
)

// accessCache knows the tokens in use, so that all connections of a token share one right, however
// large it is and however many versions of the token there were, and keeps the last ones that were
// compiled. It cannot be stale: the version that was just read from the store selects the entry.
type accessCache struct {
	mu     sync.Mutex
	inUse  map[string]*tokenInUse // by token id
	recent []*Access              // oldest first
	bytes  int                    // of recent
}

// tokenInUse is what is in memory of a token while a connection, or the cache, holds on to it.
type tokenInUse struct {
	right  weak.Pointer[compiledRight]
	latest weak.Pointer[Access] // the version that was compiled last
}

// get returns a version of a token if it is in memory, or nil.
func (c *accessCache) get(id string, version uint64) *Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.inUse[id]; t != nil {
		if a := t.latest.Value(); a != nil && a.Version == version {
			return a
		}
	}
	return nil
}

// add adds a version of a token, which nobody has yet, and returns what is to be used in its place:
// itself, with the right of earlier versions if that is the same, or what another one has added.
func (c *accessCache) add(a *Access) *Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.inUse[a.ID]
	if t != nil {
		if latest := t.latest.Value(); latest != nil && latest.Version == a.Version {
			return latest
		}
		if r := t.right.Value(); r != nil && r.equal(a.right) {
			a.right = r
		} else {
			t = nil
		}
	}
	if t == nil {
		t = &tokenInUse{right: weak.Make(a.right)}
		if c.inUse == nil {
			c.inUse = map[string]*tokenInUse{}
		}
		c.inUse[a.ID] = t
		id := a.ID
		runtime.AddCleanup(a.right, func(t *tokenInUse) { c.forget(id, t) }, t)
	}
	t.latest = weak.Make(a)
	c.recent = append(c.recent, a)
	c.bytes += a.Size()
	for len(c.recent) > maxRecent || c.bytes > maxRecentBytes {
		c.bytes -= c.recent[0].Size()
		c.recent[0] = nil
		c.recent = c.recent[1:]
	}
	return a
}

// forget forgets a token whose right is no longer in memory.
func (c *accessCache) forget(id string, t *tokenInUse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inUse[id] == t {
		delete(c.inUse, id)
	}
}
