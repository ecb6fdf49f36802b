package pubsub

import "math/bits"

// queue is what waits to be written to one client. It has a lane of control
// messages that overtake (PONG, ERR, RECONNECT, pings), and ordered lanes of
// deliver frames with the OK lines at their place between them: the main one,
// and one for each subscription with a stream of its own. All share one budget.
// Only deliver frames without a position are ever dropped, the oldest first; those with one
// may become too old (late.go). Guarded by the session's mutex.
type queue struct {
	deliveries    int    // bytes of queued deliveries, bookkeeping included
	kept          int    // of these, bytes of those with positions
	presence      int    // and of frames about presence
	controlBytes  int    // bytes of control messages and OK lines, likewise
	charge        int    // of the queued deliveries, for the edge; see charge
	countedCharge int    // of that, what the edge has counted; see Session.countQueue
	dropped       uint64 // deliveries dropped since the client was last told
	deliverySeq   uint32 // deliveries pushed so far, by which lanes compare their age

	control  []Outgoing
	mainLane lane
	ownLanes []*lane
}

func cost(data []byte) int { return len(data) + itemOverhead }

func (f *frame) cost() int { return cost(f.data) }

// charge is what the frame costs the edge in the queue that it was put into last:
// its bookkeeping, and a part of its bytes, which all queues share. The part becomes
// smaller: the first queue is charged all bytes, the next two a half each, the next four
// a quarter. A thousand queues are charged them ten times together, where the sum of
// their costs is a thousand times. A division would be a tenth of what a delivery costs.
func (f *frame) charge() uint32 {
	return itemOverhead + uint32(len(f.data))>>(bits.Len32(f.holders|1)-1)
}

// empty reports whether nothing waits for the main stream.
func (q *queue) empty() bool {
	return len(q.control) == 0 && q.mainLane.empty()
}

func (q *queue) pushControl(m Outgoing) {
	q.control = append(q.control, m)
	q.controlBytes += cost(m.Data)
}

// pushLine queues a line that keeps its place; late is not nil if it says how far a subscription with
// positions has come.
func (q *queue) pushLine(l *lane, line []byte, late *lateness) {
	l.push(item{frame: &frame{data: line, kind: Text, late: late}, age: q.deliverySeq})
	q.controlBytes += cost(line)
}

// fits reports whether deliveries of n bytes, bookkeeping included, can be
// queued without dropping another.
func (q *queue) fits(n, limit int) bool { return q.deliveries+n <= limit }

// hasRoom is fits for one delivery, which has room beside frames with positions, and about
// presence, alone: these take half of the limit at most, and a quarter, and cannot be dropped.
func (q *queue) hasRoom(n, limit int) bool {
	return q.fits(n, limit) || q.deliveries == q.kept+q.presence && n <= limit
}

// pushDelivery queues a frame within limit bytes of deliveries, dropping the
// oldest ones to make room. A frame over the limit by itself is dropped too.
func (q *queue) pushDelivery(l *lane, f *frame, limit int) (dropped int) {
	if n := f.cost(); n > limit {
		dropped = 1
	} else {
		for !q.fits(n, limit) && q.dropOldest() {
			dropped++
		}
		q.push(l, f)
	}
	q.dropped += uint64(dropped)
	return dropped
}

// pushKept queues a frame with a position, which the caller has found room for.
func (q *queue) pushKept(f *frame) {
	q.push(&q.mainLane, f)
	q.kept += f.cost()
}

// pushPresence queues a frame about presence, likewise.
func (q *queue) pushPresence(f *frame) {
	q.push(&q.mainLane, f)
	q.presence += f.cost()
}

func (q *queue) push(l *lane, f *frame) {
	f.holders++
	it := item{f, q.deliverySeq, f.charge()}
	l.push(it)
	q.deliverySeq++
	q.deliveries += f.cost()
	q.charge += int(it.charge)
}

func (q *queue) dropOldest() bool {
	from := &q.mainLane
	i := from.firstDelivery()
	for _, l := range q.ownLanes {
		j := l.firstDelivery()
		if j < 0 {
			continue
		}
		// The count wraps around; a lane never holds so many.
		if i < 0 || int32(l.items[j].age-from.items[i].age) < 0 {
			from, i = l, j
		}
	}
	if i < 0 {
		return false
	}
	q.drop(from, i)
	return true
}

func (q *queue) drop(l *lane, i int) {
	q.uncount(l.items[i].frame, l.items[i].charge)
	l.items[i].frame = nil
	l.dropped++
	l.oldest = i + 1
	l.compact()
}

// uncount takes a delivery off the sums.
func (q *queue) uncount(f *frame, charge uint32) {
	q.deliveries -= f.cost()
	q.charge -= int(charge)
	switch {
	case f.presence:
		q.presence -= f.cost()
	case f.kept:
		q.kept -= f.cost()
	}
}

// discard drops every delivery, those with positions too, and returns how many there
// were.
func (q *queue) discard() (lost uint64) {
	for q.dropOldest() {
		lost++
	}
	if q.kept+q.presence == 0 {
		return lost
	}
	for i := range q.mainLane.items {
		if it := &q.mainLane.items[i]; it.frame != nil && it.kept {
			q.uncount(it.frame, it.charge)
			if !it.presence {
				lost++
			}
			it.frame = nil
			q.mainLane.dropped++
		}
	}
	return lost
}

// takeControl appends the overtaking messages to dst.
func (q *queue) takeControl(dst []Outgoing) []Outgoing {
	if len(q.control) == 0 {
		return dst
	}
	for _, m := range q.control {
		q.controlBytes -= cost(m.Data)
	}
	dst = append(dst, q.control...)
	clear(q.control)
	q.control = resetSlice(q.control)
	return dst
}

// take removes the next message of an ordered lane; nil: there is none. The
// caller compacts the lane when it has what it wants.
func (q *queue) take(l *lane) *frame {
	f, charge := l.take()
	switch {
	case f == nil:
	case f.kind == Binary:
		q.uncount(f, charge)
	default:
		q.controlBytes -= f.cost()
	}
	return f
}

// clearLane removes what waits in a lane that is not written any more, and returns how
// many deliveries that were.
func (q *queue) clearLane(l *lane) (lost uint64) {
	for f := q.take(l); f != nil; f = q.take(l) {
		if f.kind == Binary && !f.presence {
			lost++
		}
	}
	return lost
}

// clearAll removes everything, and returns how many deliveries that were.
func (q *queue) clearAll() (lost uint64) {
	q.takeControl(nil)
	lost = q.clearLane(&q.mainLane)
	for _, l := range q.ownLanes {
		lost += q.clearLane(l)
	}
	q.dropped = 0
	return lost
}

// resetSlice empties a lane and lets go of an array that a burst made large.
func resetSlice[T any](lane []T) []T {
	if cap(lane) > 256 {
		return nil
	}
	return lane[:0]
}
