package badger

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/internal/version"
)

// format is the newest format of a database that this version reads, and the one that it
// writes: a u8 under kindFormat. A database of before 0.1.0 does not have it: it has
// format 1. Whatever an older version must not misread or drop makes another format.
const format = 1

// errFormat is in the error about a database of another format.
var errFormat = errors.New("a format that this version does not read")

// loadFormat returns an errFormat if this version does not read the database, before
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
				return &formatError{version.UnknownFormat("it", int(v[0]), format)}
			}
			return nil
		})
	})
}

type formatError struct{ text string }

func (e *formatError) Error() string { return e.text }
func (e *formatError) Unwrap() error { return errFormat }
