package nats

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

const (
	// lagging is how long the watch may be behind before it is begun anew. The copy
	// does not wait for that: see prove.
	lagging = 2 * time.Second
	// oldMarkers is how long the bucket remembers deletions. A copy that was not
	// confirmed for half of it is read anew, not brought up to date.
	oldMarkers = 24 * time.Hour
)

// reading is how far the bucket has been read. It is kept from one connection to the
// next.
type reading struct {
	round uint64 // of full readings

	mu sync.Mutex // guards the rest, which the follower alone changes but for applied
	copied
}

// copied is what of the bucket is in the copy.
type copied struct {
	created time.Time // when the bucket was made
	applied uint64    // everything up to this revision is there
	watched uint64    // what the watch has brought, or was begun behind
	whole   bool      // the bucket has been read to its end
}

func (r *reading) now() copied {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.copied
}

// advance notes that everything up to a revision of a bucket is in the copy.
func (r *reading) advance(created time.Time, to uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.created.Equal(created) {
		r.applied = max(r.applied, to)
	}
}

// forget has all of the bucket read, as that of another one.
func (r *reading) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created, r.whole = time.Time{}, false
}

// another reports whether the bucket is not the one that was in the copy when
// everything up to a revision was.
func (r *reading) another(p position, applied uint64) bool {
	return p.last < applied || !p.created.Equal(r.now().created)
}

var (
	errAnother = errors.New("the bucket is another one")
	errRenewed = errors.New("the connection was renewed")
	errLagging = errors.New("the watch of the bucket does not keep up")
)

