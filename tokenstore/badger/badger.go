package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// ErrInUse is returned by Open when the directory is open already. A Badger
// directory belongs to one process, and there to one Store.
var ErrInUse = errors.New("already open by another process")

const (
	// versionLease is how many versions are reserved with one write. A crash loses
	// those that were not used, which is harmless.
	versionLease = 1000
	lockCount    = 64
)

// Layout: a record is stored under | u8 kind | id |, its value is
// | u64 version | value |. Its DeleteAfter is Badger's expiry. The key 0 holds
// the first version that is not reserved yet, and formatKey the format of all this.
const versionLen = 8

var sequenceKey = []byte{0}

// A Store is a [tokenstore.Store] in a directory. Open makes one.
type Store struct {
	dir      string
	log      *zap.Logger
	watchers tokenstore.Watchers
	space    *space
	wal      wal
	unlock   func() error // of the directory

	// locks serialise the writes to one id, its watchers included; different
	// ids write at the same time, and Badger syncs them together.
	locks [lockCount]sync.Mutex
	seed  maphash.Seed

	stop context.CancelFunc
	done chan struct{} // closed when maintain has ended

	calls    sync.RWMutex // held for reading by each call; guards the rest
	closed   bool
	db       *badger.DB       // nil: there is no database yet, and no room to make one
	versions *badger.Sequence // nil: the database is open read-only, or not at all
}

// Config is what a store needs.
type Config struct {
	// Dir is the store's directory, which is made when needed, readable for this
	// user alone.
	Dir string
	// Reserve is how many bytes the file system must have free for the store to
	// accept changes, at least MinReserve. With less the store can be read, but
	// changes fail with [tokenstore.ErrInsufficientStorage]; it accepts them again
	// when 64 MiB more than the reserve are free. 0: room is not checked, and a full
	// disk ends the process. [DefaultReserve] suits most.
	Reserve int64
	// Log gets what goes wrong; nil discards it.
	Log *zap.Logger
}

// Open opens the store in a directory. It returns [ErrInUse] if the directory is open
// already. On a disk with less room than the reserve the store opens, too, and accepts
// changes as soon as there is room.
func Open(c Config) (*Store, error) {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	s := &Store{
		dir: c.Dir, log: c.Log, seed: maphash.MakeSeed(),
		space: &space{dir: c.Dir, log: c.Log, writable: true},
		done:  make(chan struct{}),
	}
	s.wal = wal{dir: c.Dir, space: s.space}
	s.space.reserve.Store(c.Reserve)
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	var err error
	if s.unlock, err = lockDir(c.Dir); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.unlock())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go s.maintain(ctx)
	return s, nil
}

// SetReserve changes [Config.Reserve].
func (s *Store) SetReserve(bytes int64) { s.space.reserve.Store(bytes) }

// Writable implements [tokenstore.SpaceReporter].
func (s *Store) Writable() bool {
	s.calls.RLock()
	defer s.calls.RUnlock()
	return !s.closed && s.space.check(s.versions == nil) == nil
}

// enter admits a call unless the store is closed. Close waits for leave.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.calls.RLock()
	if s.closed {
		s.calls.RUnlock()
		return nil, tokenstore.ErrClosed
	}
	return s.calls.RUnlock, nil
}

// enterWrite is enter for a change, which needs room on the disk.
func (s *Store) enterWrite(ctx context.Context) (leave func(), err error) {
	leave, err = s.enter(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.space.check(s.versions == nil); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// Close implements [tokenstore.Store].
func (s *Store) Close() error {
	s.calls.Lock()
	wasClosed := s.closed
	s.closed = true
	s.calls.Unlock()
	if wasClosed {
		return nil
	}
	s.stop()
	<-s.done
	return errors.Join(s.closeDatabase(), s.unlock())
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
	if s.db == nil {
		return rec, tokenstore.ErrNotFound
	}
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
	if s.db == nil {
		return nil
	}
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
	return decode(key, stored, item.ExpiresAt())
}

// decode reads a record, which keeps a reference to stored. end is its DeleteAfter in
// seconds since 1970; 0: never.
func decode(key, stored []byte, end uint64) (tokenstore.Record, error) {
	rec := tokenstore.Record{Kind: tokenstore.Kind(key[0]), ID: string(key[1:])}
	if len(stored) < versionLen {
		return rec, fmt.Errorf("token store: the record of %s token %s is damaged", rec.Kind, rec.ID)
	}
	rec.Version = binary.BigEndian.Uint64(stored)
	rec.Value = stored[versionLen:]
	if end != 0 {
		rec.DeleteAfter = time.Unix(int64(end), 0).UTC()
	}
	return rec, nil
}

var (
	_ tokenstore.Store         = (*Store)(nil)
	_ tokenstore.SpaceReporter = (*Store)(nil)
)
