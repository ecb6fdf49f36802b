package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/tokenstore"
)

// Create implements [tokenstore.Store].
func (s *Store) Create(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	return s.write(ctx, rec, func(_ tokenstore.Record, err error) error {
		switch {
		case err == nil:
			return tokenstore.ErrExists
		case errors.Is(err, tokenstore.ErrNotFound):
			return nil
		}
		return err
	})
}

// Update implements [tokenstore.Store].
func (s *Store) Update(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	return s.write(ctx, rec, func(old tokenstore.Record, err error) error {
		return checkVersion(old, rec.Version, err)
	})
}

// checkVersion passes the result of Get on, or returns ErrConflict if the record has
// another version.
func checkVersion(old tokenstore.Record, version uint64, err error) error {
	if err == nil && old.Version != version {
		return tokenstore.ErrConflict
	}
	return err
}

// write stores rec with a new version when allow accepts the result of Get.
func (s *Store) write(ctx context.Context, rec tokenstore.Record, allow func(old tokenstore.Record, err error) error) (uint64, error) {
	leave, err := s.enterWrite(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	defer s.lock(rec.Kind, rec.ID).Unlock()
	err = s.update(len(rec.ID)+versionLen+len(rec.Value), func(txn *badger.Txn) error {
		if err := allow(get(txn, rec.Kind, rec.ID)); err != nil {
			return err
		}
		if rec.Version, err = s.nextVersion(); err != nil {
			return err
		}
		return txn.SetEntry(entryOf(rec))
	})
	if err != nil {
		return 0, err
	}
	rec.Value = slices.Clone(rec.Value)
	rec.DeleteAfter = wholeSeconds(rec.DeleteAfter)
	s.watchers.Notify(tokenstore.Change{Record: rec})
	return rec.Version, nil
}

// Delete implements [tokenstore.Store].
func (s *Store) Delete(ctx context.Context, kind tokenstore.Kind, id string, version uint64) error {
	leave, err := s.enterWrite(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer s.lock(kind, id).Unlock()
	var rec tokenstore.Record
	err = s.update(len(id), func(txn *badger.Txn) error {
		rec, err = get(txn, kind, id)
		if err := checkVersion(rec, version, err); err != nil {
			return err
		}
		if rec.Version, err = s.nextVersion(); err != nil {
			return err
		}
		return txn.Delete(keyOf(kind, id))
	})
	if err != nil {
		return err
	}
	s.watchers.Notify(tokenstore.Change{Record: rec, Deleted: true})
	return nil
}

// update runs a transaction that writes the given number of bytes. The caller has
// called enterWrite.
func (s *Store) update(bytes int, change func(*badger.Txn) error) error {
	err := s.wal.write(bytes, func() error { return s.db.Update(change) })
	if noSpace(err) {
		return fmt.Errorf("%w: %w", tokenstore.ErrInsufficientStorage, err)
	}
	return err
}

// lock takes the lock of an id.
func (s *Store) lock(kind tokenstore.Kind, id string) *sync.Mutex {
	mu := &s.locks[maphash.Bytes(s.seed, keyOf(kind, id))%lockCount]
	mu.Lock()
	return mu
}

// nextVersion returns a number above all that it returned before, also in earlier
// processes. Badger's own item versions would guarantee that only as long as some item
// with the highest one exists. The caller holds the lock of the id that it writes, so
// the versions of one id grow in the order of its writes.
func (s *Store) nextVersion() (uint64, error) {
	n, err := s.versions.Next()
	if err != nil {
		return 0, fmt.Errorf("token store: reserve versions: %w", err)
	}
	return n + 1, nil // the sequence starts at 0, versions at 1
}

func entryOf(rec tokenstore.Record) *badger.Entry {
	value := make([]byte, 0, versionLen+len(rec.Value))
	value = binary.BigEndian.AppendUint64(value, rec.Version)
	value = append(value, rec.Value...)
	e := badger.NewEntry(keyOf(rec.Kind, rec.ID), value)
	if !rec.DeleteAfter.IsZero() {
		e.ExpiresAt = uint64(max(wholeSeconds(rec.DeleteAfter).Unix(), 1)) // 0 would mean: keep
	}
	return e
}

// wholeSeconds rounds up: a record never vanishes early.
func wholeSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Second - time.Nanosecond).Truncate(time.Second).UTC()
}
