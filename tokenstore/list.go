package tokenstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/millrace/millrace/wire"
)

// List returns the tokens that m manages in ascending order of their ids, also
// expired and revoked ones as long as they are kept. next is the cursor of the
// next page, empty after the last one. It returns an [*InvalidError] for
// options out of range.
func (s *Service) List(ctx context.Context, m *Master, opt ListOptions) (tokens []AccessInfo, next string, err error) {
	if opt.Limit == 0 {
		opt.Limit = DefaultListLimit
	}
	switch {
	case opt.Limit < 1 || opt.Limit > MaxListLimit:
		return nil, "", invalid("limit", fmt.Sprintf("must be an integer from 1 to %d", MaxListLimit))
	case opt.Cursor != "" && !isID(opt.Cursor):
		return nil, "", invalid("cursor", "must be the next_cursor of the page before")
	case opt.Tenant != "" && wire.CheckTenant(opt.Tenant) != nil:
		return nil, "", invalid("tenant", tenantRule)
	}
	now := s.now()
	more := false
	err = s.scanAccess(ctx, opt.Cursor, func(id string, r *accessRecord) bool {
		if !manages(m.TenantPrefix, &r.Right) || opt.Tenant != "" && !names(&r.Right, opt.Tenant) {
			return true
		}
		if len(tokens) == opt.Limit {
			more = true
			return false
		}
		tokens = append(tokens, r.info(id, now))
		return true
	})
	if err != nil {
		return nil, "", err
	}
	if more {
		next = tokens[len(tokens)-1].TokenID
	}
	return tokens, next, nil
}

func names(r *Right, tenant string) bool {
	return slices.ContainsFunc(r.TenantGrants, func(g TenantGrant) bool {
		return slices.Contains(g.TenantIDs, tenant)
	})
}

// scanAccess calls fn for the access tokens with an id above after. fn must
// not call the store.
func (s *Service) scanAccess(ctx context.Context, after string, fn func(id string, r *accessRecord) bool) error {
	var broken error
	err := s.store.Scan(ctx, KindAccess, after, func(rec Record) bool {
		var r accessRecord
		if broken = decode(rec, &r); broken != nil {
			return false
		}
		return fn(rec.ID, &r)
	})
	if err != nil {
		return err
	}
	return broken
}
