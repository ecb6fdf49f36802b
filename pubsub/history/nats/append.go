package nats

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
)

const (
	// maxQueued and maxQueuedBytes bound the messages of a history that wait to be sent, and
	// half of each those of one tenant.
	maxQueued      = 64 << 10
	maxQueuedBytes = 64 << 20
	// maxSent and maxSentBytes bound those that wait for the stream's answer. In a small
	// history it is a share of its size: what is under way is not counted there yet.
	maxSent      = 4096
	maxSentBytes = 4 << 20
	minSentBytes = 16 << 10
	// answerTimeout is how long a message may wait for its answer, and to be sent.
	answerTimeout = 5 * time.Second
	// messageOverhead is what a message counts for beside its bytes.
	messageOverhead = 256
)

// Append implements [history.Store].
func (s *Store) Append(m *history.Message) {
	st, err := s.use(m.History)
	if err == nil {
		err = st.out.push(m)
	}
	if err != nil {
		m.Stored(m, history.Result{Err: err})
	}
}

// outgoing are the messages of a history that are on their way into its stream: in a queue
// first, then sent. One goroutine sends them, so that they keep their order.
type outgoing struct {
	stream *stream
	wake   chan struct{} // to run, with room for one: there is more to do, or room

	mu          sync.Mutex // guards the rest
	closed      bool
	queue       []queued
	queuedBytes int
	byTenant    map[string]tenantQueue
	sent        int // messages that wait for an answer
	sentBytes   int
}

type queued struct {
	message *history.Message
	since   time.Time
}

type tenantQueue struct{ messages, bytes int }

func newOutgoing(st *stream) *outgoing {
	return &outgoing{stream: st, wake: make(chan struct{}, 1), byTenant: map[string]tenantQueue{}}
}

func sizeOf(m *history.Message) int { return len(m.Channel) + len(m.Payload) + messageOverhead }

// push adds a message to the queue.
func (o *outgoing) push(m *history.Message) error {
	size := sizeOf(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return history.ErrClosed
	}
	of := o.byTenant[m.Tenant]
	if len(o.queue) >= maxQueued || of.messages >= maxQueued/2 ||
		of.messages > 0 && (o.queuedBytes+size > maxQueuedBytes || of.bytes+size > maxQueuedBytes/2) {
		return history.ErrUnavailable
	}
	of.messages, of.bytes = of.messages+1, of.bytes+size
	o.byTenant[m.Tenant] = of
	o.queue = append(o.queue, queued{m, time.Now()})
	o.queuedBytes += size
	signal(o.wake)
	return nil
}

// pop takes the first message from the queue; nil: there is none.
func (o *outgoing) pop() *history.Message {
	if len(o.queue) == 0 {
		return nil
	}
	m := o.queue[0].message
	o.queue[0] = queued{}
	if o.queue = o.queue[1:]; len(o.queue) == 0 {
		o.queue = nil
	}
	size := sizeOf(m)
	o.queuedBytes -= size
	of := o.byTenant[m.Tenant]
	if of.messages, of.bytes = of.messages-1, of.bytes-size; of.messages == 0 {
		delete(o.byTenant, m.Tenant)
	} else {
		o.byTenant[m.Tenant] = of
	}
	return m
}

func (o *outgoing) isEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) == 0 && o.sent == 0
}

// run sends what is in the queue, until ctx is done.
func (o *outgoing) run(ctx context.Context) {
	ticker := time.NewTicker(answerTimeout / 10)
	defer ticker.Stop()
	for {
		up, changed := o.stream.isUp()
		for up && o.sendNext() {
			up, changed = o.stream.isUp()
		}
		select {
		case <-o.wake:
		case <-changed:
		case <-ticker.C:
			o.expire(time.Now().Add(-answerTimeout))
			o.stream.store.acks.expire(time.Now())
			o.stream.stored.expire(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// sendNext sends the first message, and reports whether it could.
func (o *outgoing) sendNext() bool {
	st := o.stream
	most := int(min(max(st.size.Load()/64, minSentBytes), maxSentBytes))
	if st.trims.isBehind() {
		return false
	}
	o.mu.Lock()
	if o.sent >= maxSent || o.sent > 0 && o.sentBytes >= most {
		o.mu.Unlock()
		return false
	}
	m := o.pop()
	if m == nil {
		o.mu.Unlock()
		return false
	}
	o.sent++
	o.sentBytes += sizeOf(m)
	o.mu.Unlock()
	o.send(m)
	return true
}

// send sends a message to the stream.
func (o *outgoing) send(m *history.Message) {
	st := o.stream
	msg := &client.Msg{Subject: st.store.names.message(m.History, m.Tenant, m.Channel), Data: m.Payload}
	st.mu.Lock()
	if st.index == nil { // it has gone out of reach just now
		st.mu.Unlock()
		o.end(m, history.Result{Err: history.ErrUnavailable})
		return
	}
	epoch, last := st.epoch, st.last.n
	if m.Key != nil {
		hash := index.HashKey(m.Tenant, m.Channel, m.Key)
		if at, ok := st.index.Repeated(hash, time.Now()); ok {
			st.mu.Unlock()
			o.end(m, history.Result{Position: at, Repeated: true})
			return
		}
		if !st.index.HasKeyRoom(m.Tenant) {
			st.mu.Unlock()
			o.end(m, history.Result{Err: history.ErrKeysFull})
			return
		}
		msg.Header = client.Header{jetstream.MsgIDHeader: {hex.EncodeToString(hash[:])}}
	}
	st.mu.Unlock()
	number, reply := st.store.acks.add(sent{o, m, time.Now(), epoch, last})
	msg.Reply = reply
	if err := st.store.conn.PublishMsg(msg); err != nil {
		if st.store.acks.remove(number) {
			st.store.warn("a message cannot be sent to its history", err)
			o.end(m, history.Result{Err: history.ErrUnavailable})
		}
	}
}

// end tells what became of a message that was sent.
func (o *outgoing) end(m *history.Message, r history.Result) {
	o.mu.Lock()
	o.sent--
	o.sentBytes -= sizeOf(m)
	o.mu.Unlock()
	m.Stored(m, r)
	signal(o.wake)
}

// expire fails what has waited since a time or longer to be sent.
func (o *outgoing) expire(since time.Time) {
	for {
		o.mu.Lock()
		var m *history.Message
		if len(o.queue) > 0 && o.queue[0].since.Before(since) {
			m = o.pop()
		}
		o.mu.Unlock()
		if m == nil {
			return
		}
		m.Stored(m, history.Result{Err: history.ErrUnavailable})
	}
}

// close fails what waits to be sent.
func (o *outgoing) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	for {
		o.mu.Lock()
		m := o.pop()
		o.mu.Unlock()
		if m == nil {
			return
		}
		m.Stored(m, history.Result{Err: history.ErrClosed})
	}
}

// errRefusedMessage is why a stream has not taken a message.
var errRefusedMessage = errors.New("the stream does not take a message")
