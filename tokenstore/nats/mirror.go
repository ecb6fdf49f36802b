package nats

import (
	"slices"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/millrace/millrace/tokenstore"
)

// mirror is the copy of the bucket. What it takes has revisions of the bucket;
// what it gives has versions, which go on to grow where another bucket takes the
// place of the first. All methods may be called concurrently.
type mirror struct {
	watchers tokenstore.Watchers
	now      func() time.Time

	mu      sync.Mutex // held while watchers are called: so they see changes in order
	base    uint64     // what a version is above its revision
	top     uint64     // the highest version so far
	entries map[entryKey]entry
	sorted  map[tokenstore.Kind]*btree.BTreeG[string] // ids of what is not deleted
}

type entryKey struct {
	kind tokenstore.Kind
	id   string
}

// entry is the latest known state of a key. A deleted one is kept for a while, so
// that nothing older brings it back that was read before and arrives after it.
type entry struct {
	record  tokenstore.Record
	deleted time.Time // when; zero: it is not
	round   uint64    // of the last full reading that has seen it
}

// keepDeleted is longer than any call to the bucket takes.
const keepDeleted = time.Minute

func newMirror() *mirror {
	return &mirror{now: time.Now, entries: map[entryKey]entry{}, sorted: map[tokenstore.Kind]*btree.BTreeG[string]{}}
}

// version returns that of a revision. The caller holds m.mu.
func (m *mirror) version(revision uint64) uint64 {
	v := m.base + revision
	m.top = max(m.top, v)
	return v
}

// revision returns that of a version; ok is false for one of an earlier bucket.
func (m *mirror) revision(version uint64) (revision uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return version - m.base, version > m.base
}

// put takes a record that the bucket has, whose Version is the revision, and
// returns its version.
func (m *mirror) put(rec tokenstore.Record, round uint64) (version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec.Version = m.version(rec.Version)
	key := entryKey{rec.Kind, rec.ID}
	old, known := m.entries[key]
	if known && old.record.Version >= rec.Version {
		old.round = max(old.round, round)
		m.entries[key] = old
		return rec.Version
	}
	if !known || !old.deleted.IsZero() {
		m.idsOf(rec.Kind).ReplaceOrInsert(rec.ID)
	}
	m.entries[key] = entry{record: rec, round: max(old.round, round)}
	m.watchers.Notify(tokenstore.Change{Record: clone(rec)})
	return rec.Version
}

// remove takes the revision with which a record was deleted.
func (m *mirror) remove(kind tokenstore.Kind, id string, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	key := entryKey{kind, id}
	old, known := m.entries[key]
	if known && old.record.Version >= version {
		return
	}
	m.drop(key, version)
}

// drop notes that a record is deleted. The caller holds m.mu.
func (m *mirror) drop(key entryKey, version uint64) {
	old, known := m.entries[key]
	if known && old.deleted.IsZero() {
		m.notifyDeleted(old.record, version)
		m.idsOf(key.kind).Delete(key.id)
	}
	m.entries[key] = entry{record: tokenstore.Record{Kind: key.kind, ID: key.id, Version: version}, deleted: m.now(), round: old.round}
}

// notifyDeleted tells of a deletion, unless the record may be forgotten. The
// caller holds m.mu.
func (m *mirror) notifyDeleted(rec tokenstore.Record, version uint64) {
	if forgotten(rec, m.now()) {
		return
	}
	rec = clone(rec)
	rec.Version = version
	m.watchers.Notify(tokenstore.Change{Record: rec, Deleted: true})
}

// unseen returns what a full reading up to a revision has not seen.
func (m *mirror) unseen(round, revision uint64) (list []entryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	for key, e := range m.entries {
		if e.round < round && e.record.Version <= version && e.deleted.IsZero() {
			list = append(list, key)
		}
	}
	return list
}

// gone drops what a full reading up to a revision has not seen, and nobody has
// written since.
func (m *mirror) gone(key entryKey, round, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	if e := m.entries[key]; e.round < round && e.record.Version <= version && e.deleted.IsZero() {
		m.drop(key, version)
	}
}

// rebase makes everything older than what another bucket has.
func (m *mirror) rebase() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.base = m.top
}

// tidy forgets what was deleted long ago.
func (m *mirror) tidy() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, e := range m.entries {
		if !e.deleted.IsZero() && m.now().Sub(e.deleted) > keepDeleted {
			delete(m.entries, key)
		}
	}
}

// get returns a record.
func (m *mirror) get(kind tokenstore.Kind, id string) (tokenstore.Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.entries[entryKey{kind, id}]
	if !known || !e.deleted.IsZero() {
		return tokenstore.Record{}, false
	}
	return clone(e.record), true
}

// idsOf returns the ids of a kind. The caller holds m.mu.
func (m *mirror) idsOf(kind tokenstore.Kind) *btree.BTreeG[string] {
	ids := m.sorted[kind]
	if ids == nil {
		ids = btree.NewOrderedG[string](32)
		m.sorted[kind] = ids
	}
	return ids
}

// ids returns the first ids of a kind above after, in order, at most most. The
// others who use the copy wait meanwhile.
func (m *mirror) ids(kind tokenstore.Kind, after string, most int) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idsOf(kind).AscendGreaterOrEqual(after, func(id string) bool {
		if id != after {
			list = append(list, id)
		}
		return len(list) < most
	})
	return list
}

// forgettable returns records that may be forgotten.
func (m *mirror) forgettable() (list []tokenstore.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.deleted.IsZero() && forgotten(e.record, m.now()) {
			list = append(list, e.record)
		}
	}
	return list
}

func forgotten(rec tokenstore.Record, now time.Time) bool {
	return !rec.DeleteAfter.IsZero() && !now.Before(rec.DeleteAfter)
}

func clone(rec tokenstore.Record) tokenstore.Record {
	rec.Value = slices.Clone(rec.Value)
	return rec
}
