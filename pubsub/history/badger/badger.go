package badger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/indexed"
)

// ErrInUse is returned by Open when the folder is open already. It belongs to one process,
// and there to one Store.
var ErrInUse = errors.New("already open, by another process or by clients of the configuration before that drain")

// Config is what a store needs.
type Config struct {
	// Dir is the store's folder, made when needed, readable for this user alone.
	Dir string
	// Sync has each commit reach the disk before its messages count as stored.
	Sync bool
	// Reserve is how many bytes the disk must have free for messages to be stored; with
	// less, Append fails with [history.ErrUnavailable]. 0: the disk is not looked at, and a
	// full one may end the process.
	Reserve int64
	// Cache is how many bytes of payloads, the newest, are kept in memory.
	Cache int
	// Log gets what goes wrong; nil discards it.
	Log *zap.Logger
}

// The defaults of [Config].
const (
	DefaultReserve = 256 << 20
	DefaultCache   = 64 << 20
)

const (
	memTableSize = 16 << 20
	tickInterval = time.Second // between looks at what is too old
)

// tune changes the database's options; tests do, so that few messages have many levels.
var tune = func(o badger.Options) badger.Options { return o }

// Store is a [history.Store] on disk. Open makes one.
type Store struct {
	config Config
	log    *zap.Logger
	db     *badger.DB
	answers
	set      *indexed.Set[*kept]
	defining sync.Mutex // held by Define

	sync    atomic.Bool // Config.Sync and Config.Reserve; see SetOptions
	reserve atomic.Int64

	keysOfAll time.Time // until then there may be keys of earlier versions

	queue  *commitQueue
	ended  chan struct{} // closed when the committer has stopped
	commit sync.Mutex    // held while the database is written to

	flushing atomic.Int32 // calls of flushAll
	purging  sync.Mutex   // held by Purge: the database rewrites its files once at a time
	reading  sync.RWMutex // read-locked by transactions that read messages; see erase
}

type answers = indexed.Answers[*kept]

// kept is one history. Its mutex guards the rest, too.
type kept struct {
	indexed.Locked

	forgotten []string       // tenants that the index has forgotten and the database may have
	dead      []deadEntry    // that the index has removed and the database has
	cached    []*index.Entry // with payloads, oldest first; some were removed since
	bytes     int            // of these payloads
	alive     int            // how many of cached have their payloads
}

// deadEntry is a message that is to be removed from the database.
type deadEntry struct {
	tenant, channel string
	n               uint64
	chunks          int // of its payload
}

// Open opens the store in a folder, or makes it. It returns [ErrInUse] if the folder is
// open already. It reads which messages there are: some seconds for each million.
func Open(c Config) (*Store, error) {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("history store: %w", err)
	}
	db, err := badger.Open(tune(badger.DefaultOptions(c.Dir).
		WithSyncWrites(false). // see write, and SetOptions
		WithMemTableSize(memTableSize).
		WithNumMemtables(3).
		WithNumCompactors(2).
		WithValueLogFileSize(1 << 20). // nothing is large enough for it
		WithDetectConflicts(false).    // one goroutine writes
		// Without compression tables are read in place, so no cache is needed.
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithMetricsEnabled(false).
		WithLogger(logger{c.Log})))
	if err != nil {
		if strings.Contains(err.Error(), "Cannot acquire directory lock") { // Badger gives this error no type
			return nil, fmt.Errorf("history store: %w: %s", ErrInUse, c.Dir)
		}
		return nil, fmt.Errorf("history store %s: %w", c.Dir, err)
	}
	s := &Store{config: c, log: c.Log, db: db, queue: newCommitQueue(), ended: make(chan struct{}), keysOfAll: time.Now().Add(history.KeyTime)}
	s.sync.Store(c.Sync)
	s.reserve.Store(c.Reserve)
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("history store %s: %w", c.Dir, err), db.Close())
	}
	go s.run()
	return s, nil
}

// SetOptions changes [Config].Sync and [Config].Reserve.
func (s *Store) SetOptions(sync bool, reserve int64) error {
	s.reserve.Store(reserve)
	return s.set.WhileOpen(func() error { return s.setSync(sync) })
}

func (s *Store) setSync(sync bool) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	if s.sync.Load() == sync {
		return nil
	}
	// The record says what the next process has to expect, so it never promises more than
	// is done.
	if sync {
		if err := s.db.Sync(); err != nil {
			return err
		}
	}
	s.sync.Store(sync)
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte{kindOpen}, s.openRecord(false)) })
	return errors.Join(err, s.db.Sync())
}

func newKept(name string, epoch uint64, l history.Limits) *kept {
	k := &kept{Locked: indexed.Locked{Name: name}}
	k.Index = index.New(epoch, l, func(tenant string, e *index.Entry) {
		k.dead = append(k.dead, deadEntry{tenant, e.Channel(), e.N, chunks(e.Size)})
		if e.Payload != nil {
			k.bytes -= e.Size
			k.alive--
		}
	})
	k.Index.OnForget(func(tenant string) { k.forgotten = append(k.forgotten, tenant) })
	return k
}

// Define implements [history.Store].
func (s *Store) Define(d history.Definition) error {
	s.defining.Lock()
	defer s.defining.Unlock()
	k, err := s.set.Find(d.Name)
	fresh := errors.Is(err, history.ErrUnknown)
	if fresh {
		k, err = newKept(d.Name, s.set.Epoch(), d.Limits), nil
		k.Index.Opened(time.Now())
	}
	if err == nil {
		err = s.set.WhileOpen(func() error { return s.saveDefinition(k, d.Limits, fresh) })
	}
	if err != nil {
		return err
	}
	if fresh {
		s.set.Add(k)
		return nil
	}
	return s.set.SetLimits(k, d.Limits, nil) // the committer removes it from the database
}

func (s *Store) saveDefinition(k *kept, l history.Limits, fresh bool) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	err := s.db.Update(func(txn *badger.Txn) error {
		err := txn.Set(key(kindHistory, k.Name), encodeLimits(l))
		if fresh {
			base := k.baseRecord()
			err = errors.Join(err, txn.Set(base.key, base.value))
		}
		return err
	})
	return unavailable(err)
}

// Close implements [history.Store].
func (s *Store) Close() error {
	if s.queue.close() {
		return nil
	}
	<-s.ended // what was queued is committed
	for s.removeOld(maxRemoved) {
	}
	s.set.Close()
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte{kindOpen}, s.openRecord(true)) })
	return errors.Join(err, s.db.Close())
}

// logger passes Badger's warnings and errors on. They have no keys and no values.
type logger struct{ to *zap.Logger }

func (l logger) Errorf(format string, args ...any) {
	l.to.Error("history store: " + strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (l logger) Warningf(format string, args ...any) {
	l.to.Warn("history store: " + strings.TrimSpace(fmt.Sprintf(format, args...)))
}
func (logger) Infof(string, ...any)  {}
func (logger) Debugf(string, ...any) {}

var (
	_ history.Store          = (*Store)(nil)
	_ history.HealthReporter = (*Store)(nil)
	_ badger.Logger          = logger{}
)
