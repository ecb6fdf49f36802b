package pubsub

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/millrace/millrace/wire"
)

const (
	// A connection may have so many publishes to kept channels, and so many bytes of them,
	// that were not handed on and answered yet.
	maxWindow      = 1024
	maxWindowBytes = 1 << 20
	// windowTimeout is how long a full window waits for the store. Then its publishes are
	// answered: unconfirmed, if their outcome is not known.
	windowTimeout = 2 * time.Second
)

// publishWindow is a session's publishes to kept channels that are under way. Those to one channel are answered
// in their order: an outcome that is known early waits for those before it, and counts for the window until then.
type publishWindow struct {
	session *Session
	freed   chan struct{} // tells the reader that waits for room; has room for one

	mu          sync.Mutex // guards the rest, and the fields of keptPublish that say so
	n, bytes    int
	first, last *keptPublish            // that were not answered, oldest first
	lastOf      map[uint64]*keptPublish // the last of these to each channel, by channelHash
}

var channelSeed = maphash.MakeSeed()

// channelHash tells channels apart. Two that have the same keep their order together.
func channelHash(tenant, channel []byte) uint64 {
	return 31*maphash.Bytes(channelSeed, tenant) + maphash.Bytes(channelSeed, channel)
}

func newPublishWindow(s *Session) *publishWindow {
	return &publishWindow{session: s, freed: make(chan struct{}, 1)}
}

// awaitRoom waits until one more publish has room. What was not stored after
// windowTimeout is answered unconfirmed; what is stored and waits to be handed on, since
// the tenant is over its share of the processors, is waited for. It reports false once
// the session ends. The reader calls it.
func (w *publishWindow) awaitRoom(size int) bool {
	if w.hasRoom(size) {
		return true
	}
	timer := time.NewTimer(windowTimeout)
	defer timer.Stop()
	for !w.hasRoom(size) {
		select {
		case <-w.freed:
		case <-timer.C:
			w.fail()
		case <-w.session.done:
			return false
		}
	}
	return true
}

func (w *publishWindow) hasRoom(size int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n == 0 || w.n < maxWindow && w.bytes+size <= maxWindowBytes
}

// hasUnanswered reports whether a publish to a channel waits for its answer.
func (w *publishWindow) hasUnanswered(channel uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastOf[channel] != nil
}

func (w *publishWindow) add(e *keptPublish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link(e)
}

// addAfter adds a publish with an outcome, to be answered after earlier ones to its channel. If all of these are
// answered, it reports false.
func (w *publishWindow) addAfter(e *keptPublish) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastOf[e.channelHash] == nil {
		return false
	}
	w.link(e)
	return true
}

// link adds a publish to the list, and counts it. The caller holds w.mu.
func (w *publishWindow) link(e *keptPublish) {
	e.windowed, e.unanswered = true, true
	w.n++
	w.bytes += e.windowSize
	if e.previous = w.last; w.last == nil {
		w.first = e
	} else {
		w.last.next = e
	}
	w.last = e
	if w.lastOf == nil {
		w.lastOf = map[uint64]*keptPublish{}
	}
	if before := w.lastOf[e.channelHash]; before != nil {
		before.nextOfChannel, e.waits = e, true
	}
	w.lastOf[e.channelHash] = e
}

// unlink takes a publish that is answered out of the list, and returns the next one to its channel, whose turn it
// is. The caller holds w.mu.
func (w *publishWindow) unlink(e *keptPublish) (next *keptPublish) {
	e.unanswered = false
	if e.previous == nil {
		w.first = e.next
	} else {
		e.previous.next = e.next
	}
	if e.next == nil {
		w.last = e.previous
	} else {
		e.next.previous = e.previous
	}
	if next = e.nextOfChannel; next == nil {
		delete(w.lastOf, e.channelHash)
	} else {
		next.waits = false
	}
	e.previous, e.next, e.nextOfChannel = nil, nil, nil
	return next
}

// answer answers a publish, and later ones to its channel that have an outcome, unless that was done or an earlier
// one has none.
func (w *publishWindow) answer(e *keptPublish, o outcome) {
	w.mu.Lock()
	defer w.mu.Unlock() // so that answers come in order
	if !e.unanswered {
		return
	}
	e.outcome, e.decided = o, true
	for e != nil && e.decided && !e.waits {
		e = w.settle(e)
	}
}

// settle answers a publish, and returns the next one to its channel. The caller holds w.mu.
func (w *publishWindow) settle(e *keptPublish) (next *keptPublish) {
	next = w.unlink(e)
	e.session.answerNow(e.outcome, e.confirm, e.id, e.Tenant, e.Channel)
	if e.handled {
		w.uncount(e)
	}
	return next
}

// remove makes room for others when a publish is handled, and answered.
func (w *publishWindow) remove(e *keptPublish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.handled = true; !e.unanswered {
		w.uncount(e)
	}
}

// uncount makes room. The caller holds w.mu.
func (w *publishWindow) uncount(e *keptPublish) {
	if !e.windowed {
		return
	}
	e.windowed = false
	w.n--
	w.bytes -= e.windowSize
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// fail answers all: those without an outcome may still come.
func (w *publishWindow) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := w.first; e != nil; e = w.first {
		if !e.decided {
			e.outcome, e.decided = outcome{code: wire.CodeUnconfirmed}, true
		}
		w.settle(e)
		w.uncount(e)
	}
}
