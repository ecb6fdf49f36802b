package nats

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// defaultPatience is how long calls wait for a history that is out of reach.
const defaultPatience = 5 * time.Second

// idleTime is how long an edge goes on to receive a history that it does not use.
var idleTime = time.Minute // changed by tests

// stream is a history, as this edge sees it. Its index has all that the stream in NATS has,
// up to the head, and removes by the same limits.
type stream struct {
	store *Store
	name  string
	out   *outgoing
	trims *trims
	turns index.Turns // of those who search it

	// guarded by Store.mu
	users   int // calls of Follow that were not taken back
	lastUse time.Time
	running bool

	size     atomic.Int64  // of the definition
	underWay atomic.Int64  // see underWay
	restarts chan struct{} // with room for one: the session is to start over

	// of the session alone
	stalls  int                  // sessions in a row that ended with errStalled
	shunned map[string]time.Time // servers that were behind, and when
	unsure  bool                 // the definitions say something else than is known

	mu        sync.Mutex
	record    *record        // as in the document; nil: not known yet
	up        bool           // it is received, and was found to be whole
	why       error          // while it is not: why; nil: that is not known yet
	away      bool           // it has not been for longer than calls wait
	changed   chan struct{}  // closed when record or up change
	index     *index.History // nil: it was not read yet
	epoch     uint64
	counted   uint64        // the highest count of an epoch that was seen
	restarted bool          // what was before is over, and the follower does not know yet
	fresh     bool          // it was read, and nothing was received since
	settled   bool          // it was read, and all that was removed meanwhile is known
	loaded    uint64        // notes up to here may be about what was removed before it was read
	last      place         // up to here all was received
	head      wire.Position // likewise, and handed on
	wanted    uint64        // the history is in reach when head is there
	times     timeline
	cache     cache
	fetches   map[uint64]*fetching     // by number of the message
	purges    map[string]chan<- purged // see Purge
	stored    arrivals
	waiting   int                // calls of awaitPosition
	asking    singleflight.Group // for the last number of the stream
	shrinking int                // new limits that are not in effect to the end
}

// place is where a message stands in the stream.
type place struct {
	n    uint64
	time time.Time // as the server has it, in nanoseconds
}

func newStream(s *Store, name string) *stream {
	st := &stream{
		store: s, name: name, restarts: make(chan struct{}, 1), changed: make(chan struct{}),
		cache: cache{most: s.current.CacheBytes}, purges: map[string]chan<- purged{}, fetches: map[uint64]*fetching{}, shunned: map[string]time.Time{},
	}
	st.out, st.trims = newOutgoing(st), newTrims(st)
	return st
}

// use has the edge receive the history, at least for idleTime. The caller holds Store.mu,
// and the store is not closed.
func (st *stream) use() {
	st.lastUse = time.Now()
	if !st.running {
		st.running = true
		st.store.running.Go(st.run)
	}
}

// restart has the session start over, which looks whether the stream is still the same.
func (st *stream) restart() { signal(st.restarts) }

