package badger

import (
	"fmt"
	"sync"

	"github.com/millrace/millrace/pubsub/history"
)

// maxQueued and maxQueuedBytes bound what waits for a commit. Beyond, Append fails.
const (
	maxQueued      = 1 << 16
	maxQueuedBytes = 64 << 20
)

// queue is what waits for a commit.
type queue struct {
	mu       sync.Mutex
	messages []*history.Message
	bytes    int
	most     int // messages
	owners   map[string]waiting
	closed   bool
	filled   chan struct{} // tells the committer; has room for one
}

// waiting is what waits of one owner.
type waiting struct{ messages, bytes int }

// Append implements [history.Store].
func (s *Store) Append(m *history.Message) {
	if err := s.queue.push(m); err != nil {
		m.Stored(m, history.Result{Err: err})
	}
}

func messageBytes(m *history.Message) int {
	return len(m.Tenant) + len(m.Channel) + len(m.Payload) + len(m.Sender) + len(m.Key) + 200
}

func (q *queue) push(m *history.Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return history.ErrClosed
	case len(q.messages) >= q.most || q.bytes > maxQueuedBytes:
		return fmt.Errorf("%w: too much waits for the disk", history.ErrUnavailable)
	}
	if of := q.owners[m.Owner]; m.Owner != "" && (of.messages >= q.most/2 || of.bytes > maxQueuedBytes/2) {
		return fmt.Errorf("%w: too much of one issuer waits for the disk", history.ErrUnavailable)
	}
	q.messages = append(q.messages, m)
	q.bytes += messageBytes(m)
	q.count(m, 1)
	q.wake()
	return nil
}

// count counts a message for its owner, or with -1 takes that back.
func (q *queue) count(m *history.Message, sign int) {
	if m.Owner == "" {
		return
	}
	if q.owners == nil {
		q.owners = map[string]waiting{}
	}
	of := q.owners[m.Owner]
	of.messages, of.bytes = of.messages+sign, of.bytes+sign*messageBytes(m)
	if q.owners[m.Owner] = of; of.messages == 0 {
		delete(q.owners, m.Owner)
	}
}

// wake tells the committer that there is something to do.
func (q *queue) wake() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// take takes what one commit has; closed: nothing will come any more.
func (q *queue) take() (batch []*history.Message, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.messages) && n < maxBatch && bytes < maxBatchBytes {
		bytes += messageBytes(q.messages[n])
		q.count(q.messages[n], -1)
		n++
	}
	batch = q.messages[:n:n]
	if q.messages = q.messages[n:]; len(q.messages) == 0 {
		q.messages = nil
	}
	q.bytes -= bytes
	return batch, q.closed
}
