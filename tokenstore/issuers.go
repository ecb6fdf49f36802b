package tokenstore

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"
	"time"
)

// Who issues tokens is an issuer: a master token, or all master tokens that have one tenant prefix,
// which nobody can tell apart from outside. An edge accounts for issuers, because a master token
// makes as many tokens and tenants as it likes (docs/decisions/0031-issuers.md).

// storedIssuers are those that the master tokens of a store make up. They never change.
type storedIssuers struct {
	complete bool              // false: the store has not been read yet
	byMaster map[string]string // issuer by id of the master token
}

// issuers are those of an edge: of its configuration, and of the store. They never change.
type issuers struct {
	stored   *storedIssuers
	byMaster map[string]string // issuer by id of the master token
	names    map[string]bool

	generation uint64
}

// issuerGenerations counts the issuers that there were in this process.
var issuerGenerations atomic.Uint64

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
	if x.known.Load().complete {
		x.publishMasters()
	}
}

// publishMasters makes what is known of master tokens visible. The caller holds x.mu.
func (x *Index) publishMasters() {
	maps.DeleteFunc(x.masters, func(_ string, m indexedMaster) bool { return m.issuer == "" })
	known := &storedIssuers{complete: true, byMaster: make(map[string]string, len(x.masters))}
	for id, m := range x.masters {
		known.byMaster[id] = m.issuer
	}
	x.known.Store(known)
}

// mastersPatience is how long IssuerOf waits for the master tokens to be read.
const mastersPatience = time.Second

// awaitMasters waits until the master tokens have been read, or cannot be read: not for long.
func (x *Index) awaitMasters(ctx context.Context) {
	if x.known.Load().complete {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mastersPatience)
	defer cancel()
	x.mu.Lock()
	attempt := x.attempt
	x.mu.Unlock()
	select {
	case <-x.mastersRead:
	case <-attempt.failed:
	case <-ctx.Done():
	}
}

// IssuerOf returns who issued a token: the prefix of its master token, or the id of one that has none;
// for what the local admin API issued, nothing. A token of a master token that is deleted counts for the
// owner of all its tenants, if one has them all: so nobody has a share for each master token it had.
//
// When the edge starts, it waits a moment for the [Index] to read the master tokens: what comes before it
// is known that there are several issuers would have no share.
func (s *Service) IssuerOf(ctx context.Context, a *Access) string {
	if a.masterID == "" {
		return ""
	}
	if s.index != nil {
		s.index.awaitMasters(ctx)
	}
	known := s.issuers()
	if name, ok := known.byMaster[a.masterID]; ok {
		return name
	}
	if !known.stored.complete {
		if m, err := s.master(ctx, a.masterID, s.localGet()); err == nil {
			return m.issuer()
		}
	}
	owner := ""
	for i, tenant := range a.Tenants {
		if next := s.OwnerOf(tenant); i == 0 {
			owner = next
		} else if next != owner {
			owner = ""
		}
	}
	return cmp.Or(owner, a.masterID)
}

// SeveralIssuers reports whether there is more than one issuer, the local admin API aside. A Service
// without an [Index] knows those of its configuration alone. It does not block.
func (s *Service) SeveralIssuers() bool { return len(s.issuers().names) > 1 }

// OwnerOf returns the issuer with the longest prefix that a tenant's name begins with; empty: there
// is none. It does not block.
func (s *Service) OwnerOf(tenant string) string {
	names := s.issuers().names
	for n := min(len(tenant), MaxPrefix); n > 0; n-- {
		if name := tenant[:n]; !isAlphanumeric(name[n-1]) && names[name] {
			return name
		}
	}
	return ""
}

// Generation returns another number, of all Services of this process, whenever SeveralIssuers or OwnerOf may return
// something else than before. It does not block.
func (s *Service) Generation() uint64 { return s.issuers().generation }

var noIssuers storedIssuers

// issuers returns those that are known now. A master token of the configuration hides one of the store.
func (s *Service) issuers() *issuers {
	stored := &noIssuers
	if s.index != nil {
		stored = s.index.known.Load()
	}
	if known := s.known.Load(); known != nil && known.stored == stored {
		return known
	}
	known := &issuers{stored, make(map[string]string, len(stored.byMaster)+len(s.static)), map[string]bool{}, issuerGenerations.Add(1)}
	maps.Copy(known.byMaster, stored.byMaster)
	for id, m := range s.static {
		known.byMaster[id] = m.issuer()
	}
	for _, name := range known.byMaster {
		known.names[name] = true
	}
	s.known.Store(known)
	return known
}

type payerKey struct{}

// WithPayer returns a context for calls of a [Store] for an issuer. Stores that make few calls at a time
// divide them among those who pay.
func WithPayer(ctx context.Context, issuer string) context.Context {
	return context.WithValue(ctx, payerKey{}, issuer)
}

// PayerOf returns for whom a [Store] is called; empty: for the operator, or for a client.
func PayerOf(ctx context.Context) string {
	issuer, _ := ctx.Value(payerKey{}).(string)
	return issuer
}
