package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/tokenstore"
)

// A record that is not in the copy may have been written on another edge a moment ago.
// Asking the bucket for each such id would turn every made-up token into a request. So
// a look-up asks for no id: it waits until a probe confirms that the copy is what the
// bucket has now, or until the record arrives, whichever is first. One probe confirms
// the copy for all look-ups that wait, and it is the probe that keeps the copy fresh
// anyway: so a flood of misses makes the copy fresher, and does not delay its probes.
const (
	// confirmSpacing is the least time between two probes.
	confirmSpacing = 50 * time.Millisecond
	// maxLookups bounds the calls that wait for the copy to be confirmed or loaded.
	maxLookups = 1024
	// lookupDelay is how long a look-up waits for a copy that does not keep up, as when
	// a replica behind its leader feeds it. Then it asks for the id itself.
	lookupDelay = 250 * time.Millisecond
	// maxFetches bounds the requests for ids in any confirmSpacing.
	maxFetches = 4
	// checkedFor is how long the leader's word on a doubted record is enough.
	checkedFor = sureFor / 2
	// fetchTries is how often a look-up asks for its id if no server answers at all.
	fetchTries = 10
)

var (
	errTooManyLookups = fmt.Errorf("%w: too many look-ups wait for it", tokenstore.ErrUnavailable)
	errUnanswered     = fmt.Errorf("%w: no server answers for it", tokenstore.ErrUnavailable)
)

// lookups are the calls that wait for the copy.
type lookups struct {
	confirmWanted chan struct{} // signals probeLoop that a look-up waits
	fetches       chan struct{} // has one element for each request for an id

	mu      sync.Mutex
	waiting int // calls between enter and leave
	byKey   map[entryKey]map[*lookup]struct{}
	checked map[entryKey]time.Time // records for which the leader was asked since the copy was last confirmed
}

// lookup is a call that waits for one record.
type lookup struct {
	since time.Time     // a confirmation of the copy at this time or later answers it
	done  chan struct{} // closed when it is answered, or the record has arrived
}

func newLookups() *lookups {
	return &lookups{
		confirmWanted: make(chan struct{}, 1), fetches: make(chan struct{}, maxFetches),
		byKey: map[entryKey]map[*lookup]struct{}{}, checked: map[entryKey]time.Time{},
	}
}

// note notes when the leader was asked about a record.
func (l *lookups) note(key entryKey, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.checked) >= maxLookups {
		clear(l.checked)
	}
	l.checked[key] = at
}

// wasChecked reports whether the leader was asked about a record a moment ago.
func (l *lookups) wasChecked(key entryKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, checked := l.checked[key]
	return checked && elapsed(at, now) < checkedFor
}

// enter counts a call that is about to wait; leave must follow.
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

// resolveArrived answers the look-ups that wait for a record. A deletion answers none:
// the record may have been created again before they asked.
func (l *lookups) resolveArrived(c tokenstore.Change) {
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

// resolveConfirmed answers the look-ups that began to wait before at, a time at which
// the copy was what the bucket had. It signals confirmWanted if others still wait.
func (l *lookups) resolveConfirmed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !at.IsZero() {
		clear(l.checked)
	}
	for key, waiting := range l.byKey {
		for w := range waiting {
			if !w.since.After(at) {
				close(w.done)
				l.removeLocked(key, w)
			}
		}
	}
	if len(l.byKey) > 0 {
		signal(l.confirmWanted)
	}
}

// lookUp returns a record that was not in the copy, or that is doubted, or ErrNotFound once
// it is certain that the bucket does not have it either.
func (s *Store) lookUp(ctx context.Context, key entryKey, doubted bool) (tokenstore.Record, error) {
	if !s.conn.IsConnected() {
		return tokenstore.Record{}, errNotConnected
	}
	if err := s.lookups.enter(); err != nil {
		return tokenstore.Record{}, err
	}
	defer s.lookups.leave()
	kind, id := key.kind, key.id
	w := s.lookups.add(key)
	defer s.lookups.remove(key, w)
	signal(s.lookups.confirmWanted)
	if rec, ok := s.mirror.get(kind, id); ok && !doubted { // it arrived before the look-up was added
		return rec, nil
	}
	lag := time.NewTimer(lookupDelay)
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
	return tokenstore.Record{}, s.mirror.missing(kind, id)
}

// fetch brings the bucket's state of one record into the copy, unless the look-up is
// answered before. While the leader changes, a request gets no answer, also not from the
// next leader: so fetch asks again, whenever there is room for a request.
func (s *Store) fetch(ctx context.Context, kind tokenstore.Kind, id string, answered <-chan struct{}) error {
	limited, done := context.WithTimeout(ctx, s.config.callTimeout-lookupDelay)
	defer done()
	trouble := errTooManyLookups
	for {
		select {
		case s.lookups.fetches <- struct{}{}:
			release := time.Now().Add(confirmSpacing)
			err := ctx.Err() // select may prefer the room
			if err == nil {
				err = s.fetchOnce(limited, kind, id)
			}
			time.AfterFunc(time.Until(release), func() { <-s.lookups.fetches })
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, client.ErrNoResponders) && !errors.Is(err, errNoLeader) {
				return err
			}
			trouble = errUnanswered
		case <-answered:
			return nil
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return trouble
		}
	}
}

func (s *Store) fetchOnce(ctx context.Context, kind tokenstore.Kind, id string) error {
	ctx, done := context.WithTimeout(ctx, s.config.callTimeout/fetchTries)
	defer done()
	at := time.Now()
	_, err := s.refresh(ctx, kind, id)
	if err == nil {
		s.lookups.note(entryKey{kind, id}, at)
	}
	return err
}
