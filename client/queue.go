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

	mu      sync.Mutex
	list    []Message // behind those in out
	pumping bool
	ended   bool
	stopped bool // what was in the list is forgotten, and nothing may come behind it
	inHand  int  // 1 while the pump holds a message
	cursor  cursor

	history bool   // of a subscription with a history
	onRead  func() // with a history: is told that the application has read a full queue; must not wait
	isFull  bool   // and has yet to be told
}

// newHistoryQueue is newQueue for a subscription with a history. Part of what it holds is
// always in the list, so that the pump finds out when that was read.
func newHistoryQueue(limit int, policy QueuePolicy, group *sync.WaitGroup, closed chan struct{}, from wire.From) *queue {
	q := newQueue(limit, policy, group, closed)
	q.out = make(chan Message, min(limit/2, direct))
	q.history = true
	if from.Origin == wire.OriginPosition {
		q.cursor.reached, q.cursor.known = from.Position, true
		q.cursor.read, q.cursor.isRead = from.Position, true
	}
	return q
}

func newQueue(limit int, policy QueuePolicy, group *sync.WaitGroup, closed chan struct{}) *queue {
	return &queue{
		out: make(chan Message, min(limit, direct)), limit: limit, policy: policy,
		group: group, stop: make(chan struct{}), closed: closed,
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
		return queued
	}
	if q.history {
		q.cursor.add(q.cursor.reached, q.waiting(), q.limit)
	}
	if !q.pumping {
		select {
		case q.out <- m:
			if 2*len(q.out) > cap(q.out) {
				return crowded
			}
			return queued
		default:
		}
	}
	result := crowded
	if len(q.out)+len(q.list) >= q.limit {
		switch q.policy {
		case EndOnFull:
			return full
		case DropNewest:
			return dropped
		case DropOldest:
			select {
			case <-q.out:
				result = dropped
			default: // its reader was faster
			}
		}
	}
	q.put(m)
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
		q.pumping = true
		q.group.Go(q.pump)
	}
	q.list = append(q.list, m)
}

// waiting is how many messages the application has not read, or one more. The caller
// holds q.mu.
func (q *queue) waiting() int { return len(q.out) + len(q.list) + q.inHand }

// pushStored is push for a message with a position, of which none is dropped.
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
		if len(q.list) == 0 || q.stopped {
			q.pumping, q.list = false, nil
			if q.ended {
				close(q.out)
			}
			tell := q.isFull && !q.ended
			q.isFull = false
			q.mu.Unlock()
			if tell {
				q.onRead()
			}
			return
		}
		m := q.list[0]
		q.inHand = 1
		q.list[0] = Message{}
		q.list = q.list[1:]
		q.mu.Unlock()
		select {
		case q.out <- m:
			continue
		case <-q.stop:
		case <-q.closed:
		}
		q.mu.Lock()
		q.stopped = true
		q.mu.Unlock()
	}
}

// end closes the channel behind what the queue has. With discard, what is not in
// the channel yet is forgotten.
func (q *queue) end(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if discard && !q.stopped {
		q.stopped = true
		close(q.stop)
	}
	if q.ended {
		return
	}
	q.ended = true
	if !q.pumping {
		close(q.out)
	}
}
