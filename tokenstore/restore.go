package tokenstore

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// RestoreOptions say what of a backup is restored.
type RestoreOptions struct {
	MastersOnly bool // no access tokens: apps issue new ones
	DryRun      bool // say what would be done, and change nothing
}

// Restored is what came of a restore, in tokens.
type Restored struct {
	MasterTokens int `json:"master_tokens"` // that the store did not have
	AccessTokens int `json:"access_tokens"` // that it did not have
	Valid        int `json:"valid"`         // of these, those that can be used now: also some that were revoked after the backup
	Kept         int `json:"kept"`          // that it had, and that stay as they are
	Revoked      int `json:"revoked"`       // that it had, and that the backup knows to be revoked
	Expired      int `json:"expired"`       // that expired so long ago that no store keeps them
	Skipped      int `json:"skipped"`       // access tokens, by RestoreOptions.MastersOnly
}

// restoreWriters is how many records are written at a time: stores write those
// together that come together.
const restoreWriters = 64

// Restore adds the records of a backup that the store does not have. What it has is
// never changed, but for tokens that the backup knows to be revoked: these are. So it
// can be repeated, and a restore into a store that is in use undoes no revocation
// that the store knows. It does not know of those that were made after the backup and
// are not in the store.
//
// It returns what it has done, also with an error: [ErrBadBackup] for a backup that is
// not whole, whose records before the fault are restored.
func (s *Service) Restore(ctx context.Context, r io.Reader, o RestoreOptions) (Restored, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		got     Restored
		records = make(chan restorable)
		writers sync.WaitGroup
	)
	for range restoreWriters {
		writers.Go(func() { // ends with records
			for rec := range records {
				count, err := s.restore(ctx, rec, o)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				count(&got)
				mu.Unlock()
			}
		})
	}
	_, err := readBackup(r, func(rec restorable) error {
		select {
		case records <- rec:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(records)
	writers.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return got, err
}

// restore restores one record, and returns how that counts.
func (s *Service) restore(ctx context.Context, rec restorable, o RestoreOptions) (func(*Restored), error) {
	now := s.now()
	access := rec.Kind == KindAccess
	_, err := s.store.Get(ctx, rec.Kind, rec.ID) // an edge that only reads can say so much
	if errors.Is(err, ErrNotFound) {
		switch {
		case access && !now.Before(rec.DeleteAfter):
			return func(r *Restored) { r.Expired++ }, nil
		case access && o.MastersOnly:
			return func(r *Restored) { r.Skipped++ }, nil
		}
		if err = nil; !o.DryRun {
			_, err = s.store.Create(ctx, rec.Record)
		}
		if err == nil {
			valid := access && rec.status == StatusValid && now.Before(rec.until)
			return func(r *Restored) { r.created(access, valid) }, nil
		}
	}
	switch {
	case err != nil && !errors.Is(err, ErrExists):
		return nil, err
	case rec.status != StatusRevoked:
		return func(r *Restored) { r.Kept++ }, nil
	}
	revoked := false
	err = s.changeAccess(ctx, rec.ID, func(r *accessRecord) error {
		if revoked = r.RevokedAt == nil; !revoked || o.DryRun {
			return errUnchanged
		}
		at := now.UTC().Truncate(time.Second)
		r.RevokedAt = &at
		return nil
	})
	if err != nil && !errors.Is(err, ErrUnknownToken) {
		return nil, err
	}
	return func(r *Restored) {
		if revoked {
			r.Revoked++
		} else {
			r.Kept++
		}
	}, nil
}

func (r *Restored) created(access, valid bool) {
	switch {
	case !access:
		r.MasterTokens++
		return
	case valid:
		r.Valid++
	}
	r.AccessTokens++
}
