package client

import "slices"

// jobs are the messages to one connection of a queue. None of them is dropped, as the edge gives no more
// than the client has asked for. Guarded by the queue.
type jobs struct {
	kinds  []bool // of the messages that wait, the oldest first, whether each is one; nil: none was yet
	open   int    // how many wait; of a queue that a function reads, how many are not done
	byCall bool   // a function reads the queue, and done is called after each
}

// add notes a message behind those that wait.
func (j *jobs) add(toOne bool, waiting int) {
	if j.kinds == nil {
		if !toOne {
			return
		}
		j.kinds = make([]bool, waiting, waiting+1)
	}
	j.kinds = append(j.kinds, toOne)
	if toOne {
		j.open++
	}
}

// trim forgets the messages that were read: all but those that wait.
func (j *jobs) trim(waiting int) {
	for len(j.kinds) > waiting {
		if j.kinds[0] && !j.byCall {
			j.open--
		}
		j.kinds = j.kinds[1:]
	}
}

// wait reports whether one waits.
func (j *jobs) wait() bool { return slices.Contains(j.kinds, true) }

// half is how many may be open when there is to be more credit.
func (q *queue) half() int { return q.limit / 2 }

// count notes what was read, and reports whether so much was that there is to be more credit. The caller
// holds q.mu.
func (q *queue) count() (room bool) {
	before := q.jobs.open
	q.jobs.trim(q.waiting())
	return before > q.half() && q.jobs.open <= q.half()
}

// done is called when the function has returned for a message to one connection.
func (q *queue) done() {
	q.mu.Lock()
	before := q.jobs.open
	q.jobs.open--
	room := before > q.half() && q.jobs.open <= q.half()
	q.mu.Unlock()
	if room {
		q.onRoom()
	}
}

// openJobs returns how many messages to one connection wait, or are not done.
func (q *queue) openJobs() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count()
	return q.jobs.open
}

// makeRoom drops the oldest message that may be dropped, as the queue is full. Nothing is made if the reader was
// faster; it is not ok if there is no such message: then the one that comes is dropped. The caller holds q.mu.
func (q *queue) makeRoom() (made, ok bool) {
	if q.jobs.trim(q.waiting()); !q.jobs.wait() {
		select {
		case <-q.out:
			if len(q.jobs.kinds) > 0 {
				q.jobs.kinds = q.jobs.kinds[1:]
			}
			return true, true
		default:
		}
		if q.waiting() < q.limit {
			return false, true
		}
	}
	i := slices.IndexFunc(q.list, func(m Message) bool { return !m.toOne })
	if i < 0 {
		return false, false
	}
	if at := len(q.jobs.kinds) - len(q.list) + i; len(q.jobs.kinds) > 0 {
		q.jobs.kinds = slices.Delete(q.jobs.kinds, at, at+1)
	}
	q.list = slices.Delete(q.list, i, i+1)
	return true, true
}

// forget empties the list, and counts the messages to one connection that nobody gets. The caller holds q.mu.
func (q *queue) forget() {
	for i := range q.list {
		q.lose(&q.list[i])
	}
	q.list = nil
}

func (q *queue) lose(m *Message) {
	if m.toOne {
		q.lost++
	}
}

// takeLost returns how many messages to one connection were thrown away since the last call.
func (q *queue) takeLost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.lost
	q.lost = 0
	return n
}

// isGiven reports whether all messages of a queue that has ended were taken.
func (q *queue) isGiven() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended && q.waiting() == 0
}
