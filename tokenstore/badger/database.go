package badger

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/diskspace"
	"github.com/millrace/millrace/tokenstore"
)

// memTableSize is how many bytes of writes Badger keeps in memory and in a log
// before they become a table. Badger reads the log of an earlier process into that
// much memory: never make it smaller.
const memTableSize = 8 << 20

// databaseOptions are for a small store: records of about a kilobyte, tens of
// thousands of them, few writes a second. Badger's own defaults take hundreds
// of megabytes of memory.
func databaseOptions(dir string, log *zap.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(memTableSize).
		WithNumMemtables(2).
		// The store compacts when there is room, see compact. Badger would do so at any
		// time, and stop writing when it could not.
		WithNumCompactors(0).
		WithNumLevelZeroTables(minTables - 1). // more are worth a compaction
		WithNumLevelZeroTablesStall(math.MaxInt32).
		WithValueLogFileSize(64 << 20).
		// Without compression tables are read in place, so no cache is needed.
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithMetricsEnabled(false).
		WithBypassLockGuard(diskspace.Known). // lockDir has the lock
		WithLogger(newLogger(log))
}

// open opens the database for writing, or read-only if there is no room for that. If
// there is no database yet either, the store is empty until there is room.
func (s *Store) open() error {
	if !s.space.hasRoom(resumeMargin) {
		_ = s.space.check(true)
		return s.openReadOnly()
	}
	db, versions, err := s.openWritable()
	s.db, s.versions = db, versions
	return err
}

func (s *Store) openWritable() (*badger.DB, *badger.Sequence, error) {
	if err := removeLeftovers(s.dir); err != nil {
		return nil, nil, err
	}
	db, err := badger.Open(databaseOptions(s.dir, s.log))
	if err != nil {
		// Badger gives this error no type.
		if strings.Contains(err.Error(), "Cannot acquire directory lock") {
			return nil, nil, fmt.Errorf("token store: %w: %s", ErrInUse, s.dir)
		}
		return nil, nil, s.wrapError(err)
	}
	if err := s.wal.findActive(); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if err := s.writeFormat(db); err != nil { // before anything else is written
		return nil, nil, errors.Join(err, db.Close())
	}
	versions, err := db.GetSequence(sequenceKey, versionLease)
	if err != nil {
		return nil, nil, errors.Join(s.wrapError(err), db.Close())
	}
	return db, versions, nil
}

// openReadOnly opens the database if there is one. That writes nothing.
func (s *Store) openReadOnly() error {
	if _, err := os.Stat(filepath.Join(s.dir, badger.ManifestFilename)); os.IsNotExist(err) {
		return nil // there is no database yet
	}
	if err := removeLeftovers(s.dir); err != nil {
		return err
	}
	logs, err := walFiles(s.dir)
	if err != nil {
		return err
	}
	for range len(logs) + 1 { // each may have to be trimmed once
		// An Open that fails leaves some goroutines and the memory of a log
		// behind. It happens once in the life of a process, after a crash.
		if s.db, err = badger.Open(databaseOptions(s.dir, s.log).WithReadOnly(true)); err == nil {
			if _, err := checkFormat(s.db, s.dir); err != nil {
				return errors.Join(err, s.db.Close())
			}
			return nil
		}
		if err := trimWAL(s.dir, err); err != nil {
			return s.wrapError(err)
		}
	}
	return s.wrapError(err)
}

// reopen opens the database for writing if there is room now. Calls go on meanwhile:
// nothing that the read-only database reads goes away before it is closed. maintain
// calls it.
func (s *Store) reopen() {
	if !s.space.hasRoom(resumeMargin) {
		return
	}
	db, versions, err := s.openWritable()
	if err != nil {
		s.log.Error("token store: opening it for changes", zap.Error(err))
		return
	}
	s.calls.Lock()
	before := s.db
	s.db, s.versions = db, versions
	s.calls.Unlock()
	if before != nil {
		if err := before.Close(); err != nil {
			s.log.Error("token store: closing it for reading", zap.Error(err))
		}
	}
}

// closeDatabase closes the database. Closing flushes the log into a table; if there is
// no room, the next process flushes it, as after a crash.
func (s *Store) closeDatabase() error {
	switch {
	case s.db == nil:
		return nil
	case s.versions == nil:
		return s.db.Close()
	}
	if free, ok := s.space.free(); ok && free < flushRoom+maxWALSize {
		s.log.Warn("token store: the disk is full: what was written last stays in the log, and is read at the next start",
			zap.String("path", s.dir))
		return nil
	}
	return errors.Join(s.versions.Release(), s.db.Close(), removeLeftovers(s.dir))
}

// wrapError says which store an error of the database is about, and whether the disk
// is full.
func (s *Store) wrapError(err error) error {
	if noSpace(err) {
		return fmt.Errorf("token store %s: %w: %w", s.dir, tokenstore.ErrInsufficientStorage, err)
	}
	return fmt.Errorf("token store %s: %w", s.dir, err)
}
