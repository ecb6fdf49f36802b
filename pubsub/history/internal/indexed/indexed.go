// Package indexed is what stores have in common that keep the index of each history in
// memory (package index): histories by name, each with a lock, and all that is answered by
// the index alone.
package indexed

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// Locked is one history.
type Locked struct {
	sync.Mutex
	Name  string
	Index *index.History // guarded by the mutex
	turns index.Turns    // of those who search it
}

func (l *Locked) locked() *Locked { return l }

// Kept is what a store has of one history: a *Locked, or a pointer to a struct that embeds
// a Locked.
type Kept interface {
	comparable
	sync.Locker
	locked() *Locked
}

// Set is the histories of a store. All methods may be called concurrently.
type Set[K Kept] struct {
	epoch uint64

	mu     sync.RWMutex // taken before that of a history
	all    map[string]K
	closed bool
}

// NewSet makes an empty set, of a store with this epoch.
func NewSet[K Kept](epoch uint64) *Set[K] { return &Set[K]{epoch: epoch, all: map[string]K{}} }

// Epoch returns the epoch of the store.
func (s *Set[K]) Epoch() uint64 { return s.epoch }

// Add adds a history.
func (s *Set[K]) Add(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[k.locked().Name] = k
}

// Close has all methods fail from now on, with [history.ErrClosed]. It waits for calls of
// WhileOpen.
func (s *Set[K]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.all = true, nil
}

// WhileOpen calls f while Close waits for it.
func (s *Set[K]) WhileOpen(f func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return history.ErrClosed
	}
	return f()
}

// Find returns a history. Its error is [history.ErrUnknown], or [history.ErrClosed].
func (s *Set[K]) Find(name string) (k K, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return k, history.ErrClosed
	}
	k, ok := s.all[name]
	if !ok {
		return k, history.ErrUnknown
	}
	return k, nil
}

// Lock is Find with the history's mutex held, which the caller unlocks.
func (s *Set[K]) Lock(name string) (k K, err error) {
	if k, err = s.Find(name); err == nil {
		k.Lock()
	}
	return k, err
}

// List returns all histories, ordered by name; none after Close.
func (s *Set[K]) List() (all []K) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.all {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b K) int { return cmp.Compare(a.locked().Name, b.locked().Name) })
	return all
}

// Page reads a page with the payloads that the index has; missing are the places of the others. It
// checks [history.Query].MaxChannels before. It lets go of the lock again and again.
func (s *Set[K]) Page(ctx context.Context, q *history.Query) (page history.Page, missing []int, err error) {
	k, err := s.Find(q.History)
	if err != nil {
		return page, nil, err
	}
	paging := index.NewPaging(q)
	err = k.locked().turns.Do(ctx, q.Tenant, func() (done bool, err error) {
		k, err := s.lockExpired(q.History)
		if err != nil {
			return false, err
		}
		defer k.Unlock()
		return paging.Step(k.locked().Index, wire.Position{})
	})
	if err != nil {
		return history.Page{Work: paging.Page.Work}, nil, err
	}
	for i, e := range paging.Entries {
		if paging.Page.Messages[i].Payload == nil && e.Size > 0 {
			missing = append(missing, i)
		}
	}
	return paging.Page, missing, nil
}
