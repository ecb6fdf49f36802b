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
// two round trips of its acknowledgement, and one more for each change that is missing
// before it, whatever became of the watch.
const (
	// probeEvery is how often the leader is asked for the latest revision.
	probeEvery = 250 * time.Millisecond
	// watchTime is how long the watch has to bring what a question has shown.
	watchTime = 100 * time.Millisecond
	// maxHurried is how many questions are under way where look-ups bring the next
	// one forward, and maxProbes how many in all: one may have gone to a leader that
	// has died, where it waits for patience, and those of its successor must find
	// room, however many tokens somebody makes up.
	maxHurried = 20
	maxProbes  = maxHurried + int(patience/probeEvery)
	// missingTime bounds one question for what is missing.
	missingTime = 500 * time.Millisecond
)

// probe is what the bucket says of itself.
type probe struct {
	position
	at      time.Time // when it was asked
	applied uint64    // what was in the copy by then
	err     error
}

// proving is the state of prove.
type proving struct {
	store    *Store
	reading  *reading
	answers  chan probe
	caught   chan struct{} // catchUp has ended
	asked    time.Time     // the last time
	under    int           // questions that are under way
	catching bool
	lag      lag
}

// prove keeps the copy confirmed, as long as the store runs.
func (s *Store) prove(ctx context.Context, r *reading) {
	p := proving{store: s, reading: r, answers: make(chan probe), caught: make(chan struct{})}
	tick := time.NewTimer(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.lookups.asked:
			if p.under < maxHurried { // else the next answer brings them back
				tick.Reset(max(0, time.Until(p.asked.Add(confirmSpacing))))
			}
		case <-tick.C:
			tick.Reset(probeEvery)
			p.ask(ctx)
		case answer := <-p.answers:
			p.under--
			p.take(ctx, answer)
			s.lookups.confirmed(time.Time{}) // asks again if that was too early for some
		case <-p.caught:
			p.catching = false
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the leader for the latest revision, unless the follower has to read the
// whole bucket first.
func (p *proving) ask(ctx context.Context) {
	s, now := p.store, p.reading.now()
	if !now.whole || tooOld(s.state.since(), time.Now()) || p.under >= maxProbes || !s.conn.IsConnected() {
		return
	}
	p.asked = time.Now()
	p.under++
	question := probe{at: p.asked, applied: now.applied}
	s.running.Go(func() {
		question.position, question.err = s.position(ctx)
		select {
		case p.answers <- question:
		case <-ctx.Done():
		}
	})
}

// take takes an answer.
func (p *proving) take(ctx context.Context, answer probe) {
	s := p.store
	current, err := s.compare(p.reading, answer)
	switch {
	case err != nil:
		select {
		case s.gone <- err:
		default: // it has been said
		}
		return
	case answer.err != nil:
		return
	}
	s.replicas.note(answer.position, answer.at, s.log)
	if !current && !p.catching {
		p.catching = true
		s.running.Go(func() {
			s.catchUp(ctx, p.reading, answer)
			select {
			case p.caught <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}
	if p.lag.tooLong(answer, p.reading.now().watched, time.Now()) {
		kick(s.lagged)
	}
}

// lag is what the watch is behind of.
type lag struct {
	revision uint64    // that it has not brought; 0: it is not behind
	since    time.Time // when that was asked for
}

// tooLong takes an answer, with what the watch has brought by now. It reports whether
// the watch has not brought one and the same revision for lagging. While others write,
// there is always a newer one.
func (l *lag) tooLong(answer probe, watched uint64, now time.Time) bool {
	if watched >= l.revision {
		*l = lag{}
		if watched < answer.last {
			*l = lag{answer.last, answer.at}
		}
	}
	if l.revision == 0 || now.Sub(l.since) <= lagging {
		return false
	}
	*l = lag{}
	return true
}

// compare takes the answer to a question, and reports whether the copy has all
// that it shows. Without an answer the clock runs. An error: the bucket is gone, or
// is not what is in the copy.
func (s *Store) compare(r *reading, p probe) (current bool, err error) {
	now, answered := r.now(), p.err == nil
	switch {
	case errors.Is(p.err, jetstream.ErrStreamNotFound):
		return false, fmt.Errorf("the bucket %q is gone: %w", s.config.Bucket, p.err)
	case !answered, !now.whole:
		return false, nil
	case r.another(p.position, p.applied):
		return false, errAnother
	case p.last <= now.applied: // less: there was news while it was asked
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
		now := r.now()
		if !now.whole || !now.created.Equal(p.created) {
			return // it is read as a whole
		}
		if now.applied >= p.last {
			s.confirm(p.at)
			return
		}
		m, err := s.next(ctx, now.applied+1)
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
