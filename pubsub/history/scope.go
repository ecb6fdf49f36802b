package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Scope says which channels a history keeps, and since when. A position from before says
// nothing: what was published in between may not have been kept.
type Scope struct {
	Print string // of the tenants and channels; empty: it is in no configuration
	Since uint64 // milliseconds since 1970; 0: ever since the store is there
}

// ScopeKeeper is a [Store] that outlives its process. Of another one, the hub remembers the
// scopes as long as it has the store.
type ScopeKeeper interface {
	// Scopes returns what SetScopes was called with last, by history.
	Scopes() (map[string]Scope, error)
	// SetScopes remembers scopes, durably.
	SetScopes(scopes map[string]Scope) error
}

// print is a fingerprint of the tenants and channels that a definition keeps.
func (h *History) print() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", h.Tenants, h.Channels))
	return hex.EncodeToString(sum[:])
}

// NextScopes returns the scopes of the histories of a set, given those before.
func (s *Set) NextScopes(before map[string]Scope, now time.Time) map[string]Scope {
	next := map[string]Scope{}
	for name, scope := range before {
		next[name] = Scope{"", scope.Since} // unless it is in the set
	}
	for _, h := range s.All() {
		scope := Scope{h.print(), 0}
		switch known, ok := before[h.Name]; {
		case ok && known.Print == scope.Print:
			scope.Since = known.Since
		case ok || len(before) > 0:
			scope.Since = uint64(now.UnixMilli())
		}
		next[h.Name] = scope
	}
	return next
}
