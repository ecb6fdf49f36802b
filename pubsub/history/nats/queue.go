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
	channels  map[string]int     // messages under way, by tenant and channel
	held      map[payer][]string // tenants that wait until what is to be removed is, by for whom
	sent      int                // messages that wait for an answer
	sentBytes int
}

func newOutgoing(st *stream) *outgoing {
	o := &outgoing{stream: st, wake: make(chan struct{}, 1), channels: map[string]int{}, held: map[payer][]string{}}
	o.queue.Most, o.queue.MostBytes = maxQueued, maxQueuedBytes
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

// next takes the message whose turn it is; nil: there is none that may be sent. holds: whoever has to make room
// waits, and the caller also holds the stream's mu. It holds o.mu.
func (o *outgoing) next(holds bool) *history.Message {
	most := int(max(o.stream.underWay.Load(), 1))
	ready := func(m *history.Message) bool {
		if holds {
			if p := o.stream.payerOf(m); o.stream.trims.isBehind(p) {
				o.held[p] = append(o.held[p], m.Tenant)
				return false
			}
		}
		key := channelKey(m)
		if o.channels[key] >= most {
			return false // until one of the channel is answered
		}
		o.channels[key]++
		return true
	}
	for {
		more := o.resumeHeld()
		if m := o.queue.Next(ready); m != nil || !more {
			return m
		}
	}
}

// resumeEach is how many tenants go on for each message that is sent, when room was made: few, as most are to
// wait again soon, and more than one, so that all come.
const resumeEach = 4

// resumeHeld has some tenants go on that had to wait, and reports whether there were any.
func (o *outgoing) resumeHeld() (some bool) {
	for p, tenants := range o.held {
		if o.stream.trims.isBehind(p) {
			continue
		}
		n := min(len(tenants), resumeEach)
		for _, tenant := range tenants[:n] {
			o.queue.Resume(o.stream.name, tenant)
		}
		if o.held[p] = tenants[n:]; n == len(tenants) {
			delete(o.held, p)
		}
		some = true
	}
	return some
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
	clear(o.held) // all resume
	o.mu.Unlock()
	for _, m := range list {
		m.Stored(m, history.Result{Err: why})
	}
}
