package badger

import (
	"sync"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/queue"
)

// maxQueued and maxQueuedBytes bound what waits for a commit; see queue.Queue. Beyond, Append fails.
const (
	maxQueued      = 1 << 16
	maxQueuedBytes = 64 << 20
)

// commitQueue is what waits for a commit.
type commitQueue struct {
	mu       sync.Mutex
	messages queue.Queue
	closed   bool
	filled   chan struct{} // tells the committer; has room for one
}

func newCommitQueue() *commitQueue {
	return &commitQueue{messages: queue.Queue{Most: maxQueued, MostBytes: maxQueuedBytes}, filled: make(chan struct{}, 1)}
}

// Append implements [history.Store].
func (s *Store) Append(m *history.Message) {
	if err := s.queue.push(m); err != nil {
		m.Stored(m, history.Result{Err: err})
	}
}

func (q *commitQueue) push(m *history.Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return history.ErrClosed
	}
	err := q.messages.Push(m)
	if err == nil {
		q.wake()
	}
	return err
}

// close has nothing more come, and reports whether that was so already.
func (q *commitQueue) close() (already bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	already, q.closed = q.closed, true
	q.wake()
	return already
}

// wake tells the committer that there is something to do.
func (q *commitQueue) wake() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// take takes what one commit has; closed: nothing will come any more.
func (q *commitQueue) take() (batch []*history.Message, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = make([]*history.Message, 0, min(q.messages.Len(), maxBatch))
	for bytes := 0; len(batch) < maxBatch && bytes < maxBatchBytes; {
		m := q.messages.Next(nil)
		if m == nil {
			break
		}
		batch = append(batch, m)
		bytes += queue.Size(m)
	}
	return batch, q.closed
}
