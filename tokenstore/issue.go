package tokenstore

import (
	"context"
	"errors"
	"fmt"
)

// errTokenID refuses a malformed id. It quotes nothing: the caller may have
// sent a whole token by mistake.
func errTokenID(path string) error { return invalid(path, "must be 32 lower-case hex digits") }

// revokedRoom is what a revocation adds to a record, in bytes, at most.
const revokedRoom = 64

// Issue mints an access token with the right of req, its tenants prefixed with
// the prefix of m. It returns an [*InvalidError] for a request that breaks a
// rule, [ErrQuotaExceeded], and [ErrBadMasterToken] when m was deleted, rotated, or
// given another prefix meanwhile. While tokens of the subject are being revoked it waits,
// and returns [ErrSubjectClosing] after some seconds.
func (s *Service) Issue(ctx context.Context, m *Master, req IssueRequest) (Issued, error) {
	ctx = WithPayer(ctx, m.issuer())
	if err := checkLabels(req); err != nil {
		return Issued{}, err
	}
	info, err := normalizeInfo(req.Info)
	if err != nil {
		return Issued{}, err
	}
	right, err := s.normalizeRight(m.TenantPrefix, req.Right)
	if err != nil {
		return Issued{}, err
	}
	right.ExpiresAt, right.ExpiresIn = "", nil
	life, err := Expiry{req.Right.ExpiresAt, req.Right.ExpiresIn}.lifetime("right.", s.now())
	if err != nil {
		return Issued{}, err
	}
	r := accessRecord{
		MasterID: m.ID, CreatedBy: req.CreatedBy, Description: req.Description, Subject: req.Subject, Info: info,
		ExpiresAt: life.ExpiresAt, Right: right,
	}
	var issued Issued
	if req.Subject == "" {
		issued, _, err = s.issue(ctx, m, r)
	} else {
		issued, err = s.issueForSubject(ctx, m, r)
	}
	if err == nil {
		issued.Lifetime = life
	}
	return issued, err
}

// issueForSubject issues a token that has a subject. While a revocation of the subject
// runs, it waits.
func (s *Service) issueForSubject(ctx context.Context, m *Master, r accessRecord) (Issued, error) {
	waiting, done := context.WithTimeout(ctx, issueTimeout) // a slow store is given its time
	defer done()
	for {
		err := s.awaitOpen(waiting, m, r.Subject, &r.Right)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = ErrSubjectClosing
		}
		if err != nil {
			return Issued{}, err
		}
		issued, version, err := s.issue(ctx, m, r)
		if err != nil {
			return Issued{}, err
		}
		// A revocation of the subject may have searched for its tokens before this one was
		// stored. It closed the subject before it searched and reopens it after it was
		// answered, so this read finds it; and nobody has seen the token yet.
		closing, err := s.isClosing(ctx, r.Subject, &r.Right)
		if err == nil && !closing {
			return issued, nil
		}
		removeErr := s.store.Delete(ctx, KindAccess, issued.TokenID, version)
		if errors.Is(removeErr, ErrConflict) || errors.Is(removeErr, ErrNotFound) {
			removeErr = nil // the revocation has found it
		}
		if err = errors.Join(err, removeErr); err != nil {
			return Issued{}, err
		}
	}
}

// issue stores r as a new token, and returns it without its lifetime, and the version of its record.
func (s *Service) issue(ctx context.Context, m *Master, r accessRecord) (Issued, uint64, error) {
	token, id, hash := mint(accessPrefix, "")
	r.Hash, r.CreatedAt = hash, s.nowSeconds()
	rec, err := r.encode(id, 0)
	if err != nil {
		return Issued{}, 0, err
	}
	if len(rec.Value)+revokedRoom > MaxRecord {
		return Issued{}, 0, invalid("right.tenant_grants",
			fmt.Sprintf("must take at most %d bytes when stored, with all prefixes", MaxRecord))
	}
	release, err := s.reserve(ctx, m, rec)
	if err != nil {
		return Issued{}, 0, err
	}
	defer release()
	version, err := s.store.Create(ctx, rec)
	if err != nil {
		return Issued{}, 0, err
	}
	// A rotation or deletion that revokes the master's tokens may have searched for
	// them before this token was stored. It changed the master before it searched, so
	// this check finds the change; and nobody has seen the token yet.
	if err := s.checkStillValid(ctx, m); err != nil {
		return Issued{}, 0, errors.Join(err, s.store.Delete(ctx, KindAccess, id, version))
	}
	return Issued{Token: token, TokenID: id, Tenants: tenantsOf(&r.Right), Subject: r.Subject}, version, nil
}

