package nats

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucketWatch is one watch of the bucket: a full reading, or one of what is new.
type bucketWatch struct {
	store *Store
	*progress
	startedAt time.Time
	bucket    bucketState // when the watch started
	full      bool        // the whole bucket is read, not only what is new
	replaced  bool        // the bucket is not the one that the copy was made from

	heardAt time.Time // when the watch has delivered something
	endedAt time.Time // when the watch had delivered all that its server has
	target  uint64    // the leader's last revision at that time: a full reading ends with it
}

// start decides how much is read. confirmed is when the copy was last confirmed.
func (w *bucketWatch) start(confirmed time.Time) {
	p := w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.replaced {
		p.created, p.applied, p.doubted = w.bucket.created, 0, false
	}
	w.full = w.replaced || !p.complete || tooOld(confirmed, w.startedAt)
	p.watched = p.applied
	if w.full {
		p.watched, p.complete = 0, false // until the reading has ended
		p.round++
	}
}

// run handles what the watch delivers, until something is in the way.
func (w *bucketWatch) run(ctx context.Context, watcher jetstream.KeyWatcher) error {
	s := w.store
	w.heardAt = time.Now()
	tick := time.NewTicker(maxWatchLag)
	defer tick.Stop()
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return errors.New("the watch of the bucket has ended")
			}
			w.heardAt = time.Now()
			if err := w.handle(ctx, e); err != nil {
				return err
			}
		case <-tick.C:
			if w.full && time.Since(w.heardAt) > s.config.callTimeout { // its consumer may have gone with a bucket that was replaced
				return errors.New("the bucket is not delivered")
			}
			if w.full && !w.endedAt.IsZero() && time.Since(w.endedAt) > maxWatchLag {
				return errors.New("the server that reads the bucket is behind its leader")
			}
		case <-s.watchLagging:
			return errWatchLagging
		case err := <-s.resync:
			return err
		case <-s.reconnected: // read at once what has changed meanwhile
			return errReconnected
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle handles what the watch delivers: an entry, or nil when its server has no more.
// That server may be a replica that is behind: so the leader is asked for its last
// revision.
func (w *bucketWatch) handle(ctx context.Context, e jetstream.KeyValueEntry) error {
	s := w.store
	switch {
	case e != nil:
		s.apply(e.Key(), &message{revision: e.Revision(), value: e.Value(), deleted: e.Operation() != jetstream.KeyValuePut}, w.round)
		w.delivered(e.Revision())
	case w.full:
		target, err := s.lastRevision(ctx)
		if err != nil {
			return err
		}
		if target < w.bucket.lastRevision {
			m, err := s.nextUpTo(ctx, target+1, w.bucket.lastRevision)
			if err != nil || m != nil {
				return cmp.Or(err, errBehind)
			}
		}
		w.endedAt, w.target = time.Now(), target
	}
	if !w.full || w.endedAt.IsZero() || w.watched < w.target {
		return nil
	}
	if err := s.dropUnseen(ctx, w.round, max(w.bucket.lastRevision, w.watched), w.replaced); err != nil {
		return err
	}
	w.finish()
	s.confirm(w.startedAt)
	return nil
}

// delivered notes that the watch has delivered a revision, and so all before it. Those
// of a full reading count as applied at its end.
func (w *bucketWatch) delivered(revision uint64) {
	p := w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = max(p.watched, revision)
	if !w.full {
		p.applied = max(p.applied, p.watched)
	}
}

// finish ends a full reading.
func (w *bucketWatch) finish() {
	p := w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = max(p.watched, w.bucket.lastRevision)
	p.applied = max(p.applied, p.watched)
	p.complete, w.full = true, false
}
