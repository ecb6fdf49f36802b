package nats

import (
	"context"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/tokenstore"
)

// Create implements [tokenstore.Store].
func (s *Store) Create(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	err = s.withAccess(ctx, rec.Kind, func(ctx context.Context) error {
		version, err = s.write(ctx, rec, 0)
		if !isConflict(err) {
			return err
		}
		before, err := s.awaitNewer(ctx, s.subject(rec.Kind, rec.ID), 0)
		switch {
		case err != nil:
			return err
		case before == nil || !before.deleted:
			return tokenstore.ErrExists
		}
		if version, err = s.write(ctx, rec, before.revision); isConflict(err) {
			err = tokenstore.ErrExists // another writer was faster
		}
		return err
	})
	return version, err
}

// Update implements [tokenstore.Store].
func (s *Store) Update(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	err = s.withAccess(ctx, rec.Kind, func(ctx context.Context) error {
		expected, err := s.checkVersion(ctx, rec.Kind, rec.ID, rec.Version)
		if err != nil {
			return err
		}
		if version, err = s.write(ctx, rec, expected); err == nil {
			revision, _ := s.mirror.revision(version)
			s.notifyChange(tokenstore.Change{Record: rec}, revision)
		}
		return s.explainConflict(ctx, rec.Kind, rec.ID, expected, err)
	})
	return version, err
}

// write publishes a record if the last revision of its subject is the expected one,
// 0: it has none, and brings it into the copy.
func (s *Store) write(ctx context.Context, rec tokenstore.Record, expected uint64) (uint64, error) {
	value := encode(rec)
	revision, err := s.publish(ctx, &client.Msg{Subject: s.subject(rec.Kind, rec.ID), Data: value}, expected)
	if err != nil {
		return 0, err
	}
	stored, err := decode(rec.Kind, rec.ID, value, revision)
	if err != nil {
		return 0, err
	}
	return s.mirror.put(stored, 0), nil
}

// Delete implements [tokenstore.Store].
func (s *Store) Delete(ctx context.Context, kind tokenstore.Kind, id string, version uint64) error {
	return s.withAccess(ctx, kind, func(ctx context.Context) error {
		expected, err := s.checkVersion(ctx, kind, id, version)
		if err != nil {
			return err
		}
		marker := client.NewMsg(s.subject(kind, id))
		marker.Header.Set(operationHeader, "DEL")
		revision, err := s.publish(ctx, marker, expected)
		if err != nil {
			return s.explainConflict(ctx, kind, id, expected, err)
		}
		s.mirror.remove(kind, id, revision)
		s.notifyChange(tokenstore.Change{Record: tokenstore.Record{Kind: kind, ID: id}, Deleted: true}, revision)
		return nil
	})
}

// checkVersion returns the revision of a version. It tells ErrNotFound and ErrConflict
// apart before the write, since the bucket refuses both alike.
func (s *Store) checkVersion(ctx context.Context, kind tokenstore.Kind, id string, version uint64) (revision uint64, err error) {
	rec, ok := s.mirror.get(kind, id)
	if !ok {
		m, err := s.lastMessage(ctx, s.subject(kind, id))
		if err == nil {
			err = s.applyLatest(kind, id, m)
		}
		if err != nil {
			return 0, err
		}
		if rec, ok = s.mirror.get(kind, id); !ok {
			return 0, tokenstore.ErrNotFound
		}
	}
	if _, ok = s.mirror.revision(rec.Version); !ok { // of a bucket that was replaced
		m, err := s.lastMessageWithTimeout(ctx, s.subject(kind, id))
		switch {
		case err != nil:
			return 0, err
		case m == nil || m.deleted:
			return 0, tokenstore.ErrNotFound
		}
		if err := s.applyLatest(kind, id, m); err != nil {
			return 0, err
		}
		return 0, tokenstore.ErrConflict
	}
	if version < rec.Version {
		return 0, tokenstore.ErrConflict
	}
	revision, _ = s.mirror.revision(version)
	return revision, nil
}

// explainConflict returns the error for a write that was refused because the revision
// was not the expected one. Afterwards the copy has the write that won.
func (s *Store) explainConflict(ctx context.Context, kind tokenstore.Kind, id string, expected uint64, err error) error {
	if !isConflict(err) {
		return err
	}
	m, err := s.awaitNewer(ctx, s.subject(kind, id), expected)
	if err == nil {
		err = s.applyLatest(kind, id, m)
	}
	switch {
	case err != nil:
		return err
	case m == nil || m.deleted:
		return tokenstore.ErrNotFound
	}
	return tokenstore.ErrConflict
}
