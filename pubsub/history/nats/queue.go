package nats

import (
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/queue"
)

// outgoing are the messages of a history that are on their way into its stream: in the queue
// first, then sent. One goroutine sends them, so that those of a tenant keep their order.
//
// Of one channel much less is under way than the stream keeps (see underWay): what rolls over
// before all edges have received it is a gap for everybody. Only the channel's tenant waits
// for that.
type outgoing struct {
	stream *stream
	wake   chan struct{} // to run, with room for one: there is more to do, or room

	mu        sync.Mutex // guards the rest
	closed    bool
	queue     queue.Queue
	channels  map[string]int // messages under way, by tenant and channel
	sent      int            // messages that wait for an answer
	sentBytes int
}

func newOutgoing(st *stream) *outgoing {
	o := &outgoing{stream: st, wake: make(chan struct{}, 1), channels: map[string]int{}}
	o.queue.Most, o.queue.MostBytes = maxQueued, maxQueuedBytes
	o.queue.Held = func(owner, tenant string) bool { return st.trims.isBehind(payer{owner, tenant}) }
	return o
}

// channelKey stands for the channel of a message; no name has a zero byte.
func channelKey(m *history.Message) string { return m.Tenant + "\x00" + string(m.Channel) }

// push adds a message to the queue.
func (o *outgoing) push(m *history.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return history.ErrClosed
	}
	err := o.queue.Push(m)
	if err == nil {
		signal(o.wake)
	}
	return err
}

// next takes the message whose turn it is; nil: there is none that may be sent. The caller holds o.mu.
func (o *outgoing) next() *history.Message {
	most := int(max(o.stream.underWay.Load(), 1))
	return o.queue.Next(func(m *history.Message) bool {
		key := channelKey(m)
		if o.channels[key] >= most {
			return false // until one of the channel is answered
		}
		o.channels[key]++
		return true
	})
}

// end tells what became of a message that was sent.
func (o *outgoing) end(m *history.Message, r history.Result) {
	o.mu.Lock()
	o.sent--
	o.sentBytes -= queue.Size(m)
	channel := channelKey(m)
	if o.channels[channel]--; o.channels[channel] <= 0 {
		delete(o.channels, channel)
	}
	o.queue.Resume(m.History, m.Tenant)
	o.mu.Unlock()
	m.Stored(m, r)
	signal(o.wake)
}

func (o *outgoing) isEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queue.Len() == 0 && o.sent == 0
}

// expire fails what has waited since a time or longer to be sent.
func (o *outgoing) expire(since time.Time) {
	o.fail(history.ErrUnavailable, func(at time.Time) bool { return at.Before(since) })
}

// close fails what waits to be sent, and what comes.
func (o *outgoing) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.fail(history.ErrClosed, func(time.Time) bool { return true })
}

// fail fails the first messages of each tenant, as many in a row as are meant.
func (o *outgoing) fail(why error, meant func(since time.Time) bool) {
	o.mu.Lock()
	list := o.queue.TakeAll(meant)
	o.mu.Unlock()
	for _, m := range list {
		m.Stored(m, history.Result{Err: why})
	}
}
