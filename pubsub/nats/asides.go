package nats

import (
	"encoding/binary"
	"errors"
	"sync"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

// asides are messages of one kind that edges send each other beside those of clients, as
// requests are: they come by a channel of their own, and are lost when it is full. A message
// is: version, its kind, u64 edge that sends it, and what belongs to whoever takes it.
type asides struct {
	kind    byte
	subject string // of those to all edges; with a dot and the id of an edge behind it, to this one
	what    string // for the log

	outgoingBytes int // that wait for the writer; guarded by Broker.mu

	mu       sync.Mutex
	take     func(name, edge string, message []byte) error
	incoming chan *client.Msg // nil: nobody takes them
	subs     []*client.Subscription
}

const (
	asideHeader = 1 + 1 + 8
	// asidesLen is how many of them can have come before asideLoop takes them.
	asidesLen = 256
	// maxOutgoingAsides bounds the bytes of those of one kind that wait for the writer.
	maxOutgoingAsides = 4 << 20
)

// to is the subject of messages to an edge, or to all.
func (a *asides) to(edge string) string {
	if edge == "" {
		return a.subject
	}
	return a.subject + "." + edge
}

// sendAside queues a message to an edge, or to all; without room or a link it is lost.
func (b *Broker) sendAside(a *asides, edge string, message []byte) {
	data := append(make([]byte, 0, asideHeader+len(message)), version, a.kind)
	data = append(binary.BigEndian.AppendUint64(data, uint64(b.id)), message...)
	_ = b.enqueueOutgoing(&outgoing{subject: b.publishPrefix + a.to(edge), data: data, aside: a}) // else it is lost
}

// handleAsides sets what takes the messages to these edges. It is called once.
func (b *Broker) handleAsides(a *asides, take func(name, edge string, message []byte) error, edges ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.take, a.incoming = take, make(chan *client.Msg, asidesLen)
	for _, edge := range edges {
		sub, err := b.conn.ChanSubscribe(b.subscribePrefix+a.to(edge), a.incoming)
		if err != nil { // the broker is closed
			b.log.Error("this edge does not hear "+a.what+" of other edges", zap.Error(err))
			return
		}
		a.subs = append(a.subs, sub)
	}
	b.receiving.Go(func() { b.asideLoop(a) })
}

// stop ends the subscriptions.
func (a *asides) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sub := range a.subs {
		_ = sub.Unsubscribe() // fails only when the connection is closed
	}
}

// asideLoop takes messages from NATS until the broker stops receiving.
func (b *Broker) asideLoop(a *asides) {
	for {
		select {
		case m := <-a.incoming:
			if from, err := b.handleAside(a, m); err != nil {
				b.reject(from, err.Error())
			}
		case <-b.stopReceiving:
			return
		}
	}
}

var errNotAside = errors.New("not a message of an edge about presence or tokens")

// handleAside takes a message.
func (b *Broker) handleAside(a *asides, m *client.Msg) (from sender, err error) {
	from, _, ours := b.splitSender(m.Subject)
	if !ours || len(m.Data) < asideHeader || m.Data[0] != version || m.Data[1] != a.kind {
		return from, notOurs(m.Data, errNotAside)
	}
	id := edgeID(binary.BigEndian.Uint64(m.Data[2:]))
	if id == anyEdge || id == b.id || !from.owns(id) {
		return from, errNotSender
	}
	return from, a.take(string(from), id.String(), m.Data[asideHeader:])
}
