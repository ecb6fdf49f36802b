package nats

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
	client "github.com/nats-io/nats.go"
)

// inbox holds messages from NATS until the hub takes them. NATS never waits: what
// comes while too much is here is lost, and counted.
type inbox struct {
	mu    sync.Mutex
	list  []*client.Msg
	bytes int
	lost  int
	work  chan struct{}
}

// messageOverhead is about what a message takes beside its subject and data.
const messageOverhead = 256

func (in *inbox) put(m *client.Msg, limit int) {
	size := len(m.Subject) + len(m.Data) + messageOverhead
	in.mu.Lock()
	if in.bytes+size > limit && in.bytes > 0 {
		in.lost++
	} else {
		in.list = append(in.list, m)
		in.bytes += size
	}
	in.mu.Unlock()
	kick(in.work)
}

// takeAll returns what is here, in order, and how many were lost. The list that
// was taken before is used again.
func (in *inbox) takeAll(before []*client.Msg) (list []*client.Msg, lost int) {
	clear(before)
	in.mu.Lock()
	defer in.mu.Unlock()
	list, lost = in.list, in.lost
	in.list, in.bytes, in.lost = before[:0], 0, 0
	return list, lost
}

// collect brings messages from NATS's channel into the inbox.
func (b *Broker) collect() {
	for {
		select {
		case m := <-b.in:
			b.inbox.put(m, b.config.QueueBytes)
		case <-b.enough:
			for len(b.in) > 0 {
				b.inbox.put(<-b.in, b.config.QueueBytes)
			}
			return
		}
	}
}

// manyStrangers is how many edges that have left are remembered for what may
// still come from them.
const manyStrangers = 100

// receiving is what the goroutine that takes messages from the inbox keeps.
type receiving struct {
	list    []*client.Msg
	last    map[edgeID]uint64 // the number of the last broadcast of each edge
	scratch []byte
}

// receive hands messages of other edges to the hub, and keeps the list of edges,
// as long as the broker runs.
func (b *Broker) receive() {
	r := receiving{last: map[edgeID]uint64{}}
	ticker := time.NewTicker(announceEvery)
	defer ticker.Stop()
	questions := time.NewTicker(answerTime / 4)
	defer questions.Stop()
	b.announce()
	collecting := make(chan struct{})
	go func() { // ends with enough, for which receive waits
		b.collect()
		close(collecting)
	}()
	for {
		select {
		case <-b.inbox.work:
			b.takeAll(&r)
		case <-ticker.C:
			b.announce()
			gone, known := b.peers.expire(time.Now()), b.peers.otherIDs()
			if len(gone) > 0 {
				b.takers.keep(known)
			}
			r.forget(known)
		case now := <-questions.C:
			b.review(now)
			b.relieve(now)
		case <-collecting:
			b.takeAll(&r)
			return
		}
	}
}

func (b *Broker) takeAll(r *receiving) {
	var lost int
	r.list, lost = b.inbox.takeAll(r.list)
	for _, m := range r.list {
		b.take(r, m)
	}
	if lost > 0 {
		b.missed(lost)
	}
}

func (b *Broker) take(r *receiving, m *client.Msg) {
	rest, ours := strings.CutPrefix(m.Subject, b.prefix)
	if !ours {
		return
	}
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		before := len(b.peers.otherIDs())
		if b.peers.heard(m.Data, time.Now()) {
			b.takers.askAgain()
			b.announce()
		}
		if known := b.peers.otherIDs(); len(known) < before {
			b.takers.keep(known)
		}
	case "b":
		from, number, payload, ok := splitBroadcast(m.Data)
		if !ok || number <= r.last[from] {
			return // a copy, for another interest that matches
		}
		r.last[from] = number
		if message, ok := r.message(rest); ok {
			message.Payload = payload
			b.receiver.Receive(message)
		}
	case "o", "e", "q":
		if kind == "e" {
			_, rest, _ = strings.Cut(rest, ".")
			if m.Header.Get(statusHeader) != "" {
				b.gone(rest)
				return
			}
		}
		if message, ok := r.message(rest); ok && len(m.Data) >= 2 && m.Data[0] == version {
			b.takeOne(message, m.Data[1], m.Data[2:])
		}
	}
}

// statusHeader stands in what NATS itself answers: nobody listens there.
const statusHeader = "Status"

// gone drops an edge that NATS does not know any more.
func (b *Broker) gone(text string) {
	var id edgeID
	if id.UnmarshalText([]byte(text)) == nil {
		b.peers.lost(id)
		b.takers.keep(b.peers.otherIDs())
	}
}

// takeOne takes what was sent to this edge alone.
func (b *Broker) takeOne(m pubsub.Message, kind byte, data []byte) {
	if kind != kindMessage {
		if from, ok := splitWord(data); ok {
			b.hear(m, kind, from)
		}
		return
	}
	delivery, tried, payload, ok := splitOne(data)
	if !ok {
		return
	}
	m.Payload, m.Delivery = payload, delivery
	if b.receiver.Receive(m) == 0 { // who subscribed has left, or has no room
		b.passOn(m, append(tried, b.id))
	}
}

// forget drops the numbers of edges that are not known, when there are many.
func (r *receiving) forget(known []edgeID) {
	if len(r.last) > len(known)+manyStrangers {
		maps.DeleteFunc(r.last, func(id edgeID, _ uint64) bool { return !slices.Contains(known, id) })
	}
}

// message reads tenant and channel.
func (r *receiving) message(subject string) (pubsub.Message, bool) {
	r.scratch = append(r.scratch[:0], subject...)
	tenant, channel, ok := splitChannel(r.scratch)
	return pubsub.Message{Tenant: tenant, Channel: channel, Delivery: wire.Broadcast}, ok
}
