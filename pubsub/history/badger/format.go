package badger

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
)

// format is the newest format of a database that this version reads, and the one that it
// writes: a u8 under kindFormat. A database of before 0.1.0 does not have it: it has
// format 1. Whatever an older version must not misread or drop makes another format.
const format = 1

// loadFormat returns a [history.ErrFormat] if this version does not read the database, before
// anything is written there, and otherwise writes down which format it has.
func (s *Store) loadFormat() error {
	return s.db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte{kindFormat})
		if errors.Is(err, badger.ErrKeyNotFound) {
			return txn.Set([]byte{kindFormat}, []byte{format})
		}
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			switch {
			case len(v) == 0:
				return errLayout
			case v[0] != format:
				return history.UnknownFormat("it", int(v[0]), format)
			}
			return nil
		})
	})
}
