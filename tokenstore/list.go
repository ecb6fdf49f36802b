package tokenstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// List returns the tokens that m manages in ascending order of their ids, also
// expired and revoked ones as long as they are kept. next is the cursor of the
// next page, empty after the last one. A page that is not the last may have fewer
// tokens than the limit, or none: one call returns tokens of 1 MiB, or one, and looks at
// 4,000 records and at 16 MiB of them at most. It returns an [*InvalidError] for options
// out of range, and the errors of TakeTurn.
func (s *Service) List(ctx context.Context, m *Master, opt ListOptions) (tokens []AccessInfo, next string, err error) {
	ctx = WithPayer(ctx, m.issuer())
	if opt.Limit == 0 {
		opt.Limit = DefaultListLimit
	}
	if err := opt.check(); err != nil {
		return nil, "", err
	}
	leave, err := s.TakeTurn(ctx, m)
	if err != nil {
		return nil, "", err
	}
	defer leave()
	p := pager{service: s, master: m, options: opt, now: s.now()}
	if m.TenantPrefix == "" && opt.Subject == "" || s.index == nil {
		err = s.store.Scan(ctx, KindAccess, opt.after(), p.visit)
	} else {
		err = p.visitIndexed(ctx, s.index)
	}
	if err = cmp.Or(err, p.decodeErr); err != nil {
		return nil, "", err
	}
	return p.tokens, p.next, nil
}

// TakeTurn waits until m's issuer has a processor for work that takes it for long: to search lists, or to read large
// requests. It has half of them, so that others find one. leave must follow. The error is [ErrTooManyRequests] if that
// takes too long. Operators wait for nobody.
func (s *Service) TakeTurn(ctx context.Context, m *Master) (leave func(), err error) {
	if m.ID == "" {
		return func() {}, nil
	}
	waiting, done := context.WithTimeout(ctx, turnTimeout)
	defer done()
	giveBack, err := s.turns.Take(waiting, m.issuer(), mostTurns())
	switch {
	case err == nil:
		return func() {
			runtime.Gosched() // else the processor goes to the next call at once, and then to the one after that
			giveBack()
		}, nil
	case ctx.Err() == nil:
		err = fmt.Errorf("%w: others of this issuer take too long", ErrTooManyRequests)
	}
	return nil, err
}

// mostTurns is half of the processors, at least one.
var mostTurns = sync.OnceValue(func() int { return max(1, runtime.GOMAXPROCS(0)/2) })

// AdmitPage waits while as many pages of m's issuer are in memory as may be, for those that List
// returned and whose readers are slow. written must follow when the page is written. It
// returns [ErrTooManyRequests] if that takes too long. Operators wait for nobody.
func (s *Service) AdmitPage(ctx context.Context, m *Master) (written func(), err error) {
	if m.ID == "" {
		return func() {}, nil
	}
	waiting, done := context.WithTimeout(ctx, turnTimeout)
	defer done()
	written, err = s.pages.Take(waiting, m.issuer(), maxPages)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: at most %d pages of tokens at the same time", ErrTooManyRequests, maxPages)
	}
	return written, err
}

const (
	// maxScanned bounds the records that one call of List reads.
	maxScanned = 4 * MaxListLimit
	// maxScannedBytes bounds the bytes of these records, one aside.
	maxScannedBytes = 16 << 20
	// maxListBytes bounds the bytes of the records that one call returns, one aside.
	maxListBytes = 1 << 20
	// maxPages bounds the pages of an issuer that are in memory at a time.
	maxPages = 8
	// turnTimeout bounds how long a call waits for the pages, or the turns, before it.
	turnTimeout = 5 * time.Second
	// yieldBytes is how many bytes of records are visited before others get the processor: some 0.5 ms.
	yieldBytes = 64 << 10
	// indexBatch is how many ids are taken from the index at once.
	indexBatch = 250
)

// pager builds one page of a list.
type pager struct {
	service   *Service
	master    *Master
	options   ListOptions
	now       time.Time
	scanned   int
	read      int    // bytes of the records that were visited
	lastID    string // id of the record that was visited last
	tokens    []AccessInfo
	bytes     int // of their records
	next      string
	decodeErr error
}

// visitIndexed visits the records that the index has for the master.
func (p *pager) visitIndexed(ctx context.Context, x *Index) error {
	for after := p.options.after(); ; {
		ids, err := x.page(ctx, p.master.TenantPrefix, p.options.Subject, after, indexBatch)
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
			if !p.visit(rec) {
				return nil
			}
		}
		if len(ids) < indexBatch {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// visit adds a record to the page if it belongs there, and reports whether the page
// has room for more.
func (p *pager) visit(rec Record) (more bool) {
	if !strings.HasPrefix(rec.ID, p.options.ID) {
		return rec.ID < p.options.ID // those with the prefix stand together
	}
	if p.scanned == maxScanned || p.scanned > 0 && p.read+len(rec.Value) > maxScannedBytes {
		p.next = p.lastID
		return false
	}
	p.scanned++
	if before := p.read; (before+len(rec.Value))/yieldBytes > before/yieldBytes {
		runtime.Gosched()
	}
	p.read += len(rec.Value)
	p.lastID = rec.ID
	if !p.options.mayMatch(rec.Value, p.now) {
		return true
	}
	var r accessRecord
	if p.decodeErr = decode(rec, &r); p.decodeErr != nil {
		return false
	}
	switch {
	case !manages(p.master.TenantPrefix, &r.Right), !p.options.matches(&r, p.now):
		return true
	case len(p.tokens) == p.options.Limit, len(p.tokens) > 0 && p.bytes+len(rec.Value) > maxListBytes:
		p.next = p.tokens[len(p.tokens)-1].TokenID
		return false
	}
	p.tokens = append(p.tokens, r.info(rec.ID, p.now))
	p.bytes += len(rec.Value)
	return true
}

// scanAccess calls fn for the access tokens with an id above after. fn must
// not call the store.
func (s *Service) scanAccess(ctx context.Context, after string, fn func(id string, r *accessRecord) bool) error {
	if err := checkReadable(s.store); err != nil {
		return err
	}
	var decodeErr error
	err := s.store.Scan(ctx, KindAccess, after, func(rec Record) bool {
		var r accessRecord
		if decodeErr = decode(rec, &r); decodeErr != nil {
			return false
		}
		return fn(rec.ID, &r)
	})
	if err != nil {
		return err
	}
	return decodeErr
}
