package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

const (
	// probeEvery is how often the bucket is asked for its latest revision.
	probeEvery = time.Second
	// lagging is how long the copy may be behind that before it is read anew.
	lagging = 5 * time.Second
	// oldMarkers is how long the bucket remembers deletions. A copy that was not
	// confirmed for half of it is read anew, not brought up to date.
	oldMarkers = 24 * time.Hour
)

// reading is the state of the follower, kept from one connection to the next.
type reading struct {
	round   uint64    // of full readings
	created time.Time // when the bucket was made that is in the copy
	applied uint64    // everything up to this revision is in the copy
	begun   bool      // a full reading has, and was not brought to its end
}

// another reports whether the bucket is not the one that was in the copy when
// everything up to a revision was.
func (r *reading) another(p position, applied uint64) bool {
	return p.last < applied || !p.created.Equal(r.created)
}

var (
	errAnew    = errors.New("the copy is not what the bucket has")
	errAnother = errors.New("the bucket is another one")
	errRenewed = errors.New("the connection was renewed")
)

// follow keeps the copy up to date.
func (s *Store) follow(ctx context.Context) {
	var r reading
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		err := s.followOnce(ctx, &r)
		switch {
		case errors.Is(err, errAnew):
			r.applied = 0
		case errors.Is(err, errAnother):
			r.created = time.Time{}
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
	select {
	case <-s.again: // this is it
	default:
	}
	limited, done := context.WithTimeout(ctx, bucketPatience)
	defer done()
	kv, err := s.bucket(limited)
	if err != nil {
		return err
	}
	f := following{store: s, reading: r, began: time.Now()}
	if f.start, err = s.position(ctx); err != nil {
		return err
	}
	if f.rebased = r.another(f.start, r.applied) || f.start.memory; f.rebased {
		s.mirror.rebase()
		r.created, r.applied = f.start.created, 0
	}
	f.full = r.applied == 0 || r.begun || f.began.Sub(s.state.since()) > oldMarkers/2
	var options []jetstream.WatchOpt
	if f.full {
		r.begun = true
		r.round++
	} else {
		options = append(options, jetstream.ResumeFromRevision(r.applied+1))
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

	marked   time.Time // when the watch said that this was all there is
	target   uint64    // the revision that has to be applied then
	complete bool      // it is
	behind   probe     // the first answer that the copy is behind; zero: it is not
}

func (f *following) run(ctx context.Context, watcher jetstream.KeyWatcher) error {
	s := f.store
	probes := make(chan probe, 1)
	next := time.NewTimer(probeEvery)
	defer next.Stop()
	asking, asked := false, time.Now() // the last time
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return errors.New("the watch of the bucket has ended")
			}
			if err := f.take(ctx, e); err != nil {
				return err
			}
		case <-s.lookups.asked:
			next.Reset(max(0, time.Until(asked.Add(confirmSpacing))))
		case <-next.C:
			next.Reset(probeEvery)
			switch {
			case !f.complete:
				if !f.marked.IsZero() && time.Since(f.marked) > lagging {
					return errors.New("the server that reads the bucket is behind its leader")
				}
				continue
			case asking:
				continue
			}
			asking, asked = true, time.Now()
			p := probe{at: time.Now(), applied: f.applied}
			s.running.Go(func() {
				p.position, p.err = s.position(ctx)
				probes <- p
			})
		case p := <-probes:
			asking = false
			if err := f.compare(p); err != nil {
				return err
			}
			s.lookups.confirmed(time.Time{}) // asks again if that was too early for some
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
	if e != nil {
		s.apply(e, f.round)
		f.applied = max(f.applied, e.Revision())
	} else {
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		f.marked, f.target = time.Now(), newest
	}
	if !f.complete && !f.marked.IsZero() && f.applied >= f.target {
		if f.full {
			if err := s.dropUnseen(ctx, f.round, max(f.start.last, f.applied), f.rebased); err != nil {
				return err
			}
			f.begun = false
		}
		f.complete = true
		f.applied = max(f.applied, f.start.last)
		s.confirm(f.began)
	}
	if f.behind.last > 0 && f.applied >= f.behind.last {
		s.confirm(f.behind.at)
		f.behind = probe{}
	}
	return nil
}

// compare takes the answer of a probe. Without one the clock runs.
func (f *following) compare(p probe) error {
	s := f.store
	if errors.Is(p.err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("the bucket %q is gone: %w", s.config.Bucket, p.err)
	}
	answered := p.err == nil
	switch {
	case !answered:
	case f.another(p.position, p.applied):
		return errAnother
	case p.last <= f.applied: // less: there was news while it was asked
		s.confirm(p.at)
	case f.behind.last == 0:
		f.behind = p
	case p.at.Sub(f.behind.at) > lagging:
		return errAnew
	}
	return nil
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

// probe is what the bucket says of itself.
type probe struct {
	position
	at      time.Time // when it was asked
	applied uint64    // what was in the copy by then
	err     error
}

// apply brings an entry of the bucket into the copy.
func (s *Store) apply(e jetstream.KeyValueEntry, round uint64) {
	kind, id, ok := splitKey(e.Key())
	if !ok {
		s.log.Error("the bucket has a key that is not ours", zap.String("key", e.Key()))
		return
	}
	if e.Operation() != jetstream.KeyValuePut {
		s.mirror.remove(kind, id, e.Revision())
		return
	}
	rec, err := decode(kind, id, e.Value(), e.Revision())
	if err != nil { // what cannot be read permits nothing
		s.log.Error("a token cannot be read", zap.String("key", e.Key()), zap.Error(err))
		s.mirror.remove(kind, id, e.Revision())
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