// follow keeps the copy up to date.
func (s *Store) follow(ctx context.Context, r *reading) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		err := s.followOnce(ctx, r)
		if errors.Is(err, errAnother) {
			r.forget()
		}
		s.state.note(err)
		switch {
		case ctx.Err() != nil || !s.conn.IsConnected():
		case errors.Is(err, errRenewed):
			s.log.Info("reading the tokens again", zap.Error(err))
		default:
			s.log.Warn("reading the tokens again", zap.Error(err))
		}
		if time.Since(began) > lagging {
			pause = 0
		}
		pause = min(max(2*pause, 100*time.Millisecond), 2*time.Second)
		timer := time.NewTimer(pause)
		select {
		case <-s.again:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// followOnce reads the bucket, all of it or what is new, and follows it until
// something is in the way.
func (s *Store) followOnce(ctx context.Context, r *reading) error {
	if !s.conn.IsConnected() {
		return errors.New("not connected to NATS")
	}
	drain(s.again) // this is it
	drain(s.lagged)
	drain(s.gone)
	limited, done := context.WithTimeout(ctx, bucketPatience)
	defer done()
	kv, err := s.bucket(limited)
	if err != nil {
		return err
	}
	f := following{store: s, reading: r, began: time.Now()}
	before := r.now()
	if f.start, err = s.position(ctx); err != nil {
		return err
	}
	f.rebased = r.another(f.start, before.applied) || f.start.memory
	f.begin(s.state.since())
	if f.rebased { // catchUp reads no more of the one before
		s.mirror.rebase()
	}
	var options []jetstream.WatchOpt
	if !f.full {
		options = append(options, jetstream.ResumeFromRevision(f.watched+1))
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	watcher, err := kv.WatchAll(watching, options...)
	if err != nil {
		return err
	}
	defer stopWatcher(watcher)
	return f.run(ctx, watcher)
}

// following is one watch of the bucket.
type following struct {
	store *Store
	*reading
	began   time.Time
	start   position // of the bucket, then
	full    bool     // all of it is read, not what is new
	rebased bool     // as it is another one

	marked time.Time // when the watch said that this was all there is
	target uint64    // the revision that has to be applied then
}

// begin decides how much is read.
func (f *following) begin(confirmed time.Time) {
	r := f.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.rebased {
		r.created, r.applied = f.start.created, 0
	}
	f.full = f.rebased || !r.whole || tooOld(confirmed, f.began)
	r.watched = r.applied
	if f.full {
		r.watched, r.whole = 0, false // until it is brought to its end
		r.round++
	}
}

// tooOld reports whether a copy that was last confirmed at a time may lack deletions
// that the bucket has forgotten since.
func tooOld(confirmed, now time.Time) bool { return now.Sub(confirmed) > oldMarkers/2 }

func (f *following) run(ctx context.Context, watcher jetstream.KeyWatcher) error {
	s := f.store
	tick := time.NewTicker(lagging)
	defer tick.Stop()
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return errors.New("the watch of the bucket has ended")
			}
			if err := f.take(ctx, e); err != nil {
				return err
			}
		case <-tick.C:
			if f.full && !f.marked.IsZero() && time.Since(f.marked) > lagging {
				return errors.New("the server that reads the bucket is behind its leader")
			}
		case <-s.lagged:
			return errLagging
		case err := <-s.gone:
			return err
		case <-s.again: // what came meanwhile is read at once
			return errRenewed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes what the watch gives: an entry, or nil for the end of what there is.
// The server that says so can be a replica that is behind: so the leader is asked.
func (f *following) take(ctx context.Context, e jetstream.KeyValueEntry) error {
	s := f.store
	switch {
	case e != nil:
		s.apply(e.Key(), &latest{revision: e.Revision(), value: e.Value(), deleted: e.Operation() != jetstream.KeyValuePut}, f.round)
		f.brought(e.Revision())
	case f.full:
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		f.marked, f.target = time.Now(), newest
	}
	if !f.full || f.marked.IsZero() || f.watched < f.target {
		return nil
	}
	if err := s.dropUnseen(ctx, f.round, max(f.start.last, f.watched), f.rebased); err != nil {
		return err
	}
	f.complete()
	s.confirm(f.began)
	return nil
}

// brought notes a revision that the watch has brought, and so all before it. Those
// of a full reading count at its end.
func (f *following) brought(revision uint64) {
	r := f.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = max(r.watched, revision)
	if !f.full {
		r.applied = max(r.applied, r.watched)
	}
}

// complete ends a full reading.
func (f *following) complete() {
	r := f.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = max(r.watched, f.start.last)
	r.applied = max(r.applied, r.watched)
	r.whole, f.full = true, false
}

// confirm notes that the copy was, at a time, what the bucket had.
func (s *Store) confirm(at time.Time) {
	s.state.confirm(at)
	s.lookups.confirmed(at)
}

// dropUnseen ends a full reading: what it has not seen is gone. A record that was
// written again and again meanwhile may not have been seen either: so the leader
// is asked about each, unless the bucket is another one.
func (s *Store) dropUnseen(ctx context.Context, round, revision uint64, another bool) error {
	for _, key := range s.mirror.unseen(round, revision) {
		var m *latest
		if !another {
			var err error
			if m, err = s.lastLimited(ctx, s.subject(key.kind, key.id)); err != nil {
				return err
			}
		}
		if m == nil {
			s.mirror.gone(key, round, revision)
			continue
		}
		if err := s.learn(key.kind, key.id, m); err != nil {
			return err
		}
	}
	return nil
}

// apply brings a message of the bucket into the copy.
func (s *Store) apply(name string, m *latest, round uint64) {
	kind, id, ok := splitKey(name)
	if !ok {
		s.log.Error("the bucket has a key that is not ours", zap.String("key", name))
		return
	}
	if m.deleted {
		s.mirror.remove(kind, id, m.revision)
		return
	}
	rec, err := decode(kind, id, m.value, m.revision)
	if err != nil { // what cannot be read permits nothing
		s.log.Error("a token cannot be read", zap.String("key", name), zap.Error(err))
		s.mirror.remove(kind, id, m.revision)
		return
	}
	s.mirror.put(rec, round)
}

// stopWatcher stops a watch of the bucket. What the client had received waits to
// be taken. Updates ends with the subscription, at the latest when Close closes
// the connection.
func stopWatcher(w jetstream.KeyWatcher) {
	_ = w.Stop() // fails only when the connection is gone
	go func() {
		for range w.Updates() {
		}
	}()
}
