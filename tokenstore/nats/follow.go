package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
)

const (
	// maxWatchLag is how long the watch may be behind before it is started again. The
	// copy does not wait for that: see probe.go.
	maxWatchLag = 2 * time.Second
	// deleteMarkerTTL is how long the bucket keeps the markers of deletions. A copy
	// that was not confirmed for half of that is read again as a whole, not brought up
	// to date.
	deleteMarkerTTL = 24 * time.Hour
)

// readFault is the fault that the bucket cannot be read.
const readFault = "bucket"

var (
	errBucketReplaced = errors.New("the bucket was replaced by another one")
	errReconnected    = errors.New("the connection was renewed")
	errWatchLagging   = errors.New("the watch of the bucket does not keep up")
)

// follow keeps the copy up to date. It runs until Close cancels ctx.
func (s *Store) follow(ctx context.Context, p *progress) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		err := s.followOnce(ctx, p)
		if errors.Is(err, errBucketReplaced) {
			p.reset()
		}
		s.freshness.setError(err)
		switch {
		case ctx.Err() != nil || !s.conn.IsConnected():
		case errors.Is(err, errReconnected):
			s.log.Info("reading the tokens again", zap.Error(err))
		default:
			s.faults.Note(readFault, err.Error(), outage.Line{
				Level: zap.WarnLevel, Message: "reading the tokens again", Over: "the tokens have been read again", Err: err,
			})
		}
		if time.Since(began) > maxWatchLag {
			pause = 0
		}
		pause = min(max(2*pause, 100*time.Millisecond), 2*time.Second)
		timer := time.NewTimer(pause)
		select {
		case <-s.connected:
		case <-s.reconnected:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// followOnce reads the bucket, all of it or only what is new, and follows it until
// something is in the way.
func (s *Store) followOnce(ctx context.Context, p *progress) error {
	if !s.conn.IsConnected() {
		return errors.New("not connected to NATS")
	}
	clearSignal(s.reconnected) // this reading answers it
	clearSignal(s.watchLagging)
	clearSignal(s.resync)
	limited, done := context.WithTimeout(ctx, bucketTimeout)
	defer done()
	kv, err := s.bucket(limited)
	if err != nil {
		return err
	}
	w := bucketWatch{store: s, progress: p, startedAt: time.Now()}
	if w.bucket, w.replaced, err = s.recognize(ctx, p); err != nil {
		return err
	}
	w.start(s.freshness.lastConfirmed())
	if w.replaced { // by now catchUp reads no more of the old bucket
		s.mirror.rebase()
	}
	var options []jetstream.WatchOpt
	if !w.full {
		options = append(options, jetstream.ResumeFromRevision(w.watched+1))
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	watcher, err := kv.WatchAll(watching, options...)
	if err != nil {
		return err
	}
	defer stopWatcher(watcher)
	return w.run(ctx, watcher)
}

// tooOld reports whether a copy that was last confirmed at a given time may lack
// deletions whose markers the bucket has dropped since.
func tooOld(confirmed, now time.Time) bool { return now.Sub(confirmed) > deleteMarkerTTL/2 }

// stopWatcher stops a watch of the bucket. The client blocks on entries that it has
// received until they are taken: a goroutine takes them. It ends with Updates, which
// is closed with the subscription, at the latest when Close closes the connection.
func stopWatcher(w jetstream.KeyWatcher) {
	_ = w.Stop() // fails only when the connection is gone
	go func() {
		for range w.Updates() {
		}
	}()
}
