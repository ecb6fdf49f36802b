package nats

import (
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// outgoing are the messages of a history that are on their way into its stream: in the queue
// of their tenant first, then sent. One goroutine sends them, the tenants in turns, so that
// they keep their order.
//
// Of one channel much less is under way than the stream keeps (see underWay): what rolls over
// before all edges have received it is a gap for everybody. Only the channel's tenant waits
// for that.
type outgoing struct {
	stream *stream
	wake   chan struct{} // to run, with room for one: there is more to do, or room

	mu          sync.Mutex // guards the rest
	closed      bool
	queues      map[string]*tenantQueue // those with messages
	turns       []*tenantQueue          // of these, those that do not wait for a channel
	queued      int                     // messages in all queues
	queuedBytes int
	owners      map[string]ofOwner
	channels    map[string]int // messages under way, by tenant and channel
	sent        int            // messages that wait for an answer
	sentBytes   int
}

// ofOwner is what waits in the queues of one owner.
type ofOwner struct{ messages, bytes int }

// tenantQueue is what waits of one tenant.
type tenantQueue struct {
	list    []queued
	bytes   int
	waiting bool // for a channel, that of its first message
}

type queued struct {
	message *history.Message
	since   time.Time
}

func newOutgoing(st *stream) *outgoing {
	return &outgoing{stream: st, wake: make(chan struct{}, 1), queues: map[string]*tenantQueue{}, channels: map[string]int{}, owners: map[string]ofOwner{}}
}

func sizeOf(m *history.Message) int {
	return len(m.Channel) + len(m.Payload) + len(m.Sender) + messageOverhead
}

// channelKey stands for the channel of a message; no name has a zero byte.
func channelKey(m *history.Message) string { return m.Tenant + "\x00" + string(m.Channel) }

// push adds a message to the queue.
func (o *outgoing) push(m *history.Message) error {
	size := sizeOf(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return history.ErrClosed
	}
	q, owned := o.queues[m.Tenant], o.owners[m.Owner]
	if o.queued >= maxQueued || o.queued > 0 && o.queuedBytes+size > maxQueuedBytes ||
		q != nil && (len(q.list) >= maxQueued/2 || q.bytes+size > maxQueuedBytes/2) ||
		owned.messages >= maxQueued/2 || owned.bytes+size > maxQueuedBytes/2 && owned.messages > 0 {
		return history.ErrUnavailable
	}
	if q == nil {
		q = new(tenantQueue)
		o.queues[m.Tenant] = q
		o.turns = append(o.turns, q)
	}
	q.list = append(q.list, queued{m, time.Now()})
	q.bytes += size
	o.queued++
	o.queuedBytes += size
	o.countOwned(m, 1)
	signal(o.wake)
	return nil
}

// countOwned counts a message in the queues for its owner, if there is one, or with -1 takes that back. The
// caller holds o.mu.
func (o *outgoing) countOwned(m *history.Message, sign int) {
	if m.Owner == "" {
		return
	}
	owned := o.owners[m.Owner]
	owned.messages, owned.bytes = owned.messages+sign, owned.bytes+sign*sizeOf(m)
	if o.owners[m.Owner] = owned; owned.messages == 0 {
		delete(o.owners, m.Owner)
	}
}

// take takes the first message of a queue. The caller holds o.mu, and puts the queue in turns
// again if there is more.
func (o *outgoing) take(q *tenantQueue) *history.Message {
	m := q.list[0].message
	q.list[0] = queued{}
	q.list = q.list[1:]
	q.bytes -= sizeOf(m)
	o.queued--
	o.queuedBytes -= sizeOf(m)
	o.countOwned(m, -1)
	if len(q.list) == 0 {
		delete(o.queues, m.Tenant)
	}
	return m
}

// next takes the message whose turn it is; nil: there is none that may be sent.
func (o *outgoing) next() *history.Message {
	most := int(max(o.stream.underWay.Load(), 1))
	for len(o.turns) > 0 {
		q := o.turns[0]
		o.turns[0] = nil
		o.turns = o.turns[1:]
		if len(q.list) == 0 { // all of it has expired
			continue
		}
		key := channelKey(q.list[0].message)
		if o.channels[key] >= most {
			q.waiting = true // until one of the channel is answered
			continue
		}
		o.channels[key]++
		m := o.take(q)
		if len(q.list) > 0 {
			o.turns = append(o.turns, q)
		}
		return m
	}
	o.turns = nil
	return nil
}

func (o *outgoing) isEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queued == 0 && o.sent == 0
}

// expire fails what has waited since a time or longer to be sent.
func (o *outgoing) expire(since time.Time) {
	o.fail(history.ErrUnavailable, func(q queued) bool { return q.since.Before(since) })
}

// close fails what waits to be sent, and what comes.
func (o *outgoing) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.fail(history.ErrClosed, func(queued) bool { return true })
}

// fail fails the first messages of each tenant, as many in a row as are meant.
func (o *outgoing) fail(why error, meant func(queued) bool) {
	var list []*history.Message
	o.mu.Lock()
	for _, q := range o.queues {
		for len(q.list) > 0 && meant(q.list[0]) {
			list = append(list, o.take(q))
		}
		if q.waiting { // perhaps for another channel now
			q.waiting = false
			o.turns = append(o.turns, q)
		}
	}
	o.mu.Unlock()
	for _, m := range list {
		m.Stored(m, history.Result{Err: why})
	}
}
