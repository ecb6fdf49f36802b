// Package memory keeps histories in this process: they end with it, and positions of an
// earlier process are of another epoch.
package memory

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/indexed"
)

// Store is a [history.Store] in memory.
type Store struct {
	answers
	set      *indexed.Set[*indexed.Locked]
	defining sync.Mutex // held by Define
}

type answers = indexed.Answers[*indexed.Locked]

// New makes an empty store, with an epoch of its own.
func New() *Store {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	set := indexed.NewSet[*indexed.Locked](binary.BigEndian.Uint64(random[:]))
	return &Store{answers: set.Answers(), set: set}
}

// Define implements [history.Store].
func (s *Store) Define(d history.Definition) error {
	s.defining.Lock()
	defer s.defining.Unlock()
	k, err := s.set.Find(d.Name)
	switch {
	case errors.Is(err, history.ErrUnknown):
		s.set.Add(&indexed.Locked{Name: d.Name, Index: index.New(s.set.Epoch(), d.Limits, nil)})
		return nil
	case err != nil:
		return err
	}
	return s.set.SetLimits(k, d.Limits, nil)
}

// Append implements [history.Store]. It calls Stored before it returns, and holds the lock
// of the history meanwhile, so that the calls come in order.
func (s *Store) Append(m *history.Message) {
	var hash index.KeyHash
	if m.Key != nil {
		hash = index.HashKey(m)
	}
	k, err := s.set.Lock(m.History)
	if err != nil {
		m.Stored(m, history.Result{Err: err})
		return
	}
	defer k.Unlock()
	now := time.Now()
	if m.Key != nil {
		if at, ok := k.Index.Repeated(m, hash, index.KeyHash{}, now); ok {
			m.Stored(m, history.Result{Position: at, Repeated: true})
			return
		}
		if !k.Index.HasKeyRoom(m.Tenant, m.Owner) {
			m.Stored(m, history.Result{Err: history.ErrKeysFull})
			return
		}
	}
	at := k.Index.Next(m.Tenant, now)
	k.Index.Expire(now, indexed.ExpireEach)
	k.Index.Add(m.Owner, m.Tenant, m.Channel, at, m.Sender, m.Payload, len(m.Payload))
	if m.Key != nil {
		k.Index.Remember(m.Tenant, hash, at, now)
	}
	m.Stored(m, history.Result{Position: at})
}

// Read implements [history.Store].
func (s *Store) Read(ctx context.Context, q history.Query) (history.Page, error) {
	page, _, err := s.set.Page(ctx, &q)
	return page, err
}

// Purge implements [history.Store].
func (s *Store) Purge(name, tenant, channel string) (int, error) {
	return s.set.Purge(name, tenant, channel, nil)
}

// Close implements [history.Store].
func (s *Store) Close() error {
	s.set.Close()
	return nil
}

var _ history.Store = (*Store)(nil)