// tenantsOf returns the tenants that a right names, each once, in its order.
func tenantsOf(r *Right) (tenants []string) {
	seen := make(map[string]bool)
	for _, g := range r.TenantGrants {
		for _, t := range g.TenantIDs {
			if !seen[t] {
				seen[t] = true
				tenants = append(tenants, t)
			}
		}
	}
	return tenants
}

// reserve admits a record under the quota of m.
func (s *Service) reserve(ctx context.Context, m *Master, rec Record) (release func(), err error) {
	q := m.withDefaults(s.quota)
	if m.ID == "" || s.index == nil || q.MaxTokens == 0 && q.MaxBytes == 0 {
		return func() {}, nil
	}
	return s.index.reserve(ctx, m.ID, q, rec.ID, int64(len(rec.Value)))
}

// Refresh moves the end of a token that m manages and that is still valid, and
// returns the new one. It returns an [*InvalidError], [ErrUnknownToken],
// [ErrTokenExpired] or [ErrTokenRevoked]. A revocation always wins over a
// refresh that runs at the same time.
func (s *Service) Refresh(ctx context.Context, m *Master, tokenID string, e Expiry) (Lifetime, error) {
	ctx = WithPayer(ctx, m.issuer())
	if !IsID(tokenID) {
		return Lifetime{}, errTokenID("token_id")
	}
	life, err := e.lifetime("", s.now())
	if err != nil {
		return Lifetime{}, err
	}
	err = s.updateAccess(ctx, tokenID, func(r *accessRecord) error {
		if !manages(m.TenantPrefix, &r.Right) {
			return ErrUnknownToken
		}
		switch r.status(s.now()) {
		case StatusRevoked:
			return ErrTokenRevoked
		case StatusExpired:
			return ErrTokenExpired
		}
		r.ExpiresAt = life.ExpiresAt
		return nil
	})
	if err != nil {
		return Lifetime{}, err
	}
	return life, nil
}

// Revoke ends the token for good and returns its id. Revoking a token that is
// revoked or expired already succeeds. It returns an [*InvalidError] for what
// is no access token, and [ErrUnknownToken] for an unknown id, a wrong secret
// and a token that m does not manage. With any error but the first it returns the
// id as it was sent, for logs.
func (s *Service) Revoke(ctx context.Context, m *Master, token string) (tokenID string, err error) {
	ctx = WithPayer(ctx, m.issuer())
	id, secret, ok := splitToken(accessPrefix, token)
	if !ok {
		return "", invalid("token", "must be a whole access token: AT_, 32 lower-case hex digits, _, 32 more")
	}
	_, err = s.revoke(ctx, id, func(r *accessRecord) bool {
		return r.Hash.matches(secret) && manages(m.TenantPrefix, &r.Right)
	})
	return id, err
}

// revoke revokes a token unless it is revoked already, and reports whether it
// did. An expired token is marked, too: a refresh that found it valid a moment
// ago must not bring it back.
func (s *Service) revoke(ctx context.Context, id string, allowed func(*accessRecord) bool) (done bool, err error) {
	err = s.updateAccess(ctx, id, func(r *accessRecord) error {
		done = false
		if !allowed(r) {
			return ErrUnknownToken
		}
		if r.RevokedAt != nil {
			return errUnchanged
		}
		done = true
		r.RevokedAt = new(s.nowSeconds())
		return nil
	})
	return done && err == nil, err
}
