package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/millrace/millrace/pubsub/history"
)

// purged is what a purge has removed from the index.
type purged struct {
	removed int
	numbers []uint64 // of the messages that are to be erased; none if they are too many, or all there are
}

// maxErased bounds the messages of a purge that are overwritten one by one. Beyond, what is
// left is removed at once, and NATS overwrites the disk as it compacts.
const maxErased = 100_000

// Purge implements [history.Store]. It tells all edges by a note, which they take in its
// place among the messages, and then deletes what was stored before.
func (s *Store) Purge(name, tenant, channel string) (removed int, err error) {
	st, err := s.reach(s.ctx, name)
	if err != nil {
		return 0, err
	}
	numbers := make(chan purged, 1)
	id := rand.Text()
	st.mu.Lock()
	st.purges[id] = numbers
	st.mu.Unlock()
	defer func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		delete(st.purges, id)
	}()
	ctx, done := context.WithTimeout(s.ctx, s.patience)
	defer done()
	at, err := s.publish(ctx, s.names.note(name, purgeToken, tenant, channel), []byte(id))
	if err != nil {
		return 0, errors.Join(history.ErrUnavailable, err)
	}
	var was purged
	select {
	case was = <-numbers:
	case <-ctx.Done():
		return 0, history.ErrUnavailable
	}
	stream := s.names.stream(name)
	if err := deleteAll(was.numbers, func(n uint64) error { return s.delete(s.ctx, stream, n, true) }); err != nil {
		return 0, errors.Join(history.ErrUnavailable, err)
	}
	filter := s.names.tenantFilter(name, tenant)
	if channel != "" {
		filter = s.names.message(name, tenant, []byte(channel))
	}
	if err := s.purge(s.ctx, stream, filter, at); err != nil {
		return 0, errors.Join(history.ErrUnavailable, err)
	}
	return was.removed, nil
}

// deleteAll calls one for each number, some at a time.
func deleteAll(list []uint64, one func(n uint64) error) error {
	var waiting sync.WaitGroup
	next := make(chan uint64)
	failures := make(chan error, maxDeleting)
	for range min(maxDeleting, len(list)) {
		waiting.Go(func() {
			var failed error
			for n := range next {
				if failed == nil {
					failed = one(n)
				}
			}
			failures <- failed
		})
	}
	for _, n := range list {
		next <- n
	}
	close(next)
	waiting.Wait()
	close(failures)
	var all error
	for err := range failures {
		all = errors.Join(all, err)
	}
	return all
}

// maxDeleting is how many messages are deleted at once.
const maxDeleting = 32
