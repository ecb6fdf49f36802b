package tokenstore

import (
	"context"
	"errors"
	"net/netip"
)

// AuthenticateMaster returns the master token that may be used by this caller.
// It returns [ErrBadMasterToken], or [ErrIPNotAllowed] when the master has
// masks and ip is outside of them or not valid. Any other error comes from the
// store.
func (s *Service) AuthenticateMaster(ctx context.Context, token string, ip netip.Addr) (*Master, error) {
	return s.authenticateMaster(ctx, token, ip, s.store.Get)
}

// AuthenticateMasterLocal is [Service.AuthenticateMaster] without asking another
// machine: a master token that was created elsewhere a moment ago may be unknown.
func (s *Service) AuthenticateMasterLocal(ctx context.Context, token string, ip netip.Addr) (*Master, error) {
	return s.authenticateMaster(ctx, token, ip, s.localGet())
}

func (s *Service) authenticateMaster(ctx context.Context, token string, ip netip.Addr, get getter) (*Master, error) {
	id, secret, ok := splitToken(masterPrefix, token)
	if !ok {
		return nil, ErrBadMasterToken
	}
	m, err := s.master(ctx, id, get)
	if errors.Is(err, ErrUnknownMaster) {
		return nil, ErrBadMasterToken
	} else if err != nil {
		return nil, err
	}
	if !m.secret.matches(secret) {
		return nil, ErrBadMasterToken
	}
	masks, err := parseMasks(m.AllowIPMasks)
	if err != nil {
		return nil, err
	}
	if !ipAllowed(masks, ip) {
		return nil, ErrIPNotAllowed
	}
	return &m, nil
}

// Overlay returns the master of the local admin API: it manages every token
// and has no secret, so nobody can authenticate as it.
func (s *Service) Overlay() *Master { return &Master{Name: "overlay", Static: true} }

// master returns a master token by id. A static one hides a stored one.
func (s *Service) master(ctx context.Context, id string, get getter) (Master, error) {
	if m, ok := s.static[id]; ok {
		return m, nil
	}
	rec, err := get(ctx, KindMaster, id)
	if errors.Is(err, ErrNotFound) {
		return Master{}, ErrUnknownMaster
	} else if err != nil {
		return Master{}, err
	}
	var r masterRecord
	if err := decode(rec, &r); err != nil {
		return Master{}, err
	}
	return r.master(id), nil
}

// checkStillValid returns ErrBadMasterToken when m was deleted or rotated, or got another
// prefix, since it authenticated, on any edge.
func (s *Service) checkStillValid(ctx context.Context, m *Master) error {
	if m.Static {
		return nil
	}
	current, err := s.master(ctx, m.ID, s.latestGet())
	if errors.Is(err, ErrUnknownMaster) || err == nil && (current.secret != m.secret || current.TenantPrefix != m.TenantPrefix) {
		return ErrBadMasterToken
	}
	return err
}

// CreateMaster mints a master token; the string is returned here and never
// again. It returns an [*InvalidError] for a spec that breaks a rule.
func (s *Service) CreateMaster(ctx context.Context, spec MasterSpec) (Master, string, error) {
	spec, err := normalizeSpec(spec)
	if err != nil {
		return Master{}, "", err
	}
	token, id, hash := mint(masterPrefix, "")
	r := masterRecord{Hash: hash, CreatedAt: s.nowSeconds(), MasterSpec: spec}
	rec, err := r.encode(id, 0)
	if err != nil {
		return Master{}, "", err
	}
	if _, err := s.store.Create(ctx, rec); err != nil {
		return Master{}, "", err
	}
	return r.master(id), token, nil
}

// ListMasters returns the static master tokens in the order of the
// configuration, then the stored ones by id.
func (s *Service) ListMasters(ctx context.Context) ([]Master, error) {
	masters := make([]Master, 0, len(s.staticOrder))
	for _, id := range s.staticOrder {
		masters = append(masters, s.static[id])
	}
	var decodeErr error
	err := s.store.Scan(ctx, KindMaster, "", func(rec Record) bool {
		if _, hidden := s.static[rec.ID]; hidden {
			return true
		}
		var r masterRecord
		if decodeErr = decode(rec, &r); decodeErr != nil {
			return false
		}
		masters = append(masters, r.master(rec.ID))
		return true
	})
	if err != nil {
		return nil, err
	}
	return masters, decodeErr
}

