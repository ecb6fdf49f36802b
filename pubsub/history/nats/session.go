package nats

import (
	"context"
	"errors"
	"time"

	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// session receives the history until something is wrong, or nobody uses it any more. It
// returns why it ended.
func (st *stream) session(ctx context.Context) error {
	select { // what asked for it so far is done by this
	case <-st.restarts:
	default:
	}
	if epoch, known := st.known(); known && !st.unsure {
		// This needs the stream's leader alone: after a fault, the one of the definitions may come later.
		if mark, err := st.mark(ctx); err == nil {
			same, err := st.isSame(ctx, epoch, mark)
			if err != nil {
				return err
			}
			if same {
				return st.receiveFrom(ctx, mark, st.confirm)
			}
		}
	}
	st.unsure = false
	s := st.store
	r, err := s.ensureStream(ctx, st.name)
	if err != nil {
		return err
	}
	if r.Count < st.epochs() { // put back from an older copy, where another epoch was current
		return errors.Join(errRestart, s.beginAnew(ctx, st.name, r.Epoch, true))
	}
	mark, err := st.mark(ctx)
	if err != nil {
		return err
	}
	if same, err := st.isSame(ctx, r.epoch(), mark); err != nil {
		return err
	} else if !same {
		return errors.Join(errRestart, s.beginAnew(ctx, st.name, r.Epoch, true))
	}
	if st.prepare(&r) {
		st.stored.fail(func(arrival) bool { return true }) // in what was before
		if err := st.load(ctx, &r, mark); err != nil {
			st.discard()
			return err
		}
		// What has rolled over meanwhile may be missing in what was read.
		if mark, err = st.mark(ctx); err != nil {
			return err
		}
	}
	return st.receiveFrom(ctx, mark)
}

// known returns the epoch of what this edge has received, if that is the one of the definition that it knows.
func (st *stream) known() (epoch uint64, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.epoch, st.index != nil && st.record != nil && st.epoch == st.record.epoch()
}

// confirm ends a session that began without the definitions, if they say something else.
func (st *stream) confirm(ctx context.Context) error {
	for {
		r, err := st.store.ensureStream(ctx, st.name)
		if epoch, known := st.known(); err == nil && (!known || r.epoch() != epoch || r.Count < st.epochs()) {
			st.unsure = true
			return errRestart
		}
		if err == nil {
			<-ctx.Done()
			return ctx.Err()
		}
		if ctx.Err() == nil {
			st.store.warn("the definition of the history "+st.name+" is out of reach", err)
		}
		select {
		case <-time.After(st.store.heartbeat()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark stores a note, and returns its number. An edge that has received it has received all
// that was stored before, from whichever replica. It may store more than one.
func (st *stream) mark(ctx context.Context) (uint64, error) {
	got, err := st.store.ask(ctx, st.store.names.subjects(st.name)+rotated(markToken), nil)
	if err != nil {
		return 0, err
	}
	return numberOf(got)
}

// isSame reports whether the stream, in which a mark was stored just now, is the one that
// this edge has received so far: it may have been lost, cut short, or put back from an older
// copy. A new leader may not have all that was stored before it led, but it has when it has
// stored the mark.
func (st *stream) isSame(ctx context.Context, epoch, mark uint64) (bool, error) {
	st.mu.Lock()
	last, known := st.last, st.index != nil && st.epoch == epoch
	st.mu.Unlock()
	if !known || last.n == 0 {
		return true, nil
	}
	if mark <= last.n {
		return false, nil
	}
	s := st.store
	is := func(_ string, at time.Time) bool { return at.Equal(last.time) }
	soon, done := context.WithTimeout(ctx, s.heartbeat())
	defer done()
	if _, err := s.getDirect(soon, s.names.stream(st.name), last.n, is); err == nil {
		return true, nil // in a replica of what has the mark; servers without a leader of all answer nothing else
	}
	m, err := s.get(ctx, s.names.stream(st.name), map[string]any{"seq": last.n, "next_by_subj": s.names.subjects(st.name) + ">"})
	switch {
	case errors.Is(err, errGone):
		return true, nil
	case err != nil:
		return false, err
	case m.Sequence == last.n:
		return m.Time.Equal(last.time), nil
	}
	return !m.Time.Before(last.time), nil
}

// prepare reports whether the index has to be read again.
func (st *stream) prepare(r *record) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.index != nil && st.epoch == r.epoch() {
		return false
	}
	st.restarted = st.restarted || st.index != nil
	st.forget()
	st.record, st.counted = r, max(st.counted, r.Count)
	st.size.Store(r.Size)
	st.underWay.Store(int64(underWay(r.Messages)))
	return true
}

// discard drops an index that was not read to the end.
func (st *stream) discard() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.forget()
}

// load reads what the stream has up to a mark, but no payloads.
func (st *stream) load(ctx context.Context, r *record, mark uint64) error {
	st.mu.Lock()
	st.epoch = r.epoch()
	st.times.epoch = st.epoch
	st.index = index.New(st.epoch, limitsOf(r), nil)
	st.index.OnShrink(st.trims.add)
	st.mu.Unlock()
	in, err := st.open(ctx, 1, true)
	if err != nil {
		return err
	}
	why := watchOver(ctx, in, func(ctx context.Context) error { return st.watchProgress(ctx, in.server, mark) })
	defer func() { _ = why(nil) }()
	for {
		m, err := in.next()
		if err != nil {
			return why(err)
		}
		st.mu.Lock()
		if st.last.n == 0 { // what was before is gone
			st.index.RaiseFloors(wire.Position{Epoch: st.epoch, N: m.place.n - 1, T: ms(m.place.time)}, wire.GapUnknown)
		}
		st.take(m, true)
		st.head = st.positionOf(m.place)
		st.mu.Unlock()
		if m.place.n >= mark {
			break
		}
	}
	// What age and size have removed meanwhile was perhaps not read.
	info, err := st.store.streamInfo(ctx, st.store.names.stream(st.name))
	if err != nil {
		return err
	}
	if wanted := info.Config; r.limit(&wanted) && info.Config.MaxMsgsPerSubject < wanted.MaxMsgsPerSubject {
		return errRestart // channels were cut meanwhile
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.fresh = true
	if first := info.State.FirstSeq; first > 0 {
		st.index.RaiseFloors(st.times.at(min(first-1, st.last.n)), wire.GapUnknown)
	}
	return nil
}

// receiveFrom receives what comes behind the last place, while more watchers of the session run. When all
// up to a mark has come, the history is in reach.
func (st *stream) receiveFrom(ctx context.Context, mark uint64, more ...func(context.Context) error) error {
	st.mu.Lock()
	from, head, restarted := st.last.n+1, st.head, st.restarted
	st.restarted = false
	if st.fresh {
		st.fresh, st.loaded = false, mark
	}
	st.mu.Unlock()
	if f := st.store.joined(); restarted && f != nil { // what it had is over
		f.Skipped(st.name, head)
	}
	in, err := st.open(ctx, from, false)
	if err != nil {
		return err
	}
	st.want(mark)
	why := watchOver(ctx, in, append(more, st.watchSession, func(ctx context.Context) error { return st.watchProgress(ctx, in.server, mark) })...)
	for {
		m, err := in.next()
		if err != nil {
			return why(err)
		}
		st.receive(m)
		st.arrive()
	}
}

// settle does what waits until all is known that was removed while the history was read, and applies the
// limits that were defined meanwhile.
func (st *stream) settle() {
	st.mu.Lock()
	if st.settled {
		st.mu.Unlock()
		return
	}
	st.settled = true
	st.index.RaiseFirstFloors(st.times.at)
	st.shrinking++
	h, shrinking := st.index, st.index.SetLimits(st.limits())
	st.mu.Unlock()
	st.shrink(h, shrinking)
}

// watchSession ends a session that is to start over, or that nobody uses.
func (st *stream) watchSession(ctx context.Context) error {
	ticker := time.NewTicker(idleTime / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-st.restarts:
			return errRestart
		case <-ticker.C:
			st.store.mu.Lock()
			idle := st.idle()
			st.store.mu.Unlock()
			if idle {
				return errIdle
			}
		}
	}
}
