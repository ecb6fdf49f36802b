package tokenstore

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// RestoreOptions say which part of a backup is restored.
type RestoreOptions struct {
	MastersOnly bool // no access tokens: apps issue new ones
	DryRun      bool // say what would be done, and change nothing
}

// Restored counts the tokens of a restore by what became of them.
type Restored struct {
	MasterTokens int `json:"master_tokens"` // that were added: the store did not have them
	AccessTokens int `json:"access_tokens"` // that were added
	Valid        int `json:"valid"`         // of these, those that can be used now, including any that were revoked after the backup
	Kept         int `json:"kept"`          // that the store had, and that stay as they are
	Revoked      int `json:"revoked"`       // that the store had, and that are revoked because the backup says so
	Expired      int `json:"expired"`       // that expired so long ago that no store keeps them
	Skipped      int `json:"skipped"`       // access tokens, because of RestoreOptions.MastersOnly
}

// restoreWriters is how many records are written at a time: stores combine writes
// that arrive together.
const restoreWriters = 64

// Restore adds the records of a backup that the store does not have. It never changes
// a record that the store has, with one exception: it revokes a token that is revoked
// in the backup. So it can be repeated, and a restore into a store that is in use
// undoes no revocation that the store knows. A revocation after the backup that is not
// in the store either is lost.
//
// It returns what it has done, also with an error: [ErrBadBackup] for a backup that is
// not complete, whose records before the fault are restored.
func (s *Service) Restore(ctx context.Context, r io.Reader, o RestoreOptions) (Restored, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		got     Restored
		records = make(chan backedUpRecord)
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
	_, err := readBackup(r, func(rec backedUpRecord) error {
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

// restore restores one record, and returns a function that counts it.
func (s *Service) restore(ctx context.Context, rec backedUpRecord, o RestoreOptions) (func(*Restored), error) {
	now := s.now()
	access := rec.Kind == KindAccess
	_, err := s.store.Get(ctx, rec.Kind, rec.ID) // works on an edge that only reads, too
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
			valid := access && rec.status == StatusValid && now.Before(rec.expiresAt)
			return func(r *Restored) { r.countCreated(access, valid) }, nil
		}
	}
	switch {
	case err != nil && !errors.Is(err, ErrExists):
		return nil, err
	case rec.status != StatusRevoked:
		return func(r *Restored) { r.Kept++ }, nil
	}
	revoked := false
	err = s.updateAccess(ctx, rec.ID, func(r *accessRecord) error {
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

func (r *Restored) countCreated(access, valid bool) {
	switch {
	case !access:
		r.MasterTokens++
		return
	case valid:
		r.Valid++
	}
	r.AccessTokens++
}
