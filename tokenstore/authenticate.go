package tokenstore

import (
	"context"
	"errors"
	"strings"
	"time"
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
		return nil, malformed(token)
	}
	c, err := s.load(ctx, id, get)
	switch {
	case err != nil:
		return nil, unauthorized(id, err)
	case !c.hash.matches(secret):
		return nil, &UnauthorizedError{Reason: "the secret of the token is wrong", TokenID: c.ID, Access: c}
	}
	return s.unlessEnded(c)
}

// malformed says of a text that it is no access token.
func malformed(token string) error {
	reason := "the token has not the form of an access token, AT_, 32 hex digits, _ and 32 hex digits: is it complete?"
	switch {
	case token == "":
		reason = "the client sent no token"
	case strings.HasPrefix(token, masterPrefix):
		reason = "the client sent a master token, where an access token is needed"
	}
	return &UnauthorizedError{Reason: reason}
}

// unlessEnded returns a token whose secret the caller has, unless it is expired or revoked.
func (s *Service) unlessEnded(c *Access) (*Access, error) {
	switch {
	case c.revoked:
		return nil, &UnauthorizedError{Reason: "the token is revoked", Rule: "revoked", TokenID: c.ID, Access: c, Ended: EndedRevoked}
	case !s.now().Before(c.ExpiresAt):
		at := c.ExpiresAt.Format(time.RFC3339)
		return nil, &UnauthorizedError{
			Reason: "the token expired at " + at + "; it is " + s.now().UTC().Format(time.RFC3339) + " at this edge",
			Rule:   "right.expires_at " + at, TokenID: c.ID, Access: c, Ended: EndedExpired,
		}
	}
	return c, nil
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
		return nil, unauthorized(tokenID, err)
	}
	return s.unlessEnded(c)
}

func unauthorized(id string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return &UnauthorizedError{Reason: noSuchToken, TokenID: strings.Clone(id)}
	}
	return err
}

const noSuchToken = "there is no token with this id (an expired one is forgotten after a day)"

// load reads a token from the store and compiles it, unless this version of it is in memory.
func (s *Service) load(ctx context.Context, id string, get getter) (*Access, error) {
	rec, err := get(ctx, KindAccess, id)
	if err != nil {
		return nil, err
	}
	if a := s.cache.get(id, rec.Version); a != nil {
		return a, nil
	}
	began := time.Now()
	var r accessRecord
	if err := decode(rec, &r); err != nil {
		return nil, err
	}
	a, err := compile(strings.Clone(id), rec.Version, &r) // without the secret behind it
	if err != nil {
		return nil, err
	}
	if a.Size() >= costlyRight {
		a.cost.Store(int64(max(time.Since(began), 1)))
	}
	return s.cache.add(a), nil
}