// UpdateMaster changes the policy of a stored master token. Tokens that it
// issued keep their rights; with another prefix it manages other tokens. It
// returns [ErrUnknownMaster], [ErrStaticMaster] or an [*InvalidError].
func (s *Service) UpdateMaster(ctx context.Context, id string, patch MasterPatch) (Master, error) {
	r, _, err := s.updateMaster(ctx, id, func(r *masterRecord) (err error) {
		spec := r.MasterSpec
		if patch.Name != nil {
			spec.Name = *patch.Name
		}
		if patch.Description != nil {
			spec.Description = *patch.Description
		}
		if patch.TenantPrefix != nil {
			spec.TenantPrefix = *patch.TenantPrefix
		}
		if patch.AllowIPMasks != nil {
			spec.AllowIPMasks = *patch.AllowIPMasks
		}
		if patch.MaxTokens != nil {
			spec.MaxTokens = *patch.MaxTokens
		}
		if patch.MaxBytes != nil {
			spec.MaxBytes = *patch.MaxBytes
		}
		if patch.CallsPerSecond != nil {
			spec.CallsPerSecond = *patch.CallsPerSecond
		}
		r.MasterSpec, err = normalizeSpec(spec)
		return err
	})
	if err != nil {
		return Master{}, err
	}
	return r.master(id), nil
}

// RotateMaster gives a stored master token a new secret under the same id. The
// old one is refused at once. With revokeTokens it then revokes the valid
// tokens that the master issued; when that fails, rotate again. It returns
// [ErrUnknownMaster] or [ErrStaticMaster].
func (s *Service) RotateMaster(ctx context.Context, id string, revokeTokens bool) (m Master, token string, revoked int, err error) {
	token, _, hash := mint(masterPrefix, id)
	r, _, err := s.updateMaster(ctx, id, func(r *masterRecord) error {
		r.Hash = hash
		return nil
	})
	if err != nil {
		return Master{}, "", 0, err
	}
	if revokeTokens {
		if revoked, err = s.revokeIssuedBy(ctx, id); err != nil {
			return Master{}, "", revoked, err
		}
	}
	return r.master(id), token, revoked, nil
}

// DeleteMaster removes a stored master token. Its tokens live on, and are
// managed by other masters whose prefix covers them, unless revokeTokens is
// set. When it fails in the middle, the master cannot be used any more but
// still exists, and DeleteMaster can be repeated. It returns
// [ErrUnknownMaster] or [ErrStaticMaster].
func (s *Service) DeleteMaster(ctx context.Context, id string, revokeTokens bool) (revoked int, err error) {
	for {
		_, version, err := s.updateMaster(ctx, id, func(r *masterRecord) error {
			_, _, r.Hash = mint(masterPrefix, id) // nobody knows this secret
			return nil
		})
		if err != nil {
			return revoked, err
		}
		if revokeTokens {
			n, err := s.revokeIssuedBy(ctx, id)
			revoked += n
			if err != nil {
				return revoked, err
			}
		}
		err = s.store.Delete(ctx, KindMaster, id, version)
		switch {
		case errors.Is(err, ErrConflict):
			continue // a rotation came between: disable it again
		case errors.Is(err, ErrNotFound):
			return revoked, nil // another caller has deleted it
		}
		return revoked, err
	}
}

// revokeIssuedBy revokes the valid tokens that a master issued.
func (s *Service) revokeIssuedBy(ctx context.Context, masterID string) (revoked int, err error) {
	if r, ok := s.store.(Replica); ok { // to see those that another edge issued a moment ago
		if err := r.CatchUp(ctx); err != nil {
			return 0, err
		}
	}
	var ids []string
	err = s.scanAccess(ctx, "", func(id string, r *accessRecord) bool {
		if r.MasterID == masterID && r.status(s.now()) == StatusValid {
			ids = append(ids, id)
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		done, err := s.revoke(ctx, id, func(*accessRecord) bool { return true })
		if err != nil && !errors.Is(err, ErrUnknownToken) {
			return revoked, err
		}
		if done {
			revoked++
		}
	}
	return revoked, nil
}
