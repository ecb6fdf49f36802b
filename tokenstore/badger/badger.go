package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// ErrInUse is returned by Open when the directory is open already. A Badger
// directory belongs to one process, and there to one Store.
var ErrInUse = errors.New("already open by another process")

const (
	gcInterval = 10 * time.Minute
	// leaseSize is how many versions are reserved with one write. A crash
	// loses the rest of them, which is harmless.
	leaseSize = 1000
	lockCount = 64
)

// Layout: a record is stored under | u8 kind | id |, its value is
// | u64 version | value |. Its DeleteAfter is Badger's expiry. The key 0 holds
// the first version that is not reserved yet.
const versionLen = 8

var sequenceKey = []byte{0}

// A Store is a [tokenstore.Store] in a directory. Open makes one.
type Store struct {
	db       *badger.DB
	versions *badger.Sequence
	watchers tokenstore.Watchers

	// locks serialise the writes to one id, its watchers included; different
	// ids write at the same time, and Badger syncs them together.
	locks [lockCount]sync.Mutex
	seed  maphash.Seed

	stopGC context.CancelFunc
	gcDone chan struct{}

	mu      sync.Mutex // guards closed, and running against Close
	closed  bool
	running sync.WaitGroup // calls between enter and leave
}

// Open opens the store in a directory, which it creates when needed, readable
// for this user alone. It returns [ErrInUse] when the directory is open
// already. Warnings and errors of the database go to log; nil discards them.
func Open(dir string, log *zap.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	db, err := badger.Open(databaseOptions(dir, log))
	if err != nil {
		// Badger gives this error no type.
		if strings.Contains(err.Error(), "Cannot acquire directory lock") {
			return nil, fmt.Errorf("token store: %w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("token store %s: %w", dir, err)
	}
	versions, err := db.GetSequence(sequenceKey, leaseSize)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("token store %s: %w", dir, err), db.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Store{
		db: db, versions: versions, seed: maphash.MakeSeed(),
		stopGC: cancel, gcDone: make(chan struct{}),
	}
	go s.collectGarbage(ctx)
	return s, nil
}

// databaseOptions are for a small store: records of about a kilobyte, tens of
// thousands of them, few writes a second. Badger's own defaults take hundreds
// of megabytes of memory.
func databaseOptions(dir string, log *zap.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithNumCompactors(2). // the least that Badger allows
		WithValueLogFileSize(64 << 20).
		// Without compression tables are read in place, so no cache is needed.
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithMetricsEnabled(false).
		WithLogger(newLogger(log))
}

// collectGarbage runs until Close cancels ctx and waits for gcDone.
func (s *Store) collectGarbage(ctx context.Context) {
	defer close(s.gcDone)
	ticker := time.NewTicker(gcInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// Each call rewrites at most one file; an error means that there
			// is no other one worth it, and Badger logs real faults.
			for ctx.Err() == nil && s.db.RunValueLogGC(0.5) == nil {
			}
		}
	}
}

// enter admits a call unless the store is closed. Close waits for leave.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, tokenstore.ErrClosed
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// Close implements [tokenstore.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.running.Wait()
	s.stopGC()
	<-s.gcDone
	return errors.Join(s.versions.Release(), s.db.Close())
}

// Watch implements [tokenstore.Store].
func (s *Store) Watch(fn func(tokenstore.Change)) (stop func()) { return s.watchers.Add(fn) }

// Get implements [tokenstore.Store].
func (s *Store) Get(ctx context.Context, kind tokenstore.Kind, id string) (rec tokenstore.Record, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return rec, err
	}
	defer leave()
	err = s.db.View(func(txn *badger.Txn) error {
		rec, err = get(txn, kind, id)
		return err
	})
	return rec, err
}

// Scan implements [tokenstore.Store].
func (s *Store) Scan(ctx context.Context, kind tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.db.View(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.Prefix = []byte{byte(kind)}
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Seek(keyOf(kind, after)); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			rec, err := read(it.Item())
			if err != nil {
				return err
			}
			if rec.ID == after {
				continue
			}
			if !fn(rec) {
				return nil
			}
		}
		return nil
	})
}

func keyOf(kind tokenstore.Kind, id string) []byte {
	return append([]byte{byte(kind)}, id...)
}

func get(txn *badger.Txn, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	item, err := txn.Get(keyOf(kind, id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return tokenstore.Record{}, tokenstore.ErrNotFound
	} else if err != nil {
		return tokenstore.Record{}, err
	}
	return read(item)
}

// read copies a record out of the database.
func read(item *badger.Item) (tokenstore.Record, error) {
	key := item.Key()
	stored, err := item.ValueCopy(nil)
	if err != nil {
		return tokenstore.Record{}, err
	}
	rec := tokenstore.Record{Kind: tokenstore.Kind(key[0]), ID: string(key[1:])}
	if len(stored) < versionLen {
		return rec, fmt.Errorf("token store: the record of %s token %s is damaged", rec.Kind, rec.ID)
	}
	rec.Version = binary.BigEndian.Uint64(stored)
	rec.Value = stored[versionLen:]
	if end := item.ExpiresAt(); end != 0 {
		rec.DeleteAfter = time.Unix(int64(end), 0).UTC()
	}
	return rec, nil
}

var _ tokenstore.Store = (*Store)(nil)
