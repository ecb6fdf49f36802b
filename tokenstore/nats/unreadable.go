package nats

import (
	"errors"
	"fmt"

	"github.com/millrace/millrace/tokenstore"
)

// isStored reports whether the bucket has the record, whether or not it can be read.
func (e *entry) isStored() bool { return e.deletedAt.IsZero() || e.err != nil }

// putUnreadable notes that the bucket has a record that cannot be read, and why. To the
// watchers it is deleted: what cannot be read permits nothing. It changes nothing if the
// copy has a newer state.
func (m *mirror) putUnreadable(kind tokenstore.Kind, id string, revision, round uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	key := entryKey{kind, id}
	e, known := m.entries[key]
	if !known || e.record.Version < version {
		m.markDeleted(key, version)
		e = m.entries[key]
		e.err = err
		if errors.Is(err, tokenstore.ErrFormat) {
			m.laterFormat[key] = err
		}
	}
	e.round = max(e.round, round)
	m.entries[key] = e
}

// unreadable returns why a record that the bucket has cannot be read, or nil.
func (m *mirror) unreadable(kind tokenstore.Kind, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[entryKey{kind, id}].err
}

// missing returns the error for a record that the copy does not have.
func (m *mirror) missing(kind tokenstore.Kind, id string) error {
	if err := m.unreadable(kind, id); err != nil {
		return err
	}
	return tokenstore.ErrNotFound
}

// Unreadable implements [tokenstore.UnreadableReporter]. It counts what a later version
// has written, and not what is damaged.
func (s *Store) Unreadable() error {
	s.mirror.mu.Lock()
	defer s.mirror.mu.Unlock()
	n := len(s.mirror.laterFormat)
	for _, err := range s.mirror.laterFormat {
		if n > 1 {
			err = fmt.Errorf("%d tokens cannot be read; one of them: %w", n, err)
		}
		return err
	}
	return nil
}

var _ tokenstore.UnreadableReporter = (*Store)(nil)
