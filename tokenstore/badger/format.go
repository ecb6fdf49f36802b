package badger

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/tokenstore"
)

// format is the newest format of a database that this version reads, and the one that it
// writes. The database has it, a u8, under formatKey. One of before 0.1.0 does not have it:
// it has format 1.
const format = 1

var formatKey = []byte{0, 'f'}

// checkFormat returns a [tokenstore.ErrFormat] if this version does not read the database.
// It reports whether the database has its format already.
func checkFormat(db *badger.DB, dir string) (known bool, err error) {
	found := format
	err = db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(formatKey)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		known = true
		return item.Value(func(v []byte) error {
			if found = 0; len(v) > 0 {
				found = int(v[0])
			}
			return nil
		})
	})
	if err == nil && found != format {
		err = tokenstore.UnknownFormat("the token store "+dir, found, format)
	}
	return known, err
}

// writeFormat writes the format into a database that does not have it. It returns a
// [tokenstore.ErrFormat], as checkFormat does.
func (s *Store) writeFormat(db *badger.DB) error {
	known, err := checkFormat(db, s.dir)
	if err != nil || known {
		return err
	}
	if err := db.Update(func(txn *badger.Txn) error { return txn.Set(formatKey, []byte{format}) }); err != nil {
		return s.wrapError(err)
	}
	return nil
}
