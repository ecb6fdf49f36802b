package storetest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/millrace/millrace/tokenstore"
)

// NewMemory returns a Store for tests. It forgets everything with the process,
// and keeps records past their DeleteAfter.
func NewMemory() tokenstore.Store {
	return &memory{records: make(map[key]tokenstore.Record)}
}

type key struct {
	kind tokenstore.Kind
	id   string
}

type memory struct {
	watchers tokenstore.Watchers

	mu      sync.Mutex // held while watchers are called, so that they see changes in order
	records map[key]tokenstore.Record
	version uint64 // the last one given out, to any record
	closed  bool
}

// enter locks the store for one call, unless the store is closed; leave unlocks it.
func (m *memory) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, tokenstore.ErrClosed
	}
	return m.mu.Unlock, nil
}

func (m *memory) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	rec, ok := m.records[key{kind, id}]
	if !ok {
		return tokenstore.Record{}, tokenstore.ErrNotFound
	}
	return clone(rec), nil
}

func (m *memory) Create(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if _, ok := m.records[key{rec.Kind, rec.ID}]; ok {
		return 0, tokenstore.ErrExists
	}
	return m.put(rec), nil
}

func (m *memory) Update(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if _, err := m.current(rec.Kind, rec.ID, rec.Version); err != nil {
		return 0, err
	}
	return m.put(rec), nil
}

func (m *memory) Delete(ctx context.Context, kind tokenstore.Kind, id string, version uint64) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	rec, err := m.current(kind, id, version)
	if err != nil {
		return err
	}
	delete(m.records, key{kind, id})
	m.version++
	rec.Version = m.version
	m.watchers.Notify(tokenstore.Change{Record: rec, Deleted: true})
	return nil
}

// current returns the record if it still has this version. The caller has entered.
func (m *memory) current(kind tokenstore.Kind, id string, version uint64) (tokenstore.Record, error) {
	rec, ok := m.records[key{kind, id}]
	switch {
	case !ok:
		return rec, tokenstore.ErrNotFound
	case rec.Version != version:
		return rec, tokenstore.ErrConflict
	}
	return rec, nil
}

// put stores a record with a new version. The caller has entered.
func (m *memory) put(rec tokenstore.Record) uint64 {
	rec = clone(rec)
	m.version++
	rec.Version = m.version
	m.records[key{rec.Kind, rec.ID}] = rec
	m.watchers.Notify(tokenstore.Change{Record: clone(rec)})
	return rec.Version
}

func (m *memory) Scan(ctx context.Context, kind tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	records := maps.Clone(m.records)
	leave()
	var ids []string
	for k := range records {
		if k.kind == kind && k.id > after {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !fn(clone(records[key{kind, id}])) {
			return nil
		}
	}
	return nil
}

func (m *memory) Watch(fn func(tokenstore.Change)) (stop func()) { return m.watchers.Add(fn) }

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func clone(rec tokenstore.Record) tokenstore.Record {
	rec.Value = slices.Clone(rec.Value)
	return rec
}
