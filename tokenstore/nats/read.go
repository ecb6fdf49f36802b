package nats

import (
	"context"
	"errors"
	"fmt"

	"github.com/millrace/millrace/tokenstore"
)

// Get implements [tokenstore.Store]. A record that is not in the copy may be so new
// that only the bucket has it.
func (s *Store) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	rec, err := s.GetLocal(ctx, kind, id)
	if !errors.Is(err, tokenstore.ErrNotFound) {
		return rec, err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	return s.lookUp(ctx, kind, id)
}

// GetLocal implements [tokenstore.Replica].
func (s *Store) GetLocal(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	if rec, ok := s.mirror.get(kind, id); ok {
		return rec, nil
	}
	return tokenstore.Record{}, s.mirror.missing(kind, id)
}

// GetLatest implements [tokenstore.Replica]: it asks the leader.
func (s *Store) GetLatest(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	known, err := s.refresh(ctx, kind, id)
	if err != nil {
		return tokenstore.Record{}, err
	}
	if rec, ok := s.mirror.get(kind, id); ok && known {
		return rec, nil
	}
	return tokenstore.Record{}, tokenstore.ErrNotFound
}

// refresh brings the leader's state of one record into the copy. It reports whether
// there is any, a deletion included.
func (s *Store) refresh(ctx context.Context, kind tokenstore.Kind, id string) (known bool, err error) {
	err = s.withTimeout(ctx, func(ctx context.Context) error {
		m, err := s.lastMessage(ctx, s.subject(kind, id))
		if err != nil {
			return err
		}
		known = m != nil
		return s.applyLatest(kind, id, m)
	})
	return known, err
}

// CatchUp implements [tokenstore.Replica]: it waits until a probe that was sent after
// the call began confirms the copy.
func (s *Store) CatchUp(ctx context.Context) error {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.lookups.enter(); err != nil {
		return err
	}
	defer s.lookups.leave()
	w := s.lookups.add(entryKey{}) // the key of no record
	defer s.lookups.remove(entryKey{}, w)
	signal(s.lookups.confirmWanted)
	limited, done := context.WithTimeout(ctx, s.config.callTimeout)
	defer done()
	select {
	case <-w.done:
		return nil
	case <-limited.Done():
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%w: the copy does not come to what the bucket has", tokenstore.ErrUnavailable)
	}
}

// enterCopy is enter for a call that uses the copy.
func (s *Store) enterCopy(ctx context.Context) (leave func(), err error) {
	if leave, err = s.enter(ctx); err != nil {
		return nil, err
	}
	if err := s.usable(ctx); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// usable returns nil if the copy may be used. It waits for the first copy; the number
// of calls that wait is bounded.
func (s *Store) usable(ctx context.Context) error {
	if !s.freshness.loaded() {
		if err := s.lookups.enter(); err != nil {
			return err
		}
		defer s.lookups.leave()
	}
	return s.freshness.awaitUsable(ctx)
}

// Usable implements [tokenstore.HealthReporter].
func (s *Store) Usable() error { return s.freshness.usable() }

// Scan implements [tokenstore.Store].
func (s *Store) Scan(ctx context.Context, kind tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return err
	}
	defer leave()
	const step = 500
	for ids := s.mirror.ids(kind, after, step); len(ids) > 0; ids = s.mirror.ids(kind, after, step) {
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			if rec, ok := s.mirror.get(kind, id); ok && !fn(rec) {
				return nil
			}
			after = id
		}
	}
	return nil
}
