package tokenstore

import (
	"context"
	"errors"
	"sync"
)

// getter is [Store.Get], [Replica.GetLocal] or [Replica.GetLatest].
type getter func(ctx context.Context, kind Kind, id string) (Record, error)

// localGet returns the getter that asks no other machine.
func (s *Service) localGet() getter {
	if r, ok := s.store.(Replica); ok {
		return r.GetLocal
	}
	return s.store.Get
}

// latestGet returns the getter whose answer includes every change that was complete
// before the call.
func (s *Service) latestGet() getter {
	if r, ok := s.store.(Replica); ok {
		return r.GetLatest
	}
	return s.store.Get
}

// Authenticate returns the right of an access token that may be used now, or
// [ErrUnauthorized], which is [ErrTokenEnded] for a caller who has the right secret.
// Any other error comes from the store. It costs one Get of the store; connections
// with the same token share one Access.
func (s *Service) Authenticate(ctx context.Context, token string) (*Access, error) {
	return s.authenticate(ctx, token, s.store.Get)
}

// AuthenticateLocal is [Service.Authenticate] without asking another machine: a
// token that was issued elsewhere a moment ago may be unknown.
func (s *Service) AuthenticateLocal(ctx context.Context, token string) (*Access, error) {
	return s.authenticate(ctx, token, s.localGet())
}

func (s *Service) authenticate(ctx context.Context, token string, get getter) (*Access, error) {
	id, secret, ok := splitToken(accessPrefix, token)
	if !ok {
		return nil, ErrUnauthorized
	}
	c, err := s.load(ctx, id, get)
	switch {
	case err != nil:
		return nil, unauthorized(err)
	case !c.hash.matches(secret):
		return nil, ErrUnauthorized
	case c.revoked || !s.now().Before(c.access.ExpiresAt):
		return nil, ErrTokenEnded
	}
	return c.access, nil
}

// Lookup is [Service.Authenticate] by token id, for callers that have checked the
// secret before. A caller that registers a connection reads the token once more
// afterwards, so that it misses no revocation.
func (s *Service) Lookup(ctx context.Context, tokenID string) (*Access, error) {
	if !IsID(tokenID) {
		return nil, ErrUnauthorized
	}
	c, err := s.load(ctx, tokenID, s.store.Get)
	if err != nil {
		return nil, unauthorized(err)
	}
	if c.revoked || !s.now().Before(c.access.ExpiresAt) {
		return nil, ErrTokenEnded
	}
	return c.access, nil
}

func unauthorized(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrUnauthorized
	}
	return err
}

// load reads a token from the store and compiles it, unless this version of it
// was compiled before.
func (s *Service) load(ctx context.Context, id string, get getter) (*compiled, error) {
	rec, err := get(ctx, KindAccess, id)
	if err != nil {
		return nil, err
	}
	if c := s.cache.get(id, rec.Version); c != nil {
		return c, nil
	}
	var r accessRecord
	if err := decode(rec, &r); err != nil {
		return nil, err
	}
	access, err := compile(id, rec.Version, &r)
	if err != nil {
		return nil, err
	}
	c := &compiled{hash: r.Hash, revoked: r.RevokedAt != nil, access: access}
	if len(rec.Value) <= maxCachedRecord {
		s.cache.put(c)
	}
	return c, nil
}

// compiled is one version of an access token, ready for use.
type compiled struct {
	hash    secretHash
	revoked bool
	access  *Access
}

// The bounds of an accessCache. With every token as large as allowed it takes some
// ten megabytes; a typical record has some hundred bytes.
const (
	maxCached       = 1024     // tokens
	maxCachedRecord = 16 << 10 // bytes of the record; larger ones are compiled each time
)

// accessCache keeps the most recently compiled tokens. It cannot be stale: the
// version that was just read from the store selects the entry.
type accessCache struct {
	mu   sync.Mutex
	byID map[string]*compiled
	ring [maxCached]string // ids in order of arrival; the next one replaces the oldest
	next int
}

func (c *accessCache) get(id string, version uint64) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil && e.access.Version == version {
		return e
	}
	return nil
}

func (c *accessCache) put(e *compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = make(map[string]*compiled, maxCached)
	}
	id := e.access.ID
	if _, known := c.byID[id]; !known {
		delete(c.byID, c.ring[c.next])
		c.ring[c.next] = id
		c.next = (c.next + 1) % maxCached
	}
	c.byID[id] = e
}
