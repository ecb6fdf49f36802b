package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The watch of the bucket is fast, but it can fall silent without notice: the server
// that it reads from may have died, be frozen, or be cut off from its leader, and it
// takes seconds until its heartbeats are missed. So probes confirm the copy beside the
// watch. A probe asks the leader, which is the server that acknowledges writes, for
// its latest revision. If the watch does not deliver that, catchUp asks the leader for
// what is missing. So a revocation is in the copy within probeInterval, watchGrace and
// two round trips of its acknowledgement, and one round trip more for each change that
// is missing before it, whatever became of the watch.
const (
	// probeInterval is how often the leader is asked for the latest revision.
	probeInterval = 250 * time.Millisecond
	// watchGrace is how long the watch has to deliver what a probe has shown.
	watchGrace = 100 * time.Millisecond
	// maxInFlightForLookups is how many probes may be in flight for look-ups to bring the
	// next one forward; maxInFlight is how many may be in flight at all. A probe that
	// went to a leader that has died waits for the timeout of calls. The probes to its
	// successor must find room beside those, however many tokens somebody makes up.
	maxInFlightForLookups = 20
	maxInFlight           = maxInFlightForLookups + int(defaultCallTimeout/probeInterval)
	// fetchTimeout bounds one request for what is missing.
	fetchTimeout = 500 * time.Millisecond
)

// probe is a request for the state of the bucket, and its answer.
type probe struct {
	bucketState
	sentAt  time.Time // when the leader was asked
	applied uint64    // progress.applied at that time
	err     error
}

// prober is the state of probeLoop, which alone uses it.
type prober struct {
	store       *Store
	progress    *progress
	answers     chan probe // probes that were answered, or failed
	catchUpDone chan error // how catchUp has ended
	lastSent    time.Time  // when the last probe was sent
	inFlight    int        // number of probes without an answer yet
	catchingUp  bool       // catchUp runs
	resolved    chan error // how resolveHolds has ended
	resolving   bool       // it runs
	lag         lag

	lastError  error     // why the copy was not confirmed, the last time
	loggedAt   time.Time // when the log last said that it is not; zero: not since it was
	stoodLogAt time.Time // when the log last said that the process stood still
}

// probeLoop keeps the copy confirmed. It runs until Close cancels ctx.
func (s *Store) probeLoop(ctx context.Context, progress *progress) {
	p := prober{store: s, progress: progress, answers: make(chan probe), catchUpDone: make(chan error), resolved: make(chan error)}
	s.freshness.pulse(time.Now())
	defer s.freshness.endPulse()
	tick := time.NewTimer(probeInterval)
	defer tick.Stop()
	for {
		p.logStandstill(time.Now())
		select {
		case <-s.lookups.confirmWanted:
			if p.inFlight < maxInFlightForLookups { // else the next answer signals confirmWanted again
				tick.Reset(max(0, time.Until(p.lastSent.Add(confirmSpacing))))
			}
		case <-tick.C:
			tick.Reset(probeInterval)
			p.send(ctx)
			p.chase(ctx)
			p.logUnconfirmed(time.Now())
		case answer := <-p.answers:
			p.inFlight--
			p.handle(ctx, answer)
			s.lookups.resolveConfirmed(time.Time{}) // signals confirmWanted again if look-ups still wait
		case err := <-p.catchUpDone:
			p.catchingUp = false
			p.note(err)
		case err := <-p.resolved:
			p.resolving = false
			p.note(err)
		case <-ctx.Done():
			return
		}
	}
}

// send sends a probe, unless the follower has to read the whole bucket first, for lack of the
// markers of deletions. A probe beside its reading says at least that the leader answers.
func (p *prober) send(ctx context.Context) {
	s, now := p.store, p.progress.snapshot()
	if tooOld(s.freshness.lastConfirmed(), time.Now()) || p.inFlight >= maxInFlight {
		return
	}
	p.lastSent = time.Now()
	p.inFlight++
	probe := probe{sentAt: p.lastSent, applied: now.applied}
	s.running.Go(func() {
		if probe.err = errNotConnected; s.conn.IsConnected() { // may wait for a connection that is being made
			probe.bucketState, probe.err = s.bucketState(ctx)
		}
		select {
		case p.answers <- probe:
		case <-ctx.Done():
		}
	})
}

