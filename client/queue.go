package client

import (
	"sync"

	"github.com/millrace/millrace/wire"
)

// direct is how many messages of a queue are in the channel. More wait in a
// list, which costs memory only while they do.
const direct = 64

// queue is a bounded queue of messages that is read through a channel. One
// goroutine pushes at a time; the queue moves messages from the list into the
// channel by a goroutine of its own, which runs while the list has any.
type queue struct {
	out    chan Message
	limit  int
	policy QueuePolicy
	group  *sync.WaitGroup
	stop   chan struct{} // closed by discard
	closed chan struct{} // nobody waits for messages any more, as the client is closed: closed elsewhere

	mu        sync.Mutex
	list      []Message // behind those in out
	pumping   bool
	ended     bool
	discarded bool // by end
	stopped   bool // what was in the list is forgotten, and nothing may come behind it
	inHand    int  // 1 while the pump holds a message
	cursor    cursor

	jobs   jobs
	lost   int           // messages to one connection that nobody gets, and nobody was notified of
	onRoom func()        // is told that there is to be more credit; must not wait
	pumped chan struct{} // closed when the pump ends; nil: it did not run

	history bool   // of a subscription with a history
	onRead  func() // with a history: is told that the application has read a full queue; must not wait
	isFull  bool   // and has yet to be told
}

// newHistoryQueue is newQueue for a subscription with a history.
func newHistoryQueue(limit int, policy QueuePolicy, group *sync.WaitGroup, closed chan struct{}, from wire.From) *queue {
	q := newQueue(limit, policy, group, closed)
	q.history = true
	if from.Origin == wire.OriginPosition {
		q.cursor.reached, q.cursor.known = from.Position, true
		q.cursor.read, q.cursor.isRead = from.Position, true
	}
	return q
}

// newQueue returns a queue with half of it always in the list, if it is full, so that the pump finds out when
// that was read.
func newQueue(limit int, policy QueuePolicy, group *sync.WaitGroup, closed chan struct{}) *queue {
	return &queue{
		out: make(chan Message, min(limit/2, direct)), limit: limit, policy: policy,
		group: group, stop: make(chan struct{}), closed: closed, onRoom: func() {},
	}
}

// pushed says what became of a message.
type pushed uint8

const (
	queued  pushed = iota
	crowded        // queued, and the queue fills: let its reader run
	dropped        // one message was dropped, this or another
	behind         // queued, and the queue is full: see awaitRead
	full           // the policy is EndOnFull
)

// push never waits.
func (q *queue) push(m Message) pushed {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || q.stopped {
		if m.toOne {
			return dropped
		}
		return queued
	}
	if q.history {
		q.cursor.add(q.cursor.reached, q.waiting(), q.limit)
	}
	q.count()
	if !q.pumping {
		waiting := q.waiting()
		select {
		case q.out <- m:
			q.jobs.add(m.toOne, waiting)
			if 2*len(q.out) > cap(q.out) {
				return crowded
			}
			return queued
		default:
		}
	}
	result := crowded
	if q.waiting() >= q.limit && !m.toOne {
		switch q.policy {
		case EndOnFull:
			return full
		case DropNewest:
			return dropped
		case DropOldest:
			made, ok := q.makeRoom()
			if !ok {
				return dropped
			}
			if made {
				result = dropped
			}
		}
	}
	waiting := q.waiting()
	q.put(m)
	q.jobs.add(m.toOne, waiting)
	return result
}

// put puts a message into the channel or the list, behind all others. The caller holds
// q.mu.
func (q *queue) put(m Message) {
	if !q.pumping {
		select {
		case q.out <- m:
			return
		default:
		}
		q.pumping, q.pumped = true, make(chan struct{})
		q.group.Go(q.pump)
	}
	q.list = append(q.list, m)
}

// waiting is how many messages the application has not read, or one more. The caller
// holds q.mu.
func (q *queue) waiting() int { return len(q.out) + len(q.list) + q.inHand }

// pushStored is push for a message with a position; none of these is dropped.
func (q *queue) pushStored(m Message, at wire.Position) pushed {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting()
	switch {
	case q.ended || q.stopped:
		return queued
	case waiting >= q.limit && q.policy == EndOnFull:
		return full
	}
	q.cursor.add(at, waiting, q.limit)
	q.put(m)
	switch {
	case waiting+1 >= q.limit && q.policy != EndOnFull:
		return behind
	case 2*waiting > q.limit:
		return crowded
	default:
		return queued
	}
}

// awaitRead has onRead called when the application has read a full queue, at least half of
// it: perhaps at once. Until then nothing is pushed.
func (q *queue) awaitRead() {
	q.mu.Lock()
	q.isFull = q.pumping
	tell := !q.isFull && !q.ended
	q.mu.Unlock()
	if tell {
		q.onRead()
	}
}

// pump ends when the list is empty, or nobody wants it any more.
func (q *queue) pump() {
	for {
		q.mu.Lock()
		q.inHand = 0
		room := q.count()
		if len(q.list) == 0 || q.stopped {
			q.forget()
			q.pumping = false
			if q.ended {
				close(q.out)
			}
			tell := q.isFull && !q.ended
			q.isFull = false
			close(q.pumped)
			q.mu.Unlock()
			if tell {
				q.onRead()
			}
			if room {
				q.onRoom()
			}
			return
		}
		m := q.list[0]
		q.inHand = 1
		q.list[0] = Message{}
		q.list = q.list[1:]
		q.mu.Unlock()
		if room {
			q.onRoom()
		}
		select {
		case q.out <- m:
			continue
		case <-q.stop:
		case <-q.closed:
		}
		q.mu.Lock()
		q.stopped = true
		q.lose(&m)
		q.mu.Unlock()
	}
}

// end closes the channel behind what the queue has. With discard, what was not taken is forgotten, except for
// broadcasts that are in the channel.
func (q *queue) end(discard bool) {
	q.mu.Lock()
	if discard && !q.discarded {
		q.stopped, q.discarded = true, true
		close(q.stop)
		q.forget()
		for q.jobs.trim(q.waiting()); q.jobs.wait() && len(q.out) > 0; {
			select {
			case m := <-q.out:
				q.lose(&m)
			default: // its reader was faster
			}
		}
	}
	if !q.ended {
		q.ended = true
		if !q.pumping {
			close(q.out)
		}
	}
	pumped := q.pumped
	q.mu.Unlock()
	if discard && pumped != nil {
		<-pumped // it ends at once, and counts what it holds
	}
}
