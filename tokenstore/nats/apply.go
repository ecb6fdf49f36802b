package nats

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// confirm notes that the copy was, at a time, what the bucket had.
func (s *Store) confirm(at time.Time) {
	s.freshness.confirm(at)
	s.mirror.release(at)
	s.faults.End(readFault)
	s.lookups.resolveConfirmed(at)
}

// dropUnseen ends a full reading: records that it has not seen are gone. It may not
// have seen a record that was written again and again meanwhile: so the leader is
// asked about each, unless the bucket was replaced. A leader that is behind may say for a
// moment that there is none (see behind.go): so it is asked once more, after that moment.
func (s *Store) dropUnseen(ctx context.Context, round, revision uint64, replaced bool) error {
	unseen := s.mirror.unseen(round, revision)
	for tries := 2; tries > 0 && !replaced && len(unseen) > 0; tries-- {
		none, err := s.refreshAll(ctx, unseen)
		if err != nil {
			return err
		}
		if unseen = none; len(none) == 0 || tries == 1 {
			break
		}
		select {
		case <-time.After(dropDelay):
		case <-ctx.Done():
			return ctx.Err()
		}
		switch b, err := s.bucketState(ctx); {
		case err != nil:
			return err
		case b.lastRevision < revision:
			return errBehind
		}
	}
	for _, key := range unseen {
		s.mirror.removeUnseen(key, round, revision)
	}
	return nil
}

// dropDelay is after how long the leader is asked again about what it does not have.
const dropDelay = time.Second

// refreshAll asks the leader about records, and returns those that it does not have.
func (s *Store) refreshAll(ctx context.Context, keys []entryKey) (none []entryKey, err error) {
	for _, key := range keys {
		m, err := s.lastMessageWithTimeout(ctx, s.subject(key.kind, key.id))
		if err == nil {
			err = s.applyLatest(key.kind, key.id, m)
		}
		if err != nil {
			return nil, err
		}
		if m == nil {
			none = append(none, key)
		}
	}
	return none, nil
}

// apply brings a message of the bucket, which has the key name, into the copy.
func (s *Store) apply(name string, m *message, round uint64) {
	kind, id, ok := splitKey(name)
	if !ok {
		s.log.Error("the bucket has a key that is not ours", zap.String("key", name))
		return
	}
	if m.deleted {
		s.mirror.remove(kind, id, m.revision)
		return
	}
	rec, err := decode(kind, id, m.value, m.revision)
	if err != nil { // what cannot be read permits nothing
		s.log.Error("a token cannot be read", zap.String("key", name), zap.Error(err))
		s.mirror.putUnreadable(kind, id, m.revision, round, err)
		return
	}
	s.mirror.put(rec, round)
}

// applyLatest brings the last message of a record into the copy; nil: there is none.
// Unlike apply, it returns an error for a record that cannot be read.
func (s *Store) applyLatest(kind tokenstore.Kind, id string, m *message) error {
	if m == nil {
		return nil
	}
	if m.deleted {
		s.mirror.remove(kind, id, m.revision)
		return nil
	}
	rec, err := decode(kind, id, m.value, m.revision)
	if err != nil {
		s.mirror.putUnreadable(kind, id, m.revision, 0, err)
		return err
	}
	s.mirror.put(rec, 0)
	return nil
}
