package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// A hold says that another edge claims to have changed a record with a revision that the copy
// does not have. Nobody is let in with such a record until the bucket's leader has been asked,
// or the copy was confirmed as of a time after the claim. So a claim that is wrong does no
// harm while the leader can be reached.
type hold struct {
	revision uint64
	since    time.Time
	told     bool // that it takes long
}

const (
	// holdGrace is how long sessions go on with a record that is held.
	holdGrace = 250 * time.Millisecond
	// maxRecent is how many of the last changes an edge can name to another one.
	maxRecent = 1024
)

var errHeld = fmt.Errorf("%w: another edge has changed this token, and the bucket does not say how", tokenstore.ErrUnavailable)

// hold holds a record, unless the copy lacks it, or has that revision or a later one. So there
// are no more holds than records.
func (m *mirror) hold(key entryKey, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.entries[key]
	if !known || !e.deletedAt.IsZero() || m.has(e.record.Version, revision) {
		return
	}
	h, held := m.holds[key]
	if !held {
		h.since = m.now()
	}
	h.revision = max(h.revision, revision)
	m.holds[key] = h
}

// has reports whether a version is that of a revision, or of a later one. The revision may be
// one that somebody has made up. The caller holds m.mu.
func (m *mirror) has(version, revision uint64) bool {
	return version > m.versionOffset && version-m.versionOffset >= revision
}

// isHeld reports whether a record is held.
func (m *mirror) isHeld(key entryKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, held := m.holds[key]
	return held
}

// held returns the records that are held, and of these the ones for which that takes long,
// each once.
func (m *mirror) held() (all, overdue []entryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, h := range m.holds {
		all = append(all, key)
		if !h.told && m.now().Sub(h.since) >= holdGrace {
			h.told = true
			m.holds[key] = h
			overdue = append(overdue, key)
		}
	}
	return all, overdue
}

// release ends the holds from before a time at which the copy was what the bucket had.
func (m *mirror) release(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, h := range m.holds {
		if !h.since.After(at) {
			delete(m.holds, key)
		}
	}
}

// change is what one edge tells another of a record.
type change struct {
	Key      string `json:"key"` // in the bucket
	Revision uint64 `json:"revision"`
}

// noteChange is called with each new state of a record that the copy had. It ends a hold, and
// remembers the change if it may end what the record permitted. The caller holds m.mu.
func (m *mirror) noteChange(key entryKey, c tokenstore.Change) {
	if h, held := m.holds[key]; held && m.has(c.Record.Version, h.revision) {
		delete(m.holds, key)
	}
	if !tokenstore.MayEnd(c) {
		return
	}
	latest := change{keyOf(key.kind, key.id), c.Record.Version - m.versionOffset}
	if len(m.recent) < maxRecent {
		m.recent = append(m.recent, latest)
		return
	}
	m.recent[m.oldest] = latest
	m.oldest = (m.oldest + 1) % maxRecent
}

// changesAfter returns what noteChange remembers of the revisions after one.
func (m *mirror) changesAfter(revision uint64) (list []change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.recent {
		if c.Revision > revision {
			list = append(list, c)
		}
	}
	return list
}

// resolveHolds asks the leader about records that are held, until it does not answer.
func (s *Store) resolveHolds(ctx context.Context, held []entryKey) error {
	for _, key := range held {
		limited, done := context.WithTimeout(ctx, fetchTimeout)
		m, err := s.lastMessage(limited, s.subject(key.kind, key.id))
		done()
		if err != nil {
			return err
		}
		_ = s.applyLatest(key.kind, key.id, m) // what cannot be read permits nothing
	}
	return nil
}
