package nats

import (
	"errors"
	"os"
	"slices"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub"
)

// outgoing is a request, an answer or an aside on its way to the connection. The writer takes them
// from a queue of their own, one between the messages that it finds each time: so a
// message waits behind one of them at most. A notice goes first: it must arrive within a second.
type outgoing struct {
	subject, reply string
	data           []byte
	request        uint64                 // the number of a request of this edge; 0: none
	short          func(kind byte) []byte // the answer in a few bytes, instead of data; nil: it has only these
	aside          *asides                // it is neither, but one of these
}

const (
	// maxOutgoing bounds the bytes of requests and answers that wait for the writer.
	maxOutgoing = maxAnswering * pubsub.MaxAnswer
	// maxOutgoingShort is room beyond that, for answers of a few bytes, which say why there
	// is no other.
	maxOutgoingShort = 64 << 10
)

func (o *outgoing) size() int {
	return messageOverhead + len(o.subject) + len(o.reply) + len(o.data)
}

// enqueueOutgoing queues a request or an answer for the writer, if there is room and a
// link.
func (b *Broker) enqueueOutgoing(o *outgoing) error {
	limit := maxOutgoing
	if o.request == 0 && len(o.data) == requestHeader {
		limit += maxOutgoingShort
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.linkUp:
		return pubsub.ErrNoLink
	case o.aside != nil && o.aside.outgoingBytes+o.size() > maxOutgoingAsides, o.aside == nil && b.outgoingBytes+o.size() > limit:
		return pubsub.ErrTooManyRequests
	}
	if o.aside == &b.notices {
		b.outgoing = slices.Insert(b.outgoing, 0, o)
	} else {
		b.outgoing = append(b.outgoing, o)
	}
	b.countOutgoing(o, o.size())
	signal(b.wakeWriter)
	return nil
}

// nextOutgoing takes the first one off the queue; nil: it is empty. The caller holds b.mu.
func (b *Broker) nextOutgoing() *outgoing {
	if len(b.outgoing) == 0 {
		return nil
	}
	next := b.outgoing[0]
	b.outgoing[0] = nil
	if b.outgoing = b.outgoing[1:]; len(b.outgoing) == 0 {
		b.outgoing = nil
	}
	b.countOutgoing(next, -next.size())
	return next
}

// countOutgoing adds n bytes to what waits. The caller holds b.mu.
func (b *Broker) countOutgoing(o *outgoing, n int) {
	if o.aside != nil {
		o.aside.outgoingBytes += n
		return
	}
	b.outgoingBytes += n
}

// dropOutgoing empties the queue: the link is down, and nobody would wait any more.
func (b *Broker) dropOutgoing() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outgoing, b.outgoingBytes, b.presence.outgoingBytes, b.notices.outgoingBytes = nil, 0, 0, 0
}

// sendOutgoing publishes a request or an answer. For the writer.
func (b *Broker) sendOutgoing(o *outgoing) {
	err := b.publishMsg(&client.Msg{Subject: o.subject, Reply: o.reply, Data: o.data})
	switch {
	case err == nil:
	case o.request != 0 && errors.Is(err, client.ErrMaxPayload):
		b.requests.end(o.request, response{err: pubsub.ErrRequestTooLarge})
	case o.request != 0:
		b.requests.end(o.request, response{err: pubsub.ErrNoLink})
	case o.short != nil && errors.Is(err, client.ErrMaxPayload):
		_ = b.publishMsg(&client.Msg{Subject: o.subject, Data: o.short(kindTooLarge)}) // without a link nobody waits
	}
}

// publishMsg hands a message to NATS's client. For the writer.
func (b *Broker) publishMsg(m *client.Msg) error {
	err := b.conn.PublishMsg(m)
	if errors.Is(err, os.ErrDeadlineExceeded) { // half of something is written, so nothing can follow it
		_ = b.conn.ForceReconnect() // fails only when it is closed
	}
	return err
}
