package pubsub

// queue is what waits to be written to one client. It has two lanes: control
// messages that overtake (PONG, ERR, RECONNECT, pings), and the ordered lane of
// deliver frames with the OK lines at their place between them. Only deliver
// frames are ever dropped, the oldest first. Guarded by the session's mutex.
type queue struct {
	control []Outgoing
	ordered []item
	head    int // first item of ordered that is not taken yet
	oldest  int // no delivery that could be dropped stands before this index

	deliveries   int    // bytes of queued deliveries, bookkeeping included
	controlBytes int    // bytes of control messages and OK lines, likewise
	dropped      uint64 // deliveries dropped since the client was last told
}

// item is one entry of the ordered lane; a delivery without data was dropped.
type item struct {
	data     []byte
	delivery bool
}

func cost(data []byte) int { return len(data) + itemOverhead }

func (q *queue) empty() bool {
	return len(q.control) == 0 && q.head == len(q.ordered) && q.dropped == 0
}

func (q *queue) pushControl(m Outgoing) {
	q.control = append(q.control, m)
	q.controlBytes += cost(m.Data)
}

func (q *queue) pushOK(line []byte) {
	q.ordered = append(q.ordered, item{data: line})
	q.controlBytes += cost(line)
}

// fits reports whether a delivery can be queued without dropping another.
func (q *queue) fits(frame []byte, limit int) bool {
	return q.deliveries+cost(frame) <= limit
}

// pushDelivery queues a frame within limit bytes of deliveries, dropping the
// oldest ones to make room. A frame over the limit by itself is dropped too.
func (q *queue) pushDelivery(frame []byte, limit int) (dropped int) {
	if cost(frame) > limit {
		dropped = 1
	} else {
		for !q.fits(frame, limit) && q.dropOldest() {
			dropped++
		}
		q.ordered = append(q.ordered, item{data: frame, delivery: true})
		q.deliveries += cost(frame)
	}
	q.dropped += uint64(dropped)
	return dropped
}

func (q *queue) dropOldest() bool {
	for i := max(q.oldest, q.head); i < len(q.ordered); i++ {
		if it := &q.ordered[i]; it.delivery && it.data != nil {
			q.deliveries -= cost(it.data)
			it.data = nil
			q.oldest = i + 1
			q.compact()
			return true
		}
	}
	return false
}

// compact moves the ordered lane to the front of its array once the slots that
// are used up outnumber the others: without it a queue that is never empty would
// keep a slot for each message that was ever taken or dropped.
func (q *queue) compact() {
	if used := max(q.head, q.oldest); used < 64 || used < len(q.ordered)/2 {
		return
	}
	kept := q.ordered[:0]
	for _, it := range q.ordered[q.head:] {
		if it.data != nil {
			kept = append(kept, it)
		}
	}
	clear(q.ordered[len(kept):])
	q.ordered, q.head, q.oldest = kept, 0, 0
}

// discard drops every delivery and says how many that were, those before them
// included that the client was not told of yet.
func (q *queue) discard() uint64 {
	for q.dropOldest() {
		q.dropped++
	}
	n := q.dropped
	q.dropped = 0
	return n
}

// takeControl appends the overtaking messages to dst.
func (q *queue) takeControl(dst []Outgoing) []Outgoing {
	for _, m := range q.control {
		q.controlBytes -= cost(m.Data)
	}
	dst = append(dst, q.control...)
	clear(q.control)
	q.control = release(q.control)
	return dst
}

// take removes the next message of the ordered lane.
func (q *queue) take() (Outgoing, bool) {
	for q.head < len(q.ordered) {
		it := q.ordered[q.head]
		q.ordered[q.head] = item{}
		q.head++
		if q.head == len(q.ordered) {
			q.ordered, q.head, q.oldest = release(q.ordered), 0, 0
		} else {
			q.compact()
		}
		switch {
		case it.data == nil: // dropped
		case it.delivery:
			q.deliveries -= cost(it.data)
			return Outgoing{Binary, it.data}, true
		default:
			q.controlBytes -= cost(it.data)
			return Outgoing{Text, it.data}, true
		}
	}
	return Outgoing{}, false
}

// release empties a lane and lets go of an array that a burst made large.
func release[T any](lane []T) []T {
	if cap(lane) > 256 {
		return nil
	}
	return lane[:0]
}
