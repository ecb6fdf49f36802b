package nats

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
)

// trims removes from the stream what the index has removed of a tenant that has more than
// half of the history, or of an owner of tenants that has. Otherwise the stream, which knows neither,
// would remove the oldest messages of all, and with them those of others.
//
// All edges see the same, and would do the same. The one that is first tells the others by a
// note, which also says to those that read the stream later that something was removed.
//
// Whoever is removed from waits for that with what it stores, and nobody else does. Where others store so
// much that it cannot be removed as fast, trims takes no more, and the oldest messages of all go.
type trims struct {
	stream *stream
	wake   chan struct{} // with room for one
	behind atomic.Int32  // how many of of are behind

	failed map[payer]failure // used by run

	mu    sync.Mutex // guards the rest
	of    map[payer]*pendingTrims
	bytes int64 // of all
}

// pendingTrims are the messages of one payer that are to be removed.
type pendingTrims struct {
	list   []trim
	mixed  bool // list does not ascend: something has come to the payer with a tenant
	bytes  int64
	behind bool
	// until then some edge is taken to remove what there is
	claimed time.Time
}

// failure is what is known of a payer whose messages this edge could not remove.
type failure struct {
	pause time.Duration // after the last try
	until time.Time     // its end
}

// trim is a message that is to be removed.
type trim struct {
	tenant string
	n      uint64
	size   int64
}

func newTrims(st *stream) *trims {
	return &trims{stream: st, wake: make(chan struct{}, 1), failed: map[payer]failure{}, of: map[payer]*pendingTrims{}}
}

// add takes an entry that is about to go from the index, unless there are too many.
func (t *trims) add(owner, tenant string, e *index.Entry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes > t.stream.size.Load()/10 {
		return false
	}
	p := payer{owner: owner}
	if owner == "" {
		p.tenant = tenant
	}
	of := t.of[p]
	if of == nil {
		of = new(pendingTrims)
		t.of[p] = of
	}
	size := int64(e.Size) + index.EntryOverhead
	of.mixed = of.mixed || len(of.list) > 0 && of.list[len(of.list)-1].n > e.N
	of.list = append(of.list, trim{tenant, e.N, size})
	t.count(of, size)
	return true
}

// count counts bytes that are to be removed. The caller holds t.mu.
func (t *trims) count(of *pendingTrims, bytes int64) {
	of.bytes += bytes
	t.bytes += bytes
	switch behind := of.bytes > t.stream.trimLimit(); {
	case behind && !of.behind:
		t.behind.Add(1)
		of.behind = true
	case !behind && of.behind:
		t.behind.Add(-1)
		of.behind = false
	}
	if t.bytes > t.batch() {
		signal(t.wake)
	}
}

// done notes that all of a payer up to a number is removed; 0: an edge could remove nothing. What stands behind
// others with a higher number has come since some edge made its list of what to remove: it stays, for the next.
func (t *trims) done(p payer, to uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.of[p]
	if of == nil {
		return
	}
	n, removed := 0, int64(0)
	for ; n < len(of.list) && of.list[n].n <= to; n++ {
		removed += of.list[n].size
	}
	of.list, of.claimed = of.list[n:], time.Time{}
	t.count(of, -removed)
	if len(of.list) == 0 {
		delete(t.of, p)
	}
	signal(t.stream.out.wake)
}

// claim notes that some edge removes what there is of a payer. It does not prolong what that has: an edge that
// fails, and tries again and again, keeps nobody else from it.
func (t *trims) claim(p payer, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.of[p]; of != nil && of.claimed.Before(now) {
		of.claimed = now.Add(claimTime)
		of.sort()
	}
}

// sort has the list ascend: what is removed next is the first part of it.
func (of *pendingTrims) sort() {
	if of.mixed {
		slices.SortFunc(of.list, func(a, b trim) int { return cmp.Compare(a.n, b.n) })
		of.mixed = false
	}
}

// reset forgets all.
func (t *trims) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of, t.bytes = map[payer]*pendingTrims{}, 0
	t.behind.Store(0)
	signal(t.stream.out.wake)
}

// isBehind reports whether so much of a payer waits to be removed that it may store nothing more.
func (t *trims) isBehind(p payer) bool {
	if t.behind.Load() == 0 || p == (payer{}) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.of[p]
	return of != nil && of.bytes > t.stream.trimLimit() // which a reload may raise
}

// payerOf returns who makes room for a message: its tenant if that is behind, else whoever owns the tenant
// then, not who publishes. The caller holds st.mu.
func (st *stream) payerOf(m *history.Message) payer {
	if p := (payer{tenant: m.Tenant}); st.trims.isBehind(p) {
		return p
	}
	if st.index == nil {
		return payer{owner: m.Owner}
	}
	return payer{owner: st.index.OwnerAfter(m.Tenant, m.Owner)}
}

// The stream has room for an eighth of its size more than the index; see limits. A tenth of it may wait to
// be removed, so that one payer may have trimLimit there and, when it is stopped at that, what it has under
// way from ten edges, or from five where the history is very small; see window. What waits at least before it
// is removed is a batch: each removal takes room for its notes.

