package pubsub

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// turns are those of a tenant, or an issuer: so many of its messages are handled at the same time. Others wait, the
// first one first, but what was accepted before, and is to be handed on, goes ahead of what clients send now: one
// goroutine hands on what thousands publish, and would have to wait behind all of them for each message. How many
// there may be is said by who takes a turn, or gives it back, and may change. The zero value has none taken.
type turns struct {
	taken atomic.Int32 // changed with mu held

	mu             sync.Mutex
	accepted, sent list.List // of chan struct{}, which is closed when the turn has come
	ahead          int       // how many of accepted went ahead of sent, one after the other
}

// maxAhead is how many may go ahead of the first of those that clients have sent: also with more than enough to
// hand on, some of these come.
const maxAhead = 16

// areTaken reports whether so many are taken.
func (t *turns) areTaken(most int) bool { return int(t.taken.Load()) >= most }

// tryTake takes a turn if there is one.
func (t *turns) tryTake(most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tryTakeLocked(most)
}

func (t *turns) tryTakeLocked(most int) bool {
	t.grant(most)
	if t.areTaken(most) {
		return false
	}
	t.taken.Add(1)
	return true
}

// take waits for a turn, until canceled is closed or late has a value, and reports whether it has come.
func (t *turns) take(most int, accepted bool, canceled <-chan struct{}, late <-chan time.Time) bool {
	t.mu.Lock()
	if t.tryTakeLocked(most) {
		t.mu.Unlock()
		return true
	}
	line := &t.sent
	if accepted {
		line = &t.accepted
	}
	granted := make(chan struct{})
	place := line.PushBack(granted)
	t.mu.Unlock()

	select {
	case <-granted:
		return true
	case <-canceled:
	case <-late:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-granted: // meanwhile
		return true
	default:
		line.Remove(place)
		return false
	}
}

// giveBack gives a turn back.
func (t *turns) giveBack(most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken.Add(-1)
	t.grant(most)
}

// grant gives turns to those that wait. The caller holds t.mu.
func (t *turns) grant(most int) {
	for !t.areTaken(most) && t.accepted.Len()+t.sent.Len() > 0 {
		line := &t.accepted
		if line.Len() == 0 || t.sent.Len() > 0 && t.ahead == maxAhead {
			line, t.ahead = &t.sent, 0
		} else if t.sent.Len() > 0 {
			t.ahead++
		}
		t.taken.Add(1)
		close(line.Remove(line.Front()).(chan struct{}))
	}
}