// run receives the history until it was idle for a while.
func (st *stream) run() {
	ctx, stop := context.WithCancel(st.store.ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { st.out.run(ctx) })
	helpers.Go(func() { st.trims.run(ctx) })
	helpers.Go(func() { st.announce(ctx) })
	defer func() {
		stop()
		helpers.Wait()
	}()
	pause := time.Duration(0)
	for {
		began := time.Now()
		err := st.session(ctx)
		st.setDown(err)
		if st.isIdle(errors.Is(err, errIdle)) {
			return
		}
		if pause = min(2*pause+50*time.Millisecond, time.Second); time.Since(began) > 10*time.Second {
			pause = 0
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// errIdle ends a session that nobody has used for a while; errRestart ends one for another.
var (
	errIdle    = errors.New("nobody uses the history")
	errRestart = errors.New("session restarted")
)

// isIdle reports whether run is to end, and then forgets what it has.
func (st *stream) isIdle(looked bool) bool {
	s := st.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !(looked && st.idle()) {
		return false
	}
	st.running = false
	st.mu.Lock()
	defer st.mu.Unlock()
	st.forget()
	return true
}

// idle reports whether nobody uses the history. The caller holds Store.mu.
func (st *stream) idle() bool {
	return st.users == 0 && time.Since(st.lastUse) > idleTime && st.out.isEmpty()
}

// forget drops the index. The caller holds st.mu.
func (st *stream) forget() {
	st.index, st.epoch, st.last, st.head = nil, 0, place{}, wire.Position{}
	st.fresh, st.settled, st.loaded = false, false, 0
	st.times, st.cache = timeline{}, cache{most: st.cache.most}
	st.trims.reset()
}

// define takes what the document says of the history. The caller holds Store.mu, and the
// store is not closed.
func (st *stream) define(r record) {
	st.mu.Lock()
	defer st.mu.Unlock()
	before := st.record
	st.record, st.counted = &r, max(st.counted, r.Count)
	st.size.Store(r.Size)
	st.underWay.Store(int64(underWay(r.Messages)))
	if before != nil && before.Epoch != r.Epoch {
		st.restart()
	}
	if before != nil && st.settled { // before that, what the stream rolls over shows by the limit that it has
		if l := st.limits(); l != limitsOf(before) {
			st.shrinking++
			h, shrinking := st.index, st.index.SetLimits(l)
			st.store.running.Go(func() { st.shrink(h, shrinking) }) // ends with what there is to remove
		}
	}
	st.wake()
}

// isRetired reports whether no edge keeps the history any more.
func (st *stream) isRetired() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.record != nil && st.record.Retired
}

// epochs returns the highest count of an epoch that was seen.
func (st *stream) epochs() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.counted
}

// shrink removes what new limits exclude, in steps between which others have the lock.
func (st *stream) shrink(h *index.History, shrinking *index.Shrinking) {
	for done := false; !done; {
		st.mu.Lock()
		if done = st.index != h || shrinking.Step(h, time.Now()); done {
			st.shrinking--
			st.wake()
		}
		st.mu.Unlock()
	}
}

// limits are those of the index. The stream's size also has what the index has removed
// and the stream has not yet. The caller holds st.mu.
func (st *stream) limits() history.Limits { return limitsOf(st.record) }

func limitsOf(r *record) history.Limits {
	l := r.definition("").Limits
	l.Size -= l.Size / 8
	return l
}

// wake wakes those in wait. The caller holds st.mu.
func (st *stream) wake() {
	close(st.changed)
	st.changed = make(chan struct{})
}

// setDown has calls wait until something is wanted, and has come.
func (st *stream) setDown(why error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.why, st.wanted = why, math.MaxUint64
	if st.up {
		st.up = false
		st.wake()
	}
}

// want has the history be in reach when all up to a number has come.
func (st *stream) want(n uint64) {
	st.mu.Lock()
	st.wanted = n
	st.mu.Unlock()
	st.arrive()
}

// arrive is called when something has come.
func (st *stream) arrive() {
	st.mu.Lock()
	arrived := !st.up && st.index != nil && st.head.N >= st.wanted
	st.mu.Unlock()
	if !arrived {
		return
	}
	st.settle()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.head.N >= st.wanted && !st.up {
		st.up, st.why = true, nil
		st.wake()
	}
}

// isUp reports whether the history is in reach. If not, changed is closed when that may be
// otherwise.
func (st *stream) isUp() (up bool, changed <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.up, st.changed
}

// await waits until the history is in reach. Its error is [history.ErrUnavailable], or
// [history.ErrClosed].
func (st *stream) await(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, st.store.patience)
	defer done()
	return st.wait(ctx, func() bool { return st.up })
}

// awaitDefined waits until this edge has the history in effect, for as long as ctx allows.
// That it does not is no error: it will.
func (st *stream) awaitDefined(ctx context.Context) error {
	_ = st.wait(ctx, func() bool { return st.record != nil && st.shrinking == 0 })
	return nil
}

// wait waits until something is so, which is called with st.mu held.
func (st *stream) wait(ctx context.Context, is func() bool) error {
	for {
		st.mu.Lock()
		ok, changed := is(), st.changed
		st.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-st.store.ctx.Done():
			return history.ErrClosed
		case <-ctx.Done():
			return history.ErrUnavailable
		}
	}
}
