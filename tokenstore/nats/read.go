package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// verifyTimeout is how long a call waits for what it needs to believe the copy.
const verifyTimeout = 2 * time.Second

var errUnverified = fmt.Errorf("%w: it does not say whether this token still holds", tokenstore.ErrUnavailable)

// Get implements [tokenstore.Store]. A record that is not in the copy may be so new
// that only the bucket has it, and the copy may lack a change of one that it has: see
// certainty and hold.
func (s *Store) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	key := entryKey{kind, id}
	known := s.freshness.certainty(time.Now())
	if known == resumed {
		if err := s.awaitConfirmation(ctx, verifyTimeout); err != nil {
			return tokenstore.Record{}, err
		}
		known = sure
	}
	doubted := s.mirror.isHeld(key) || known == behind && !s.lookups.wasChecked(key, time.Now())
	rec, ok := s.mirror.get(kind, id)
	switch {
	case ok && !doubted:
		return rec, nil
	case !ok && s.mirror.unreadable(kind, id) != nil:
		return tokenstore.Record{}, s.mirror.unreadable(kind, id)
	case !ok:
		return s.lookUp(ctx, key, false)
	}
	limited, done := context.WithTimeout(ctx, verifyTimeout)
	defer done()
	rec, err = s.lookUp(limited, key, true)
	switch {
	case ctx.Err() == nil && limited.Err() != nil && err != nil:
		return tokenstore.Record{}, errUnverified
	case err == nil && s.mirror.isHeld(key):
		return tokenstore.Record{}, errHeld
	}
	return rec, err
}

// GetLocal implements [tokenstore.Replica].
func (s *Store) GetLocal(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	leave, err := s.enterCopy(ctx)
	if err != nil {
		return tokenstore.Record{}, err
	}
	defer leave()
	if s.mirror.isHeld(entryKey{kind, id}) {
		return tokenstore.Record{}, errHeld
	}
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
	return s.awaitConfirmation(ctx, s.config.callTimeout)
}

// awaitConfirmation waits until a probe that was sent after the call began confirms the copy.
func (s *Store) awaitConfirmation(ctx context.Context, timeout time.Duration) error {
	if err := s.lookups.enter(); err != nil {
		return err
	}
	defer s.lookups.leave()
	w := s.lookups.add(entryKey{}) // the key of no record
	defer s.lookups.remove(entryKey{}, w)
	signal(s.lookups.confirmWanted)
	limited, done := context.WithTimeout(ctx, timeout)
	defer done()
	select {
	case <-w.done:
		return nil
	case <-limited.Done():
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%w: the copy is behind the bucket", tokenstore.ErrUnavailable)
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
func (s *Store) Usable() error {
	if err := s.freshness.usable(); err != nil || s.freshness.certainty(time.Now()) != resumed {
		return err
	}
	return errStoodStill
}

var errStoodStill = fmt.Errorf("%w since this process stood still", tokenstore.ErrUnavailable)

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
