package nats

import (
	"context"
	"errors"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// reach returns the stream of a history, once it is in reach.
func (s *Store) reach(ctx context.Context, name string) (*stream, error) {
	st, err := s.use(name)
	if err != nil {
		return nil, err
	}
	return st, st.await(ctx)
}

// lockUp locks the stream if it is in reach.
func (st *stream) lockUp() error {
	st.mu.Lock()
	if !st.up || st.index == nil {
		st.mu.Unlock()
		return history.ErrUnavailable
	}
	return nil
}

// lockExpired is lockUp of an index without messages that are too old.
func (st *stream) lockExpired() error {
	for {
		if err := st.lockUp(); err != nil {
			return err
		}
		if st.index.Expire(time.Now(), index.MaxStep) {
			return nil
		}
		st.mu.Unlock()
	}
}

// Head implements [history.Store].
func (s *Store) Head(name, _ string) (wire.Position, error) {
	st, err := s.reach(s.ctx, name)
	if err != nil {
		return wire.Position{}, err
	}
	if err := st.lockUp(); err != nil {
		return wire.Position{}, err
	}
	defer st.mu.Unlock()
	return st.head, nil
}

// Knows implements [history.Store].
func (s *Store) Knows(name, _ string, p wire.Position) (bool, error) {
	st, err := s.reach(s.ctx, name)
	if err != nil {
		return false, err
	}
	if err := st.awaitPosition(p); err != nil {
		return false, err
	}
	if err := st.lockUp(); err != nil {
		return false, err
	}
	defer st.mu.Unlock()
	switch {
	case p == st.head:
		return true, nil
	case p.Epoch != st.epoch || p.N >= st.head.N:
		return false, nil
	}
	return st.times.knows(p, st.head), nil
}

// aheadTimeout is how long this edge waits for what another one has received already.
const aheadTimeout = 2 * time.Second

// awaitPosition waits for a position that this edge has not received yet, if the stream has
// its number: a client has got it at another edge, which was faster.
func (st *stream) awaitPosition(p wire.Position) error {
	st.mu.Lock()
	ahead := p.Epoch == st.epoch && p.N > st.head.N
	st.mu.Unlock()
	if !ahead {
		return nil
	}
	s := st.store
	ctx, done := context.WithTimeout(s.ctx, aheadTimeout)
	defer done()
	last, err, _ := st.asking.Do("", func() (any, error) { // one call for all who ask
		info, err := s.streamInfo(ctx, s.names.stream(st.name))
		return info.State.LastSeq, err
	})
	switch {
	case err != nil:
		return history.ErrUnavailable
	case p.N > last.(uint64):
		return nil
	}
	st.mu.Lock()
	st.waiting++
	st.mu.Unlock()
	err = st.wait(ctx, func() bool { return st.epoch != p.Epoch || st.head.N >= p.N })
	st.mu.Lock()
	st.waiting--
	st.mu.Unlock()
	return err
}

// Before implements [history.Store].
func (s *Store) Before(name, tenant, channel string, n int) (after, removed uint64, err error) {
	st, err := s.reach(s.ctx, name)
	if err != nil {
		return 0, 0, err
	}
	if err := st.lockExpired(); err != nil {
		return 0, 0, err
	}
	defer st.mu.Unlock()
	after, removed = st.index.Before(tenant, channel, n)
	return after, removed, nil
}

// Read implements [history.Store].
func (s *Store) Read(ctx context.Context, q history.Query) (history.Page, error) {
	st, err := s.reach(ctx, q.History)
	if err != nil {
		return history.Page{}, err
	}
	work := time.Duration(0)
	for {
		page, entries, err := st.page(ctx, &q)
		page.Work += work
		if err != nil {
			return page, err
		}
		err = st.fetch(ctx, &q, page, entries)
		if !errors.Is(err, errGone) {
			return page, err
		}
		// It was removed in between, and the next page says so.
		work = page.Work
		if ctx.Err() != nil {
			return history.Page{Work: work}, history.ErrUnavailable
		}
	}
}

// page reads a page with the payloads that this edge has, and the entries of its messages. It checks
// [history.Query].MaxChannels before. It lets go of the lock again and again.
func (st *stream) page(ctx context.Context, q *history.Query) (page history.Page, entries []*index.Entry, err error) {
	paging := index.NewPaging(q)
	epoch, work := uint64(0), time.Duration(0)
	err = st.turns.Do(ctx, q.Tenant, func() (done bool, err error) {
		if err := st.lockExpired(); err != nil {
			return false, err
		}
		defer st.mu.Unlock()
		if epoch != 0 && epoch != st.epoch { // it has started over: nothing before says anything
			work += paging.Page.Work
			paging = index.NewPaging(q)
		}
		epoch = st.epoch
		return paging.Step(st.index, st.head) // others have had what comes after the tenant's head
	})
	paging.Page.Work += work
	if err != nil {
		return history.Page{Work: paging.Page.Work}, nil, err
	}
	return paging.Page, paging.Entries, nil
}

// lost takes from the index what the stream does not have any more: a message, and all of its
// tenant before it; of all tenants where that was the oldest of the stream. An index that has
// not got to know of another reason yet does no harm by being early.
func (st *stream) lost(ctx context.Context, tenant string, p wire.Position) error {
	info, err := st.store.streamInfo(ctx, st.store.names.stream(st.name))
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.index == nil || st.epoch != p.Epoch {
		return nil
	}
	first := info.State.FirstSeq
	if first <= p.N {
		st.index.RemoveTo(tenant, p.N)
		return nil
	}
	to := st.times.at(min(first-1, st.last.n))
	st.index.RaiseFloors(to, wire.GapUnknown)
	for _, tenant := range st.index.Tenants() {
		st.index.RemoveTo(tenant, to.N)
	}
	return nil
}

// UsageNow implements [history.Shared].
func (s *Store) UsageNow() map[string][]history.Usage {
	all := map[string][]history.Usage{}
	for _, st := range s.list() {
		if list, err := st.usage(); err == nil {
			all[st.name] = list
		}
	}
	return all
}

// Usage implements [history.Store]. It asks all histories at once: each may be out of reach.
func (s *Store) Usage() (all []history.Usage, err error) {
	s.mu.Lock()
	closed, names := s.closed, map[string]bool{}
	for name, w := range s.wanted {
		names[name] = !w.definition.Retired
	}
	if s.doc != nil {
		for name := range s.doc.Histories {
			names[name] = true
		}
	}
	s.mu.Unlock()
	if closed {
		return nil, history.ErrClosed
	}
	type listed struct {
		name string
		list []history.Usage
		err  error
	}
	answers, asked := make(chan listed, len(names)), 0
	for name, is := range names {
		if !is {
			continue
		}
		asked++
		go func() {
			st, err := s.reach(s.ctx, name)
			var list []history.Usage
			if err == nil {
				list, err = st.usage()
			}
			answers <- listed{name, list, err}
		}()
	}
	failed := map[string]error{}
	for range asked {
		if a := <-answers; a.err != nil {
			failed[a.name] = a.err
		} else {
			all = append(all, a.list...)
		}
	}
	if len(failed) > 0 {
		err = &history.UsageError{Histories: failed}
	}
	return all, err
}

// usage lists what is kept, in steps between which others have the lock.
func (st *stream) usage() ([]history.Usage, error) {
	if err := st.lockExpired(); err != nil {
		return nil, err
	}
	list := index.NewInventory(st.index)
	for !list.Step(st.name) {
		st.mu.Unlock()
		st.mu.Lock()
	}
	st.mu.Unlock()
	return list.List, nil
}
