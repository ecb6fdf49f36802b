package pubsub

import (
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

const (
	// A connection may have so many publishes to kept channels, and so many bytes of them,
	// that were not stored and handed on yet.
	maxWindow      = 1024
	maxWindowBytes = 1 << 20
	// windowTimeout is how long a full window waits for the store. Then its publishes are
	// answered unconfirmed.
	windowTimeout = 2 * time.Second
)

// publishWindow is a session's publishes to kept channels that are under way.
type publishWindow struct {
	session *Session
	freed   chan struct{} // tells the reader that waits for room; has room for one

	mu          sync.Mutex // guards the rest, and the fields of keptPublish that say so
	n, bytes    int
	first, last *keptPublish // that were not answered, oldest first
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

func (w *publishWindow) add(e *keptPublish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.windowed, e.unanswered = true, true
	w.n++
	w.bytes += e.windowSize
	if e.previous = w.last; w.last == nil {
		w.first = e
	} else {
		w.last.next = e
	}
	w.last = e
}

// unlink takes a publish that is answered out of the list, and reports whether it was
// there. The caller holds w.mu.
func (w *publishWindow) unlink(e *keptPublish) bool {
	if !e.unanswered {
		return false
	}
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
	e.previous, e.next = nil, nil
	return true
}

// answer answers a publish, unless that was done.
func (w *publishWindow) answer(e *keptPublish, r history.Result) {
	w.mu.Lock()
	defer w.mu.Unlock() // so that answers come in order
	if w.unlink(e) {
		e.answer(r)
	}
}

// remove makes room for others when a publish is done with.
func (w *publishWindow) remove(e *keptPublish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uncount(e)
}

// uncount is remove for a caller that holds w.mu.
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

// fail answers all that were not stored: they may still come.
func (w *publishWindow) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := w.first; e != nil; e = w.first {
		w.unlink(e)
		w.uncount(e)
		e.answer(history.Result{Err: history.ErrUnconfirmed})
	}
}
