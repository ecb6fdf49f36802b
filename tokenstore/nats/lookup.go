package nats

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// A record that the copy has not may have been written on another edge a moment
// ago. To ask the bucket for each such id would make a request of each token that
// somebody makes up. So nobody asks for an id: who misses one waits until the copy
// is confirmed to be what the bucket has now, or until the record arrives, if that
// is sooner. One question confirms the copy for all that wait, and it is the one
// that keeps the copy fresh, so that a flood of misses helps it rather than
// standing before it.
const (
	// confirmSpacing is the least time between two questions.
	confirmSpacing = 50 * time.Millisecond
	// maxLookups bounds the calls that wait for the copy, confirmed or first.
	maxLookups = 1024
	// lagTolerated is how long a call waits for a copy that does not keep up, as
	// where a replica behind its leader feeds it. Then it asks for the id itself.
	lagTolerated = 250 * time.Millisecond
	// maxFetches bounds the questions for ids in any confirmSpacing.
	maxFetches = 4
)

var errTooManyLookups = fmt.Errorf("%w: too many look-ups wait for it", tokenstore.ErrUnavailable)

// lookups are the calls that wait for the copy.
type lookups struct {
	asked   chan struct{} // a call waits: the copy is to be confirmed
	fetches chan struct{} // holds one for each question for an id

	mu      sync.Mutex
	waiting int
	byKey   map[entryKey]map[*lookup]struct{}
}

// lookup is a call that waits for one record.
type lookup struct {
	since time.Time     // a copy confirmed at this time, or later, answers it
	done  chan struct{} // closed when it does, or the record has arrived
}

func newLookups() *lookups {
	return &lookups{
		asked: make(chan struct{}, 1), fetches: make(chan struct{}, maxFetches),
		byKey: map[entryKey]map[*lookup]struct{}{},
	}
}

// enter counts a call that is going to wait; leave must follow.
func (l *lookups) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= maxLookups {
		return errTooManyLookups
	}
	l.waiting++
	return nil
}

func (l *lookups) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
}

func (l *lookups) add(key entryKey) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &lookup{since: time.Now(), done: make(chan struct{})}
	if l.byKey[key] == nil {
		l.byKey[key] = map[*lookup]struct{}{}
	}
	l.byKey[key][w] = struct{}{}
	return w
}

func (l *lookups) remove(key entryKey, w *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(key, w)
}

func (l *lookups) removeLocked(key entryKey, w *lookup) {
	delete(l.byKey[key], w)
	if len(l.byKey[key]) == 0 {
		delete(l.byKey, key)
	}
}

// arrived answers those that wait for a record. That it was deleted answers
// nobody: it may have been created again before they asked.
func (l *lookups) arrived(c tokenstore.Change) {
	if c.Deleted {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := entryKey{c.Record.Kind, c.Record.ID}
	for w := range l.byKey[key] {
		close(w.done)
		l.removeLocked(key, w)
	}
}

// confirmed answers those that began to wait before the copy was known to be what
// the bucket had.
func (l *lookups) confirmed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, waiting := range l.byKey {
		for w := range waiting {
			if !w.since.After(at) {
				close(w.done)
				l.removeLocked(key, w)
			}
		}
	}
	if len(l.byKey) > 0 {
		kick(l.asked)
	}
}

// lookUp returns a record that the copy had not, once that is sure.
func (s *Store) lookUp(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	if !s.conn.IsConnected() {
		return tokenstore.Record{}, errNotConnected
	}
	if err := s.lookups.enter(); err != nil {
		return tokenstore.Record{}, err
	}
	defer s.lookups.leave()
	key := entryKey{kind, id}
	w := s.lookups.add(key)
	defer s.lookups.remove(key, w)
	kick(s.lookups.asked)
	if rec, ok := s.mirror.get(kind, id); ok { // it came before it was waited for
		return rec, nil
	}
	lag := time.NewTimer(lagTolerated)
	defer lag.Stop()
	select {
	case <-w.done:
	case <-ctx.Done():
		return tokenstore.Record{}, ctx.Err()
	case <-lag.C:
		if err := s.fetch(ctx, kind, id, w.done); err != nil {
			return tokenstore.Record{}, err
		}
	}
	if rec, ok := s.mirror.get(kind, id); ok {
		return rec, nil
	}
	return tokenstore.Record{}, tokenstore.ErrNotFound
}

// fetch brings the bucket's state of one record into the copy, unless the look-up
// is answered before its turn comes.
func (s *Store) fetch(ctx context.Context, kind tokenstore.Kind, id string, answered <-chan struct{}) error {
	limited, done := context.WithTimeout(ctx, patience-lagTolerated)
	defer done()
	select {
	case s.lookups.fetches <- struct{}{}:
		began := time.Now()
		defer func() {
			time.AfterFunc(time.Until(began.Add(confirmSpacing)), func() { <-s.lookups.fetches })
		}()
		if err := ctx.Err(); err != nil { // select may prefer the turn
			return err
		}
	case <-answered:
		return nil
	case <-limited.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errTooManyLookups
	}
	_, err := s.refresh(limited, kind, id)
	return err
}
