package nats

import (
	"slices"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/millrace/millrace/tokenstore"
)

// mirror is the copy of the bucket. Its arguments are revisions of the bucket; the
// records that it returns have versions, which keep growing when another bucket
// replaces the first. All methods may be called concurrently.
type mirror struct {
	watchers tokenstore.Watchers
	now      func() time.Time

	mu             sync.Mutex // held while watchers are called, so that they see changes in order
	versionOffset  uint64     // the difference of a version and its revision
	highestVersion uint64     // the highest version so far
	entries        map[entryKey]entry
	laterFormat    map[entryKey]error                        // of these, the ones that a later version has written
	sorted         map[tokenstore.Kind]*btree.BTreeG[string] // ids of the records that are not deleted
	holds          map[entryKey]hold                         // of records that are not deleted
	recent         []change                                  // the last ones that may have ended a right
	oldest         int                                       // of recent, once it has maxRecent
}

type entryKey struct {
	kind tokenstore.Kind
	id   string
}

// entry is the latest known state of a key. A deleted record stays as a tombstone for a
// while, so that an older state, which was read before the deletion and arrives after
// it, does not bring the record back.
type entry struct {
	record    tokenstore.Record
	deletedAt time.Time // when it was deleted; zero: it is not
	err       error     // why it cannot be read; then the record has no value, and counts as deleted except that it stays
	round     uint64    // of the last full reading that has seen the key
}

// tombstoneTTL is how long a tombstone stays: longer than any call to the bucket takes.
const tombstoneTTL = time.Minute

func newMirror() *mirror {
	return &mirror{now: time.Now, entries: map[entryKey]entry{}, laterFormat: map[entryKey]error{},
		sorted: map[tokenstore.Kind]*btree.BTreeG[string]{}, holds: map[entryKey]hold{}}
}

// version returns the version of a revision. The caller holds m.mu.
func (m *mirror) version(revision uint64) uint64 {
	v := m.versionOffset + revision
	m.highestVersion = max(m.highestVersion, v)
	return v
}

// revision returns the revision of a version; ok is false for a version of an earlier
// bucket.
func (m *mirror) revision(version uint64) (revision uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return version - m.versionOffset, version > m.versionOffset
}

// put adds or replaces a record that the bucket has, and returns its version. The
// Version of rec is the revision. If the copy has that state or a newer one, put only
// notes the round.
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
	if !known || !old.deletedAt.IsZero() {
		m.idTree(rec.Kind).ReplaceOrInsert(rec.ID)
	}
	m.entries[key] = entry{record: rec, round: max(old.round, round)}
	delete(m.laterFormat, key)
	if known {
		m.noteChange(key, tokenstore.Change{Record: rec})
	}
	m.watchers.Notify(tokenstore.Change{Record: clone(rec)})
	return rec.Version
}

// remove deletes a record, which the bucket deleted with a revision. It changes
// nothing if the copy has a newer state.
func (m *mirror) remove(kind tokenstore.Kind, id string, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	key := entryKey{kind, id}
	old, known := m.entries[key]
	if known && old.record.Version >= version {
		return
	}
	m.markDeleted(key, version)
}

// markDeleted replaces a record by a tombstone. The caller holds m.mu.
func (m *mirror) markDeleted(key entryKey, version uint64) {
	old, known := m.entries[key]
	if known && old.deletedAt.IsZero() {
		m.noteChange(key, tokenstore.Change{Record: tokenstore.Record{Kind: key.kind, Version: version}, Deleted: true})
		m.notifyDeleted(old.record, version)
		m.idTree(key.kind).Delete(key.id)
	}
	m.entries[key] = entry{record: tokenstore.Record{Kind: key.kind, ID: key.id, Version: version}, deletedAt: m.now(), round: old.round}
	delete(m.laterFormat, key)
}

// notifyDeleted tells the watchers of a deletion, unless the record has expired:
// forgetting that is no change. The caller holds m.mu.
func (m *mirror) notifyDeleted(rec tokenstore.Record, version uint64) {
	if isExpired(rec, m.now()) {
		return
	}
	rec = clone(rec)
	rec.Version = version
	m.watchers.Notify(tokenstore.Change{Record: rec, Deleted: true})
}

// unseen returns the keys that a full reading up to a revision has not seen.
func (m *mirror) unseen(round, revision uint64) (list []entryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	for key, e := range m.entries {
		if e.round < round && e.record.Version <= version && e.isStored() {
			list = append(list, key)
		}
	}
	return list
}

// removeUnseen deletes a record that a full reading up to a revision has not seen,
// unless it was written since.
func (m *mirror) removeUnseen(key entryKey, round, revision uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := m.version(revision)
	if e := m.entries[key]; e.round < round && e.record.Version <= version && e.isStored() {
		m.markDeleted(key, version)
	}
}

// rebase makes every version so far older than any revision of a new bucket.
func (m *mirror) rebase() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versionOffset = m.highestVersion
	m.recent, m.oldest = nil, 0
	clear(m.holds)
}

// pruneTombstones removes the tombstones of records that were deleted long ago.
func (m *mirror) pruneTombstones() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, e := range m.entries {
		if !e.isStored() && m.now().Sub(e.deletedAt) > tombstoneTTL {
			delete(m.entries, key)
		}
	}
}

// get returns a record; ok is false if there is none.
func (m *mirror) get(kind tokenstore.Kind, id string) (rec tokenstore.Record, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.entries[entryKey{kind, id}]
	if !known || !e.deletedAt.IsZero() {
		return tokenstore.Record{}, false
	}
	return clone(e.record), true
}

// idTree returns the ids of a kind, in order. The caller holds m.mu.
func (m *mirror) idTree(kind tokenstore.Kind) *btree.BTreeG[string] {
	ids := m.sorted[kind]
	if ids == nil {
		ids = btree.NewOrderedG[string](32)
		m.sorted[kind] = ids
	}
	return ids
}

// ids returns the first ids of a kind above after, in order, at most limit. Other
// callers wait meanwhile, so a caller should ask for few at a time.
func (m *mirror) ids(kind tokenstore.Kind, after string, limit int) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idTree(kind).AscendGreaterOrEqual(after, func(id string) bool {
		if id != after {
			list = append(list, id)
		}
		return len(list) < limit
	})
	return list
}

// expired returns the records whose DeleteAfter has passed.
func (m *mirror) expired() (list []tokenstore.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.deletedAt.IsZero() && isExpired(e.record, m.now()) {
			list = append(list, e.record)
		}
	}
	return list
}

func isExpired(rec tokenstore.Record, now time.Time) bool {
	return !rec.DeleteAfter.IsZero() && !now.Before(rec.DeleteAfter)
}

func clone(rec tokenstore.Record) tokenstore.Record {
	rec.Value = slices.Clone(rec.Value)
	return rec
}
