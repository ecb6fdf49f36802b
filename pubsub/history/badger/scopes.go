package badger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
)

var _ history.ScopeKeeper = (*Store)(nil)

// Scopes implements [history.ScopeKeeper].
func (s *Store) Scopes() (map[string]history.Scope, error) {
	scopes := map[string]history.Scope{}
	err := s.set.WhileOpen(func() error {
		return unavailable(s.each(kindScope, func(k, v []byte) error {
			name, _, err := cutName(k[1:])
			if err != nil || len(v) < 8 {
				return errors.Join(err, errLayout)
			}
			scopes[name] = history.Scope{Since: binary.BigEndian.Uint64(v), Print: string(v[8:])}
			return nil
		}))
	})
	return scopes, err
}

// SetScopes implements [history.ScopeKeeper].
func (s *Store) SetScopes(scopes map[string]history.Scope) error {
	return s.set.WhileOpen(func() error { return unavailable(s.saveScopes(scopes)) })
}

func (s *Store) saveScopes(scopes map[string]history.Scope) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	err := s.db.Update(func(txn *badger.Txn) error {
		for name, scope := range scopes {
			value := append(binary.BigEndian.AppendUint64(nil, scope.Since), scope.Print...)
			if err := txn.Set(key(kindScope, name), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.db.Sync() // messages that are kept from now on must not be known without it
}

// unavailable is an error of the database for who called the store.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", history.ErrUnavailable, err)
}
