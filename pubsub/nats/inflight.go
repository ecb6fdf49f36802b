package nats

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// NATS says at once when nobody listens where a message for one connection was sent:
// the edge is gone, or the last interest. So a message that was sent is kept for a
// moment, and sent elsewhere then.
const (
	// inFlightTime is how long NATS may take to say it.
	inFlightTime = 2 * time.Second
	// maxInFlightBytes bounds the bytes that are kept. Beyond it, the oldest messages are
	// dropped: they are not sent again, but counted as lost.
	maxInFlightBytes = 1 << 20
	// inFlightOverhead is about what is kept beside a message's own bytes.
	inFlightOverhead = 200
)

// inFlight are messages for one connection that have just been sent.
type inFlight struct {
	mu       sync.Mutex
	newest   uint64 // the number of the last one
	bytes    int
	oldest   uint64 // the oldest that may be there
	messages map[uint64]*inFlightMessage
}

type inFlightMessage struct {
	message pubsub.Message
	tried   []edgeID // and the one that it was sent to
	sentAt  time.Time
}

func (f *inFlightMessage) size() int {
	return inFlightOverhead + len(f.message.Tenant) + len(f.message.Channel) + len(f.message.Payload) + len(f.message.Sender) + 8*len(f.tried)
}

// add keeps a message, and returns its number.
func (f *inFlight) add(m pubsub.Message, tried []edgeID, now time.Time) uint64 {
	text := bytes.Join([][]byte{m.Tenant, m.Channel, m.Sender, m.Payload}, nil)
	t, c, s := len(m.Tenant), len(m.Tenant)+len(m.Channel), len(m.Tenant)+len(m.Channel)+len(m.Sender)
	m.Tenant, m.Channel, m.Sender, m.Payload = text[:t:t], text[t:c:c], text[c:s:s], text[s:]
	added := &inFlightMessage{m, tried, now}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += added.size()
	for ; f.oldest <= f.newest && (f.bytes > maxInFlightBytes || f.messages[f.oldest] == nil || now.Sub(f.messages[f.oldest].sentAt) > inFlightTime); f.oldest++ {
		f.drop(f.oldest)
	}
	f.newest++
	if f.messages == nil {
		f.messages, f.oldest = map[uint64]*inFlightMessage{}, f.newest
	}
	f.messages[f.newest] = added
	return f.newest
}

// take removes and returns a message that did not arrive; nil: it is no longer kept.
func (f *inFlight) take(number uint64) *inFlightMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.messages[number]
	f.drop(number)
	return taken
}

// drop forgets a message. The caller holds f.mu.
func (f *inFlight) drop(number uint64) {
	if dropped := f.messages[number]; dropped != nil {
		f.bytes -= dropped.size()
		delete(f.messages, number)
	}
}

// handleUndelivered takes a status of NATS, `503 No Responders`: nobody listens where a
// message was sent. It is given the end of the message's reply subject,
// `<edge>.<number>.<tenant>`.
func (b *Broker) handleUndelivered(reply string) {
	to, rest, _ := strings.Cut(reply, ".")
	number, _, _ := strings.Cut(rest, ".")
	var id edgeID
	if id.UnmarshalText([]byte(to)) == nil && id != anyEdge { // of a broken one it is anyEdge, too
		b.peers.remove(id)
		b.retainEdges(b.peers.otherIDs())
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return
	}
	undelivered := b.inFlight.take(n)
	if undelivered == nil { // whose fate stays unknown, if somebody asks
		b.receiver.Unsent(1)
		return
	}
	if id != anyEdge {
		b.forward(undelivered.message, undelivered.tried)
		return
	}
	m := undelivered.message
	m.LastResort = true // no other edge has an interest
	switch n := b.receiver.Receive(m); {
	case n > 0:
		b.tell(&m, undelivered.tried, pubsub.FateTaken)
	case n < 0 || m.HasSubscribers:
		b.receiver.Unsent(1)
		b.tell(&m, undelivered.tried, pubsub.FateBusy)
	default:
		b.tell(&m, undelivered.tried, pubsub.FateNoSubscriber)
	}
}
