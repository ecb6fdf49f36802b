package badger

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// maxErase is how often the files are rewritten, at most, until nothing is left in them.
const maxErase = 5

// erase has the database rewrite its files, so that they have no byte any more of what was
// removed from a tenant, or of all tenants of a history if tenant is empty. Messages are
// stored and read meanwhile. The files that are given up go back to the file system, which
// may keep their bytes for a while. The caller holds s.purging.
func (s *Store) erase(name, tenant string) error {
	prefixes := make([][]byte, 0, 2)
	for _, kind := range []byte{kindMessage, kindChunk} {
		if tenant == "" {
			prefixes = append(prefixes, key(kind, name))
		} else {
			prefixes = append(prefixes, key(kind, name, tenant))
		}
	}
	for range maxErase {
		// Compactions keep what a transaction may still read. So no read that began before is
		// under way, and there is one that began after the removals.
		s.reading.Lock()
		until := uint64(0)
		err := s.db.View(func(txn *badger.Txn) error { until = txn.ReadTs(); return nil })
		s.reading.Unlock()
		if err == nil {
			err = s.flushMemory()
		}
		if err == nil {
			err = s.db.Flatten(1)
		}
		if err != nil {
			return err
		}
		if found, err := s.removeAgain(prefixes, until); !found || err != nil {
			return err
		}
	}
	return errors.New("the database does not give up what was removed")
}

// flushMemory has the database write all that it has in memory to tables, and give up the
// logs of that. Dropping a prefix does so; the prefix is one that nothing else has.
func (s *Store) flushMemory() error {
	s.commit.Lock() // the database refuses writes meanwhile
	defer s.commit.Unlock()
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte{kindFlush}, nil) }); err != nil {
		return err
	}
	return s.db.DropPrefix([]byte{kindFlush})
}

// removeAgain looks for records that were removed before a time of the database and are still
// there, and removes them again, so that the next compaction meets them. A compaction that ran
// while somebody read has kept them, beside their removal; where it left them, on the lowest
// level, no later one would look.
func (s *Store) removeAgain(prefixes [][]byte, until uint64) (found bool, err error) {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	err = s.db.View(func(txn *badger.Txn) error {
		for _, prefix := range prefixes {
			again, err := removeOlder(txn, batch, prefix, until)
			found = found || again
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("what is left: %w", err)
	}
	s.commit.Lock()
	defer s.commit.Unlock()
	return found, batch.Flush()
}

func removeOlder(txn *badger.Txn, batch *badger.WriteBatch, prefix []byte, until uint64) (found bool, err error) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, AllVersions: true})
	defer it.Close()
	var removed []byte // the key that is removed; older versions of it follow
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		switch {
		case item.Version() > until:
		case item.IsDeletedOrExpired():
			removed = item.KeyCopy(removed)
		case bytes.Equal(item.Key(), removed):
			found = true
			if err := batch.Delete(item.KeyCopy(nil)); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}
