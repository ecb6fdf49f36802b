package pubsub

import "slices"

// lane is an ordered part of a queue. Guarded by the session's mutex.
type lane struct {
	items  []item
	head   int // first item that is not taken yet
	oldest int // no delivery that could be dropped stands before this index

	stream  Stream // of a subscription's own; nil: the default lane
	writing bool   // a writer runs
	held    bool   // the subscription is not in force yet: nothing is written
	closing bool   // nothing is added any more: the stream ends after the last item
	dead    bool   // the client stopped reading the stream
}

// item is one entry of a lane; a delivery without data was dropped.
type item struct {
	data     []byte
	age      uint32 // of a delivery: its number in the queue's order
	delivery bool
}

func (l *lane) empty() bool { return l.head == len(l.items) }

// firstDelivery returns the index of the oldest delivery, or -1.
func (l *lane) firstDelivery() int {
	for i := max(l.oldest, l.head); i < len(l.items); i++ {
		if it := &l.items[i]; it.delivery && it.data != nil {
			l.oldest = i
			return i
		}
	}
	l.oldest = len(l.items)
	return -1
}

// take removes the next item that was not dropped.
func (l *lane) take() (item, bool) {
	for l.head < len(l.items) {
		it := l.items[l.head]
		l.items[l.head] = item{}
		l.head++
		if l.head == len(l.items) {
			l.items, l.head, l.oldest = release(l.items), 0, 0
		} else {
			l.compact()
		}
		if it.data != nil {
			return it, true
		}
	}
	return item{}, false
}

// compact moves the lane to the front of its array once the slots that are used
// up outnumber the others: without it a lane that is never empty would keep a
// slot for each message that was ever taken or dropped.
func (l *lane) compact() {
	if used := max(l.head, l.oldest); used < 64 || used < len(l.items)/2 {
		return
	}
	kept := l.items[:0]
	for _, it := range l.items[l.head:] {
		if it.data != nil {
			kept = append(kept, it)
		}
	}
	clear(l.items[len(kept):])
	l.items, l.head, l.oldest = kept, 0, 0
}

// openLane opens a stream of its own for a subscription, with first as its first
// message, or returns nil if the limit or the client's credit allows none. The
// lane is held until releaseLane.
func (s *Session) openLane(first []byte) *lane {
	s.mu.Lock()
	opener, _ := s.transport.(StreamOpener)
	full := len(s.queue.own) >= MaxOwnStreams // only the handling of messages adds, one at a time
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
	s.queue.own = append(s.queue.own, l)
	s.queue.pushOK(l, first)
	return l
}

// releaseLane lets a lane be written whose subscription is in force.
func (s *Session) releaseLane(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.held = false
	s.wakeLane(l)
}

// closeLane ends the stream of a lane whose subscription has ended, after what
// waits in it. Until then it counts among the session's streams.
func (s *Session) closeLane(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.closing = true
	if l.dead {
		s.dropLane(l)
	} else {
		s.wakeLane(l)
	}
}

// dropLane frees the place of a lane. The caller holds s.mu.
func (s *Session) dropLane(l *lane) {
	s.queue.own = slices.DeleteFunc(s.queue.own, func(other *lane) bool { return other == l })
}