// handle handles the answer to a probe.
func (p *prober) handle(ctx context.Context, answer probe) {
	s := p.store
	current, err := s.confirmIfCurrent(p.progress, answer)
	switch {
	case err != nil:
		select {
		case s.resync <- err:
		default: // the follower has been told
		}
		return
	case answer.err != nil:
		p.note(answer.err)
		return
	}
	s.freshness.answered(time.Now())
	s.replicas.update(answer.bucketState, answer.sentAt, s.log)
	now := p.progress.snapshot()
	if !now.complete || now.doubted { // the follower looks after the bucket
		return
	}
	if !current && !p.catchingUp {
		p.catchingUp = true
		p.run(ctx, p.catchUpDone, func() error { return s.catchUp(ctx, p.progress, answer) })
	}
	if p.lag.tooLong(answer, now.watched, time.Now()) {
		signal(s.watchLagging)
	}
}

// lag is what the watch is behind on.
type lag struct {
	revision uint64    // that it has not delivered; 0: it is not behind
	since    time.Time // when the probe was sent that showed it
}

// tooLong takes an answer, and what the watch has delivered by now. It reports whether
// the watch has failed to deliver one and the same revision for maxWatchLag. It does not
// ask for the latest one: while others write, there is always a newer one.
func (l *lag) tooLong(answer probe, watched uint64, now time.Time) bool {
	if watched >= l.revision {
		*l = lag{}
		if watched < answer.lastRevision {
			*l = lag{answer.lastRevision, answer.sentAt}
		}
	}
	if l.revision == 0 || now.Sub(l.since) <= maxWatchLag {
		return false
	}
	*l = lag{}
	return true
}

// confirmIfCurrent confirms the copy if it has all that the answer to a probe shows, and
// reports whether it does. Without an answer nothing is confirmed, and the copy goes
// on to age. It returns an error if the bucket is gone, or is not the one in the copy.
func (s *Store) confirmIfCurrent(progress *progress, p probe) (current bool, err error) {
	now, answered := progress.snapshot(), p.err == nil
	switch {
	case !now.complete:
		return false, nil
	case errors.Is(p.err, jetstream.ErrStreamNotFound):
		return false, fmt.Errorf("the bucket %q is gone: %w", s.config.Bucket, p.err)
	case !answered, now.doubted:
		return false, nil
	case !p.created.Equal(now.created):
		return false, errBucketReplaced
	case p.lastRevision < p.applied:
		progress.doubt(p.lastRevision)
		return false, errBehind
	case p.lastRevision <= now.applied: // less: a change arrived while the probe was in flight
		s.confirm(p.sentAt)
		return true, nil
	}
	return false, nil
}

// catchUp brings into the copy what a probe has shown and the watch does not deliver,
// as the leader has it. If the leader does not answer, the next probe tries again.
func (s *Store) catchUp(ctx context.Context, progress *progress, p probe) error {
	timer := time.NewTimer(watchGrace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil
	}
	for {
		now := progress.snapshot()
		if !now.complete || now.doubted || !now.created.Equal(p.created) {
			return nil // the follower looks after the bucket
		}
		if now.applied >= p.lastRevision {
			s.confirm(p.sentAt)
			return nil
		}
		m, err := s.nextUpTo(ctx, now.applied+1, p.lastRevision)
		switch {
		case err != nil:
			return err
		case m == nil: // what was missing has been overwritten or purged
			progress.advance(p.created, p.lastRevision)
			continue
		}
		s.apply(strings.TrimPrefix(m.subject, s.subjectPrefix()), m, 0)
		progress.advance(p.created, m.revision)
	}
}
