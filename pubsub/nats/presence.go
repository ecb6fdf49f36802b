package nats

import (
	"encoding/binary"
	"errors"
	"sync"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

// Messages about presence go beside those of clients, as requests do: they come by a channel
// of their own, and are lost when it is full; the registry of presence notices. A message
// is: version, kindPresence, u64 edge that sends it, and what belongs to the registry.
const (
	presenceHeader = 1 + 1 + 8
	// presenceLen is how many of them can have come before presenceLoop takes them.
	presenceLen = 256
	// maxOutgoingPresence bounds the bytes of those that wait for the writer.
	maxOutgoingPresence = 4 << 20
)

// presence is what carries such messages, once there is somebody who takes them.
type presence struct {
	mu       sync.Mutex
	take     func(name, edge string, message []byte) error
	incoming chan *client.Msg // nil: nobody takes them
	subs     []*client.Subscription
}

// presenceTo is the subject of messages about presence to an edge, or to all.
func presenceTo(edge string) string {
	if edge == "" {
		return presenceSubject
	}
	return presenceSubject + "." + edge
}

const presenceSubject = "p"

// SendPresence implements [pubsub.PresenceCarrier].
func (b *Broker) SendPresence(edge string, message []byte) {
	data := append(make([]byte, 0, presenceHeader+len(message)), version, kindPresence)
	data = append(binary.BigEndian.AppendUint64(data, uint64(b.id)), message...)
	_ = b.enqueueOutgoing(&outgoing{subject: b.publishPrefix + presenceTo(edge), data: data, presence: true}) // else it is lost
}

// HandlePresence implements [pubsub.PresenceCarrier]. It is called once.
func (b *Broker) HandlePresence(take func(name, edge string, message []byte) error) {
	p := &b.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take, p.incoming = take, make(chan *client.Msg, presenceLen)
	for _, edge := range []string{"", b.id.String()} {
		sub, err := b.conn.ChanSubscribe(b.subscribePrefix+presenceTo(edge), p.incoming)
		if err != nil { // the broker is closed
			b.log.Error("presence of other edges is not known", zap.Error(err))
			return
		}
		p.subs = append(p.subs, sub)
	}
	b.receiving.Go(b.presenceLoop)
}

// stopPresence ends the subscriptions.
func (b *Broker) stopPresence() {
	b.presence.mu.Lock()
	defer b.presence.mu.Unlock()
	for _, sub := range b.presence.subs {
		_ = sub.Unsubscribe() // fails only when the connection is closed
	}
}

// presenceLoop takes messages about presence from NATS until the broker stops receiving.
func (b *Broker) presenceLoop() {
	for {
		select {
		case m := <-b.presence.incoming:
			if from, err := b.handlePresence(m); err != nil {
				b.reject(from, err.Error())
			}
		case <-b.stopReceiving:
			return
		}
	}
}

var errNotPresence = errors.New("not a message of an edge about presence")

// handlePresence takes a message about presence.
func (b *Broker) handlePresence(m *client.Msg) (from sender, err error) {
	from, _, ours := b.splitSender(m.Subject)
	if !ours || len(m.Data) < presenceHeader || m.Data[0] != version || m.Data[1] != kindPresence {
		return from, notOurs(m.Data, errNotPresence)
	}
	id := edgeID(binary.BigEndian.Uint64(m.Data[2:]))
	if id == anyEdge || id == b.id || !from.owns(id) {
		return from, errNotSender
	}
	return from, b.presence.take(string(from), id.String(), m.Data[presenceHeader:])
}

var _ pubsub.PresenceCarrier = (*Broker)(nil)
