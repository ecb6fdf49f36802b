package pubsub

import (
	"slices"
	"sync"
)

// lane is an ordered part of a queue. Guarded by the session's mutex.
type lane struct {
	items   []item // nil: none
	head    int    // first item that is not taken yet
	oldest  int    // no delivery that could be dropped stands before this index
	dropped int    // items from head on that were dropped

	stream  Stream // of one subscription; nil: the main lane
	writing bool   // a writer runs
	held    bool   // the subscription is not in effect yet: nothing is written
	closing bool   // no delivery is added any more: the stream ends after the last item
	dead    bool   // the client stopped reading the stream

	few [smallLen]item // the array of items while they are few
}

// item is one entry of a lane; one without a frame was dropped.
type item struct {
	*frame
	age    uint32 // of a delivery: its number in the queue's order
	charge uint32 // of a delivery: what it costs the edge
}

// arrays hold the items of lanes in which more than a few wait.
var arrays = sync.Pool{New: func() any { return new([arrayLen]item) }}

const (
	smallLen = 4
	arrayLen = 256
)

func (l *lane) push(it item) {
	switch {
	case l.items == nil:
		l.items = l.few[:0]
	case len(l.items) == smallLen && cap(l.items) == smallLen:
		l.items = append(arrays.Get().(*[arrayLen]item)[:0], l.items...)
		clear(l.few[:])
	}
	l.items = append(l.items, it)
}

// reset gives back the array of the lane, in which nothing waits any more.
func (l *lane) reset() {
	if cap(l.items) == arrayLen { // otherwise it is few, or one that a burst made larger
		arrays.Put((*[arrayLen]item)(l.items[:arrayLen]))
	}
	l.items = nil
	l.head, l.oldest, l.dropped = 0, 0, 0
}

func (l *lane) empty() bool { return l.head == len(l.items) }

// firstDelivery returns the index of the oldest delivery that may be dropped, or -1.
func (l *lane) firstDelivery() int {
	for i := max(l.oldest, l.head); i < len(l.items); i++ {
		if it := &l.items[i]; it.frame != nil && it.kind == Binary && !it.kept {
			l.oldest = i
			return i
		}
	}
	l.oldest = len(l.items)
	return -1
}

// next returns the next item that was not dropped, and leaves it; nil: there is
// none.
func (l *lane) next() *frame {
	for l.head < len(l.items) {
		if f := l.items[l.head].frame; f != nil {
			return f
		}
		l.head++
		l.dropped--
	}
	if len(l.items) > 0 {
		l.reset()
	}
	return nil
}

// take removes the next item that was not dropped, and returns its charge, too;
// nil: there is none.
func (l *lane) take() (f *frame, charge uint32) {
	if f = l.next(); f == nil {
		return nil, 0
	}
	charge = l.items[l.head].charge
	l.items[l.head].frame = nil
	l.head++
	if l.head == len(l.items) {
		l.reset()
	}
	return f, charge
}

// compact moves the lane to the front of its array once the slots that are used
// up outnumber the others: without it a lane that is never empty would keep a
// slot for each message that was ever taken or dropped.
func (l *lane) compact() {
	if used := l.head + l.dropped; used < 64 || used < len(l.items)/2 {
		return
	}
	kept := l.items[:0]
	for _, it := range l.items[l.head:] {
		if it.frame != nil {
			kept = append(kept, it)
		}
	}
	clear(l.items[len(kept):])
	l.items, l.head, l.oldest, l.dropped = kept, 0, 0, 0
}

// openLane opens a stream for one subscription, with first as its first message, or
// returns nil if the limit or the client's credit allows none. The lane is held until
// releaseLane.
func (s *Session) openLane(first []byte) *lane {
	s.mu.Lock()
	opener, _ := s.transport.(StreamOpener)
	full := len(s.queue.ownLanes) >= MaxOwnStreams // only the handling of messages adds, one at a time
	s.mu.Unlock()
	if opener == nil || full {
		return nil
	}
	stream, err := opener.OpenStream()
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &lane{stream: stream, held: true}
	s.queue.ownLanes = append(s.queue.ownLanes, l)
	s.queue.pushLine(l, first, nil)
	s.checkBacklog()
	return l
}

// releaseLane lets the writer begin with a lane whose subscription is in effect. The
// caller holds s.mu.
func (s *Session) releaseLane(l *lane) {
	l.held = false
	s.wakeLane(l)
}

// closeLane ends the stream of a lane whose subscription has ended, after what
// waits in it. Until then it counts among the session's streams. The caller holds
// s.mu.
func (s *Session) closeLane(l *lane) {
	l.closing = true
	if l.dead {
		s.dropLane(l)
	} else {
		s.wakeLane(l)
	}
}

// dropLane removes a lane from the session's own ones. The caller holds s.mu.
func (s *Session) dropLane(l *lane) {
	s.queue.ownLanes = slices.DeleteFunc(s.queue.ownLanes, func(other *lane) bool { return other == l })
}
