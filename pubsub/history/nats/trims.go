package nats

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history/internal/index"
)

// trims removes from the stream what the index has removed of tenants that have more than
// half of the history. Otherwise the stream, which knows no tenants, would remove the oldest
// messages of all, and with them those of others.
//
// All edges see the same, and would do the same. The one that is first tells the others by a
// note, which also says to those that read the stream later that something was removed.
type trims struct {
	stream *stream
	wake   chan struct{} // with room for one

	mu    sync.Mutex // guards the rest
	of    map[string][]trim
	bytes int64 // of all
}

// trim is a message that is to be removed. Those of a tenant ascend.
type trim struct {
	n    uint64
	size int64
}

func newTrims(st *stream) *trims {
	return &trims{stream: st, wake: make(chan struct{}, 1), of: map[string][]trim{}}
}

// add takes an entry that is about to go from the index.
func (t *trims) add(_, tenant string, e *index.Entry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := int64(e.Size) + index.EntryOverhead
	t.of[tenant] = append(t.of[tenant], trim{e.N, size})
	if t.bytes += size; t.bytes > t.batch() {
		signal(t.wake)
	}
	return true
}

// done notes that all of a tenant up to a number is removed.
func (t *trims) done(tenant string, to uint64) {
	t.mu.Lock()
	list := t.of[tenant]
	for len(list) > 0 && list[0].n <= to {
		t.bytes -= list[0].size
		list = list[1:]
	}
	if t.of[tenant] = list; len(list) == 0 {
		delete(t.of, tenant)
	}
	t.mu.Unlock()
	signal(t.stream.out.wake)
}

// reset forgets all.
func (t *trims) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of, t.bytes = map[string][]trim{}, 0
}

// isBehind reports whether so much waits to be removed that nothing more may be stored.
func (t *trims) isBehind() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes > t.stream.trimLimit()
}

// trimLimit is how much may wait to be removed: less than what the stream has more room for
// than the index.
func (st *stream) trimLimit() int64 { return st.size.Load() / 24 }

// batch is how much waits at least before it is removed: each removal takes room for its notes.
func (t *trims) batch() int64 { return t.stream.trimLimit() / 4 }

// maxTrimDelay is how long an edge waits at most for another one to be first.
const maxTrimDelay = 10 * time.Millisecond

// trimPause is how long an edge waits when a removal has failed.
const trimPause = time.Second

// run removes what there is, until ctx is done.
func (t *trims) run(ctx context.Context) {
	for {
		select {
		case <-t.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(maxTrimDelay)))):
		case <-ctx.Done():
			return
		}
		t.mu.Lock()
		now := map[string]uint64{}
		for tenant, list := range t.of {
			if t.bytes > t.batch() { // another edge was not first
				now[tenant] = list[len(list)-1].n
			}
		}
		t.mu.Unlock()
		for tenant, to := range now {
			if err := t.remove(ctx, tenant, to); err != nil {
				if ctx.Err() == nil {
					t.stream.store.warn("a tenant that has more than half of history "+t.stream.name+" cannot be cut", err)
				}
				signal(t.wake)
				select { // each try may leave a note
				case <-time.After(trimPause):
				case <-ctx.Done():
				}
				break
			}
		}
	}
}

// remove removes the messages of a tenant up to a number from the stream, and its notes there,
// in whose place this one is. A note comes first: who reads the stream must not miss them
// without being told. Another one says that there is room again.
func (t *trims) remove(ctx context.Context, tenant string, to uint64) error {
	s, name := t.stream.store, t.stream.name
	number := strconv.AppendUint(nil, to, 10)
	if _, err := s.publish(ctx, s.names.note(name, rotated(trimToken)+".", tenant, ""), number); err != nil {
		return err
	}
	for _, filter := range []string{
		s.names.tenantFilter(name, tenant),
		s.names.note(name, trimToken+"*.", tenant, ""), s.names.note(name, trimmedToken+"*.", tenant, ""),
	} {
		if err := s.purge(ctx, s.names.stream(name), filter, to+1); err != nil {
			return err
		}
	}
	_, err := s.publish(ctx, s.names.note(name, rotated(trimmedToken)+".", tenant, ""), number)
	return err
}
