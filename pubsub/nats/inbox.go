package nats

import (
	"errors"
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
	met     int // new edges since the last announcement
}

// maxMet is how many new edges are greeted at once; more wait for the next
// announcement.
const maxMet = 64

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
			if r.met > maxMet {
				b.takers.askAgain()
			}
			r.met = 0
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
	from, rest, ours := b.splitSender(m.Subject)
	if !ours {
		return
	}
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		before := len(b.peers.otherIDs())
		isNew, err := b.peers.heard(from, m.Data, time.Now())
		if err != nil {
			b.rejected(from, err.Error())
		}
		if isNew {
			if r.met++; r.met <= maxMet {
				b.takers.askAgain()
				b.announce()
			}
		}
		if known := b.peers.otherIDs(); len(known) < before {
			b.takers.keep(known)
		}
	case "b":
		id, number, payload, ok := splitBroadcast(m.Data)
		switch {
		case !ok:
			b.rejected(from, "it is no broadcast of this version")
			return
		case !from.owns(id):
			b.rejected(from, errNotSender.Error())
			return
		case number <= r.last[id]:
			return // a copy, for another interest that matches
		}
		if r.last[id] == 0 {
			r.forget(b.peers.otherIDs())
		}
		r.last[id] = number
		message, err := r.message(rest)
		if err != nil {
			b.rejected(from, err.Error())
			return
		}
		message.Payload = payload
		b.receiver.Receive(message)
	case "o", "e", "q":
		if kind == "e" {
			_, rest, _ = strings.Cut(rest, ".")
			if m.Header.Get(statusHeader) != "" {
				if from == b.name { // or no edge has a name
					b.gone(rest)
				}
				return
			}
		}
		message, err := r.message(rest)
		if err == nil {
			err = b.takeOne(from, kind, message, m.Data)
		}
		if err != nil {
			b.rejected(from, err.Error())
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

// takeOne takes what was sent to one edge, or asked of all, on a subject of this
// kind.
func (b *Broker) takeOne(from sender, kind string, m pubsub.Message, data []byte) error {
	if len(data) < 2 || data[0] != version {
		return errNotOne
	}
	word, data := data[1], data[2:]
	if word != kindMessage {
		id, ok := splitWord(data)
		switch {
		case !ok || (kind == "q") != (word == kindQuestion) || kind == "o":
			return errNotOne
		case !from.owns(id):
			return errNotSender
		}
		b.hear(m, word, id)
		return nil
	}
	delivery, tried, payload, ok := splitOne(data)
	if !ok || kind == "q" || kind == "o" && delivery != wire.OneNearest {
		return errNotOne
	}
	m.Payload, m.Delivery = payload, delivery
	if b.receiver.Receive(m) == 0 { // who subscribed has left, or has no room
		b.passOn(m, append(tried, b.id))
	}
	return nil
}

var errNotOne = errors.New("it is nothing that one edge sends to another in this version")

// forget drops the numbers of edges that are not known, when there are many.
func (r *receiving) forget(known []edgeID) {
	if len(r.last) > len(known)+manyStrangers {
		maps.DeleteFunc(r.last, func(id edgeID, _ uint64) bool { return !slices.Contains(known, id) })
	}
}

// message reads tenant and channel, which have to be names of the protocol: the
// other edge may not have checked them.
func (r *receiving) message(subject string) (m pubsub.Message, err error) {
	r.scratch = append(r.scratch[:0], subject...)
	tenant, channel, ok := splitChannel(r.scratch)
	if !ok {
		return m, errSubject
	}
	if err := wire.CheckTenant(tenant); err != nil {
		return m, err
	}
	if err := wire.CheckChannel(channel); err != nil {
		return m, err
	}
	return pubsub.Message{Tenant: tenant, Channel: channel, Delivery: wire.Broadcast}, nil
}

var errSubject = errors.New("its subject has no tenant and channel")
