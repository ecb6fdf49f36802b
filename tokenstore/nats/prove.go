package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The watch of the bucket is fast, and can be silent without a word: the server
// that it reads from may have died, be frozen, or be cut off from its leader, and
// its heartbeats take seconds to be missed. So the copy is proved beside it, by
// questions to the leader, which is the server that acknowledges writes: what its
// latest revision is, and, if the copy does not come to have that by the watch, for
// what is missing. A revocation is so in the copy within probeEvery, watchTime and
// two round trips of its acknowledgement, whatever became of the watch.
const (
	// probeEvery is how often the leader is asked for the latest revision.
	probeEvery = 250 * time.Millisecond
	// watchTime is how long the watch has to bring what a question has shown.
	watchTime = 100 * time.Millisecond
	// maxProbes is how many questions are under way: one may have gone to a leader
	// that has died, and the next one finds its successor.
	maxProbes = 20
	// missingTime bounds one question for what is missing, likewise.
	missingTime = 500 * time.Millisecond
)

// probe is what the bucket says of itself.
type probe struct {
	position
	at      time.Time // when it was asked
	applied uint64    // what was in the copy by then
	err     error
}

// prove keeps the copy confirmed, as long as the store runs.
func (s *Store) prove(ctx context.Context, r *reading) {
	answers, caught := make(chan probe), make(chan struct{})
	tick := time.NewTimer(probeEvery)
	defer tick.Stop()
	var asked, behind time.Time // the last time; since when the watch is
	under, catching := 0, false
	for {
		select {
		case <-s.lookups.asked:
			tick.Reset(max(0, time.Until(asked.Add(confirmSpacing))))
		case <-tick.C:
			tick.Reset(probeEvery)
			_, applied, whole := r.now()
			if !whole || under >= maxProbes || !s.conn.IsConnected() {
				continue
			}
			asked, under = time.Now(), under+1
			p := probe{at: asked, applied: applied}
			s.running.Go(func() {
				p.position, p.err = s.position(ctx)
				select {
				case answers <- p:
				case <-ctx.Done():
				}
			})
		case p := <-answers:
			under--
			current, err := s.compare(r, p)
			switch {
			case err != nil:
				select {
				case s.gone <- err:
				default: // it has been said
				}
			case p.err == nil && !current && !catching:
				catching = true
				s.running.Go(func() {
					s.catchUp(ctx, r, p)
					select {
					case caught <- struct{}{}:
					case <-ctx.Done():
					}
				})
			}
			if p.err == nil && r.keepsUp(p.last) {
				behind = time.Time{}
			} else if p.err == nil && behind.IsZero() {
				behind = p.at
			}
			if !behind.IsZero() && time.Since(behind) > lagging {
				behind = time.Time{}
				kick(s.lagged)
			}
			s.lookups.confirmed(time.Time{}) // asks again if that was too early for some
		case <-caught:
			catching = false
		case <-ctx.Done():
			return
		}
	}
}

// keepsUp reports whether the watch has brought everything up to a revision.
func (r *reading) keepsUp(revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watched >= revision
}

// compare takes the answer to a question, and reports whether the copy has all
// that it shows. Without an answer the clock runs. An error: the bucket is gone, or
// is not what is in the copy.
func (s *Store) compare(r *reading, p probe) (current bool, err error) {
	_, applied, whole := r.now()
	answered := p.err == nil
	switch {
	case errors.Is(p.err, jetstream.ErrStreamNotFound):
		return false, fmt.Errorf("the bucket %q is gone: %w", s.config.Bucket, p.err)
	case !answered, !whole:
		return false, nil
	case r.another(p.position, p.applied):
		return false, errAnother
	case p.last <= applied: // less: there was news while it was asked
		s.confirm(p.at)
		return true, nil
	}
	return false, nil
}

// catchUp brings into the copy what a question has shown and the watch does not
// bring, as the leader has it. Without an answer the next question tries again.
func (s *Store) catchUp(ctx context.Context, r *reading, p probe) {
	timer := time.NewTimer(watchTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	for {
		created, applied, whole := r.now()
		if !whole || !created.Equal(p.created) {
			return // it is read as a whole
		}
		if applied >= p.last {
			s.confirm(p.at)
			return
		}
		m, err := s.next(ctx, applied+1)
		switch {
		case err != nil:
			return
		case m == nil: // what there was has been written over, or taken out
			r.advance(p.created, p.last)
			continue
		}
		s.apply(strings.TrimPrefix(m.subject, s.subjects()), m, 0)
		r.advance(p.created, m.revision)
	}
}
