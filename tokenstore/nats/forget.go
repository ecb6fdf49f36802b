package nats

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// sweepEvery is how often records are looked for that may be forgotten.
const sweepEvery = time.Hour

// sweep removes what may be forgotten, now and then. All edges do whose role lets
// them, at different times; compare-and-swap keeps them from doing harm.
func (s *Store) sweep(ctx context.Context) {
	for {
		timer := time.NewTimer(sweepEvery/2 + rand.N(sweepEvery))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if err := s.forget(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("removing expired tokens", zap.Error(err))
		}
	}
}

func (s *Store) forget(ctx context.Context) error {
	s.mirror.tidy()
	list := s.mirror.forgettable()
	for _, rec := range list {
		if !s.config.Role.changes(rec.Kind) {
			continue
		}
		revision, ok := s.mirror.revision(rec.Version)
		if !ok {
			continue // of another bucket
		}
		err := s.ask(ctx, func(ctx context.Context) error {
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
	if len(list) == 0 || s.config.Role != Manager { // nobody else may purge the stream
		return nil
	}
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	kv, err := s.bucket(ctx)
	if err != nil {
		return err
	}
	return s.purgeMarkers(ctx, kv, time.Now().Add(-oldMarkers))
}

// purgeMarkers takes deletions out of the bucket that are older than a time. What
// the client has for it (PurgeDeletes) would take a record along that is created
// anew just then.
func (s *Store) purgeMarkers(ctx context.Context, kv jetstream.KeyValue, before time.Time) error {
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
	stream, err := s.js.Stream(ctx, s.stream())
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
