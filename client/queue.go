package client

import (
	"sync"
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
	stopped bool
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
	full           // the policy is EndOnFull
)

// push never waits.
func (q *queue) push(m Message) pushed {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return queued
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
	if !q.pumping {
		select {
		case q.out <- m:
			return result
		default:
		}
		q.pumping = true
		q.group.Go(q.pump)
	}
	q.list = append(q.list, m)
	return result
}

// pump ends when the list is empty, or nobody wants it any more.
func (q *queue) pump() {
	for {
		q.mu.Lock()
		if len(q.list) == 0 || q.stopped {
			q.pumping, q.list = false, nil
			if q.ended {
				close(q.out)
			}
			q.mu.Unlock()
			return
		}
		m := q.list[0]
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
