package tokenstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// List returns the tokens that m manages in ascending order of their ids, also
// expired and revoked ones as long as they are kept. next is the cursor of the
// next page, empty after the last one. A page may have fewer tokens than the limit,
// and none, though it is not the last: one call looks at 4,000 records. It returns
// an [*InvalidError] for options out of range.
func (s *Service) List(ctx context.Context, m *Master, opt ListOptions) (tokens []AccessInfo, next string, err error) {
	if opt.Limit == 0 {
		opt.Limit = DefaultListLimit
	}
	switch {
	case opt.Limit < 1 || opt.Limit > MaxListLimit:
		return nil, "", invalid("limit", fmt.Sprintf("must be an integer from 1 to %d", MaxListLimit))
	case opt.Cursor != "" && !IsID(opt.Cursor):
		return nil, "", invalid("cursor", "must be the next_cursor of the page before")
	case opt.Tenant != "" && wire.CheckTenant(opt.Tenant) != nil:
		return nil, "", invalid("tenant", tenantRule)
	}
	p := pager{service: s, master: m, options: opt, now: s.now()}
	if m.TenantPrefix == "" || s.index == nil {
		err = s.store.Scan(ctx, KindAccess, opt.Cursor, p.take)
	} else {
		err = p.takeIndexed(ctx, s.index)
	}
	if err = cmp.Or(err, p.broken); err != nil {
		return nil, "", err
	}
	return p.tokens, p.next, nil
}

const (
	// maxLookedAt bounds the records that one call of List looks at.
	maxLookedAt = 4 * MaxListLimit
	// indexStep is how many ids are taken from the index at once.
	indexStep = 250
)

// pager makes one page.
type pager struct {
	service  *Service
	master   *Master
	options  ListOptions
	now      time.Time
	lookedAt int
	last     string // the id of the record that was looked at last
	tokens   []AccessInfo
	next     string
	broken   error
}

// takeIndexed takes the records that the index has for the master.
func (p *pager) takeIndexed(ctx context.Context, x *Index) error {
	for after := p.options.Cursor; ; {
		ids, err := x.page(ctx, p.master.TenantPrefix, after, indexStep)
		if err != nil {
			return err
		}
		for _, id := range ids {
			rec, err := p.service.store.Get(ctx, KindAccess, id)
			if errors.Is(err, ErrNotFound) {
				continue // forgotten, or deleted just now
			} else if err != nil {
				return err
			}
			if !p.take(rec) {
				return nil
			}
		}
		if len(ids) < indexStep {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// take looks at a record, and reports whether the page takes more.
func (p *pager) take(rec Record) (more bool) {
	if p.lookedAt == maxLookedAt {
		p.next = p.last
		return false
	}
	p.lookedAt++
	p.last = rec.ID
	// A tenant's name stands in JSON as it is.
	if t := p.options.Tenant; t != "" && !bytes.Contains(rec.Value, []byte(`"`+t+`"`)) {
		return true
	}
	var r accessRecord
	if p.broken = decode(rec, &r); p.broken != nil {
		return false
	}
	switch t := p.options.Tenant; {
	case !manages(p.master.TenantPrefix, &r.Right), t != "" && !names(&r.Right, t):
		return true
	case len(p.tokens) == p.options.Limit:
		p.next = p.tokens[len(p.tokens)-1].TokenID
		return false
	}
	p.tokens = append(p.tokens, r.info(rec.ID, p.now))
	return true
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
