package unixbroker

import (
	"sync"

	"github.com/millrace/millrace/pubsub"
)

// queue holds the frames that wait for a connection. Its methods may be called
// concurrently, take by the connection's writer alone.
type queue struct {
	limit int           // bytes that may wait before messages are refused
	ready chan struct{} // says that there is something to take, or that it is closed

	mu       sync.Mutex
	frames   []byte
	messages int // among the frames
	closed   bool
}

// controlFactor is how many times the limit may wait before other frames than messages
// are refused, too.
const controlFactor = 4

// maxKept is the largest buffer, in bytes, that an idle queue keeps.
const maxKept = 64 << 10

func newQueue(limit int, frames []byte) *queue {
	return &queue{limit: limit, ready: make(chan struct{}, 1), frames: frames}
}

// pushMessage queues a message, or returns [pubsub.ErrLinkFull] or [ErrUnreachable].
func (q *queue) pushMessage(frame []byte) error { return q.push(frame, q.limit, 1) }

// pushControl queues another frame. After an error the connection is of no use any more.
func (q *queue) pushControl(frame []byte) error { return q.push(frame, controlFactor*q.limit, 0) }

func (q *queue) push(frame []byte, limit, messages int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrUnreachable
	}
	if len(q.frames) >= limit {
		return pubsub.ErrLinkFull
	}
	q.frames = append(q.frames, frame...)
	q.messages += messages
	signal(q.ready)
	return nil
}

// take returns all frames that wait, and how many of them are messages; and gives back
// what the last call returned. more is false when the queue is closed.
func (q *queue) take(last []byte) (frames []byte, messages int, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cap(last) > maxKept {
		last = nil
	}
	frames, messages = q.frames, q.messages
	q.frames, q.messages = last[:0], 0
	return frames, messages, !q.closed
}

// close refuses further frames. Those that wait can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	signal(q.ready)
}

// signal wakes the goroutine that waits for c, or will.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was told already
	}
}
