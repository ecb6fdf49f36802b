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
// the edge is gone, or the last interest. So what was sent is kept for a moment, to
// be sent elsewhere then.
const (
	// flyingTime is how long NATS may take to say it.
	flyingTime = 2 * time.Second
	// maxFlying bounds the bytes that are kept. Of more, the oldest are not sent
	// again, but counted as lost.
	maxFlying = 1 << 20
	// flyingCost is what is kept beside a message's own bytes.
	flyingCost = 200
)

// flying are messages for one connection that have just been sent.
type flying struct {
	mu    sync.Mutex
	last  uint64
	bytes int
	first uint64 // the oldest that may be there
	sent  map[uint64]*flight
}

type flight struct {
	message pubsub.Message
	tried   []edgeID // and the one that it was sent to
	at      time.Time
}

func (f *flight) cost() int {
	return flyingCost + len(f.message.Tenant) + len(f.message.Channel) + len(f.message.Payload) + 8*len(f.tried)
}

// add keeps a message, and returns its number.
func (f *flying) add(m pubsub.Message, tried []edgeID, now time.Time) uint64 {
	text := bytes.Join([][]byte{m.Tenant, m.Channel, m.Payload}, nil)
	t, c := len(m.Tenant), len(m.Tenant)+len(m.Channel)
	m.Tenant, m.Channel, m.Payload = text[:t:t], text[t:c:c], text[c:]
	flown := &flight{m, tried, now}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += flown.cost()
	for ; f.first <= f.last && (f.bytes > maxFlying || f.sent[f.first] == nil || now.Sub(f.sent[f.first].at) > flyingTime); f.first++ {
		f.drop(f.first)
	}
	f.last++
	if f.sent == nil {
		f.sent, f.first = map[uint64]*flight{}, f.last
	}
	f.sent[f.last] = flown
	return f.last
}

// take returns a message that did not arrive; nil: it is not kept any more.
func (f *flying) take(number uint64) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	flown := f.sent[number]
	f.drop(number)
	return flown
}

// drop forgets a message. The caller holds f.mu.
func (f *flying) drop(number uint64) {
	if flown := f.sent[number]; flown != nil {
		f.bytes -= flown.cost()
		delete(f.sent, number)
	}
}

// nowhere takes NATS's word that nobody listens where a message was sent: the end of
// the subject that it had for answers, `<edge>.<number>.<tenant>`.
func (b *Broker) nowhere(text string) {
	to, rest, _ := strings.Cut(text, ".")
	number, _, _ := strings.Cut(rest, ".")
	var id edgeID
	if id.UnmarshalText([]byte(to)) == nil && id != anyEdge { // else it is 0, that of none
		b.peers.lost(id)
		b.forgetEdges(b.peers.otherIDs())
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return
	}
	flown := b.flying.take(n)
	if flown == nil {
		b.receiver.Unsent(1)
		return
	}
	if id != anyEdge {
		b.forward(flown.message, flown.tried)
		return
	}
	flown.message.LastResort = true // no other edge has an interest
	if b.receiver.Receive(flown.message) <= 0 {
		b.receiver.Unsent(1)
	}
}