func (st *stream) trimLimit() int64 { return st.size.Load() / 48 }

func (t *trims) batch() int64 { return t.stream.trimLimit() / 2 }

const (
	// maxTrimDelay is how long an edge waits at most for another one to be first.
	maxTrimDelay = 10 * time.Millisecond
	// trimPause is how long an edge does not try a payer again whose removal has failed, and maxTrimPause when
	// many have in a row: each try may leave notes, and meanwhile other edges wait.
	trimPause, maxTrimPause = time.Second, time.Minute
	// claimTime is how long an edge waits for one that was first.
	claimTime = 5 * time.Second
	// maxTrimmed is how many messages are removed for one note at most.
	maxTrimmed = 4096
	// fewTrimmed is how many messages of a tenant are removed one by one.
	fewTrimmed = 16
)

// run removes what there is, until ctx is done.
func (t *trims) run(ctx context.Context) {
	again := time.NewTimer(0) // to look at what another edge has claimed
	defer again.Stop()
	for {
		select {
		case <-t.wake:
		case <-again.C:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(maxTrimDelay)))):
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			if up, changed := t.stream.isUp(); !up { // else it would fail, and pause for longer and longer
				clear(t.failed)
				select {
				case <-changed:
				case <-ctx.Done():
				}
				continue
			}
			p, list, wait := t.next(time.Now())
			if list == nil {
				if wait > 0 {
					again.Reset(wait)
				}
				break
			}
			err := t.remove(ctx, p, list)
			if err == nil || ctx.Err() != nil {
				delete(t.failed, p)
				continue
			}
			t.stream.store.warn("cannot trim the tenants of who has more than half of history "+t.stream.name, err)
			_ = t.stream.store.publishTrim(ctx, t.stream.name, trimNote{payer: p, done: true}) // so that others may
			t.fail(p, time.Now())
		}
	}
}

// fail notes that a payer's messages could not be removed. That took others the time of two calls at most, the one
// that failed and the note about it; now it is their turn.
func (t *trims) fail(p payer, now time.Time) {
	pause := min(max(2*t.failed[p].pause, trimPause), maxTrimPause)
	maps.DeleteFunc(t.failed, func(_ payer, f failure) bool { return now.Sub(f.until) > maxTrimPause })
	t.failed[p] = failure{pause, now.Add(pause)}
}

// next claims what is to be removed next: the most that waits of a payer, of one that has failed only if there is
// no other. What is claimed already, or has failed just now, does not count. There is nothing until the rest is
// enough in all; wait is how long the first of those has to wait.
func (t *trims) next(now time.Time) (p payer, list []trim, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes <= t.batch() {
		return p, nil, 0
	}
	var most *pendingTrims
	bytes, pause := int64(0), time.Duration(0)
	for who, of := range t.of {
		f := t.failed[who]
		if left := max(of.claimed.Sub(now), f.until.Sub(now)); left > 0 {
			if wait == 0 || left < wait {
				wait = left
			}
			continue
		}
		bytes += of.bytes
		if most == nil || f.pause < pause || f.pause == pause && of.bytes > most.bytes {
			p, most, pause = who, of, f.pause
		}
	}
	if bytes <= t.batch() {
		return p, nil, wait
	}
	most.claimed = now.Add(claimTime)
	most.sort()
	return p, append(list, most.list[:min(len(most.list), maxTrimmed)]...), 0
}

// remove removes messages of a payer from the stream, and its notes there, in whose place this one is. A
// note comes first: who reads the stream must not miss them without being told. Another one says that
// there is room again. Both have the highest number: what the payer has below it that is not in the list
// was removed before, or is told as removed to those that read the stream later, or has come to the payer with
// a tenant just now, and goes next.
func (t *trims) remove(ctx context.Context, p payer, list []trim) error {
	s, name := t.stream.store, t.stream.name
	to := uint64(0)
	for _, one := range list {
		to = max(to, one.n)
	}
	if err := s.publishTrim(ctx, name, trimNote{p, to, false}); err != nil {
		return err
	}
	if err := t.removeEach(ctx, list); err != nil {
		return err
	}
	for _, filter := range []string{p.notes(s.names, name, false), p.notes(s.names, name, true)} {
		if err := s.purge(ctx, s.names.stream(name), filter, to+1); err != nil {
			return err
		}
	}
	return s.publishTrim(ctx, name, trimNote{p, to, true})
}

// removeEach removes messages: many of a tenant by one call.
func (t *trims) removeEach(ctx context.Context, list []trim) error {
	s, stream := t.stream.store, t.stream.store.names.stream(t.stream.name)
	byTenant := map[string][]uint64{}
	for _, one := range list {
		byTenant[one.tenant] = append(byTenant[one.tenant], one.n)
	}
	var single []uint64
	for tenant, numbers := range byTenant {
		if len(numbers) <= fewTrimmed {
			single = append(single, numbers...)
			continue
		}
		if err := s.purge(ctx, stream, s.names.tenantFilter(t.stream.name, tenant), numbers[len(numbers)-1]+1); err != nil {
			return err
		}
	}
	return deleteAll(single, func(n uint64) error { return s.delete(ctx, stream, n, false) })
}
