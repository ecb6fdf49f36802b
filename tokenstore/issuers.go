package tokenstore

import (
	"context"
	"maps"
)

// Who issues tokens is an issuer: a master token, or all master tokens that have one tenant prefix,
// which nobody can tell apart from outside. An edge accounts for issuers, because a master token
// makes as many tokens and tenants as it likes (docs/decisions/0031-issuers.md).

// issuers are those that the master tokens of a store make up. They never change.
type issuers struct {
	complete bool              // false: the store has not been read yet
	byMaster map[string]string // issuer by id of the master token
	names    map[string]int    // how many master tokens each issuer is
}

// indexedMaster is what the Index knows about a master token.
type indexedMaster struct {
	version uint64
	issuer  string // empty: it is deleted
}

// issuer is whom a master token belongs to: its prefix, or its id. No prefix is an id, since
// [NormalizePrefix] has none end in a hex digit.
func (m *Master) issuer() string {
	if m.TenantPrefix != "" {
		return m.TenantPrefix
	}
	return m.ID
}

// applyMaster applies a change of a master token.
func (x *Index) applyMaster(c Change) {
	next := indexedMaster{version: c.Record.Version}
	if !c.Deleted {
		var r masterRecord
		if decode(c.Record, &r) != nil {
			return // a record that cannot be read issues nothing
		}
		m := r.master(c.Record.ID)
		next.issuer = m.issuer()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.masters[c.Record.ID].version >= next.version {
		return
	}
	x.masters[c.Record.ID] = next
	if complete := x.known.Load().complete; complete {
		x.publishMasters(complete)
	}
}

// publishMasters makes what is known of master tokens visible. The caller holds x.mu.
func (x *Index) publishMasters(complete bool) {
	maps.DeleteFunc(x.masters, func(_ string, m indexedMaster) bool { return m.issuer == "" })
	known := &issuers{complete: complete, byMaster: make(map[string]string, len(x.masters)), names: map[string]int{}}
	for id, m := range x.masters {
		known.byMaster[id] = m.issuer
		known.names[m.issuer]++
	}
	x.known.Store(known)
}

// IssuerOf returns who issued a token: the prefix of its master token, the id of one that has none
// or is deleted, or nothing for what the local admin API issued.
func (s *Service) IssuerOf(ctx context.Context, a *Access) string {
	if a.masterID == "" {
		return ""
	}
	if m, ok := s.static[a.masterID]; ok {
		return m.issuer()
	}
	if s.index != nil {
		if known := s.index.known.Load(); known.complete {
			if name, ok := known.byMaster[a.masterID]; ok {
				return name
			}
			return a.masterID
		}
	}
	m, err := s.master(ctx, a.masterID, s.localGet())
	if err != nil { // it is deleted; or unknown, which matters until the token's next connection
		return a.masterID
	}
	return m.issuer()
}

// SeveralIssuers reports whether there is more than one issuer, the local admin API aside. A Service
// without an [Index] knows those of its configuration alone. It does not block.
func (s *Service) SeveralIssuers() bool {
	known := s.knownIssuers()
	if c := s.several.Load(); c != nil && c.known == known {
		return c.is
	}
	n := len(known.names)
	for name := range s.staticIssuers {
		if known.names[name] == 0 {
			n++
		}
	}
	s.several.Store(&severalOf{known, n > 1})
	return n > 1
}

// severalOf is what SeveralIssuers says as long as these issuers are known.
type severalOf struct {
	known *issuers
	is    bool
}

// OwnerOf returns the issuer with the longest prefix that a tenant's name begins with; empty: there
// is none. It does not block.
func (s *Service) OwnerOf(tenant string) string {
	known := s.knownIssuers()
	for n := min(len(tenant), MaxPrefix); n > 0; n-- {
		if name := tenant[:n]; !isAlphanumeric(name[n-1]) && (known.names[name] > 0 || s.staticIssuers[name]) {
			return name
		}
	}
	return ""
}

var noIssuers issuers

func (s *Service) knownIssuers() *issuers {
	if s.index == nil {
		return &noIssuers
	}
	return s.index.known.Load()
}
