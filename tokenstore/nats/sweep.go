package nats

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// sweepInterval is how often, on average, expired records are removed.
const sweepInterval = time.Hour

// sweepLoop removes expired records now and then, until Close cancels ctx. All edges
// whose role allows it do so, at random times; compare-and-swap keeps them from doing
// harm to each other.
func (s *Store) sweepLoop(ctx context.Context) {
	for {
		timer := time.NewTimer(sweepInterval/2 + rand.N(sweepInterval))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if err := s.removeExpired(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("removing expired tokens", zap.Error(err))
		}
	}
}

// removeExpired removes the records whose DeleteAfter has passed, and old delete
// markers.
func (s *Store) removeExpired(ctx context.Context) error {
	s.mirror.pruneTombstones()
	list := s.mirror.expired()
	for _, rec := range list {
		if !s.config.Role.changes(rec.Kind) {
			continue
		}
		revision, ok := s.mirror.revision(rec.Version)
		if !ok {
			continue // the version is of an earlier bucket
		}
		err := s.withTimeout(ctx, func(ctx context.Context) error {
			kv, err := s.bucket(ctx)
			if err != nil {
				return err
			}
			return kv.Purge(ctx, keyOf(rec.Kind, rec.ID), jetstream.LastRevision(revision))
		})
		if err != nil && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return err
		}
	}
	if len(list) == 0 || s.config.Role != Manager { // only a Manager may purge the stream
		return nil
	}
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	kv, err := s.bucket(ctx)
	if err != nil {
		return err
	}
	return s.purgeDeleteMarkers(ctx, kv, time.Now().Add(-deleteMarkerTTL))
}

// purgeDeleteMarkers removes delete markers from the bucket that are older than a given
// time. The client's method for that (PurgeDeletes) would also remove a record that is
// created again just then.
func (s *Store) purgeDeleteMarkers(ctx context.Context, kv jetstream.KeyValue, before time.Time) error {
	watcher, err := kv.WatchAll(ctx, jetstream.MetaOnly())
	if err != nil {
		return err
	}
	var old []jetstream.KeyValueEntry
	for e := range watcher.Updates() {
		if e == nil {
			break
		}
		if e.Operation() != jetstream.KeyValuePut && e.Created().Before(before) {
			old = append(old, e)
		}
	}
	stopWatcher(watcher)
	if len(old) == 0 {
		return ctx.Err()
	}
	stream, err := s.js.Stream(ctx, s.streamName())
	if err != nil {
		return err
	}
	for _, e := range old {
		subject := "$KV." + s.config.Bucket + "." + e.Key()
		err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(e.Revision()+1))
		if err != nil {
			return err
		}
	}
	return nil
}
