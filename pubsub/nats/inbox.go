package nats

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// collect brings messages from NATS's channel into the inbox, but for copies.
func (b *Broker) collect() {
	r := receiving{edges: map[edgeID]*hearing{}}
	forget := time.NewTicker(announceEvery)
	defer forget.Stop()
	for {
		select {
		case m := <-b.in:
			b.put(&r, m)
		case <-forget.C:
			r.forget(b.peers.otherIDs())
		case <-b.enough:
			for len(b.in) > 0 {
				b.put(&r, <-b.in)
			}
			return
		}
	}
}

// put leaves a message to the workers.
func (b *Broker) put(r *receiving, m *client.Msg) {
	tenant, ok := b.admit(r, m)
	if !ok {
		return
	}
	if m.Header != nil && m.Header.Get(statusHeader) == "" {
		m.Header = nil // which takes several times its bytes
	}
	taken, start := b.inbox.put(tenant, m, b.config.QueueBytes)
	if !taken {
		b.miss(tenant, 1)
	}
	if start { // receive is counted, too: never from zero during Wait
		b.receiving.Go(func() {
			var t taking
			b.inbox.work(func(m *client.Msg) { b.handle(&t, m) })
		})
	}
}

// manyStrangers is how many edges that have left are remembered for what may
// still come from them.
const manyStrangers = 100

// receiving is what the goroutine that takes messages from NATS keeps.
type receiving struct {
	edges map[edgeID]*hearing // others that have sent a broadcast, or an announcement
}

// of returns what is known of another edge.
func (r *receiving) of(id edgeID, known func() []edgeID) *hearing {
	h := r.edges[id]
	if h == nil {
		r.forget(known())
		h = new(hearing)
		r.edges[id] = h
	}
	return h
}

// taking is what a goroutine that hands messages to the hub keeps.
type taking struct{ scratch []byte }

// maxMet is how many new edges are greeted at once; more wait for the next
// announcement.
const maxMet = 64

// receive has messages of other edges handed to the hub, and keeps the list of
// edges, as long as the broker runs.
func (b *Broker) receive() {
	ticker := time.NewTicker(announceEvery)
	defer ticker.Stop()
	b.announce()
	collecting := make(chan struct{})
	go func() { // ends with enough, for which receive waits
		b.collect()
		close(collecting)
	}()
	// Apart, as a tenant may take its time: who does not announce itself is taken for dead.
	b.receiving.Go(func() { b.lookAfter(collecting) })
	for {
		select {
		case <-ticker.C:
			b.announce()
			if b.met.Swap(0) > maxMet {
				b.responders.requeryAll()
			}
			gone, known := b.peers.expire(time.Now()), b.peers.otherIDs()
			if len(gone) > 0 {
				b.forgetEdges(known)
			}
		case <-collecting:
			return
		}
	}
}

// lookAfter does what is due in time, until over is closed.
func (b *Broker) lookAfter(over <-chan struct{}) {
	ticker := time.NewTicker(answerTimeout / 4)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			b.expireQueries(now)
			b.sayMissed(now)
			b.finishTurns(now)
		case <-over:
			return
		}
	}
}

// admit says whose a message is: a tenant's, as in subjects, or with "" what edges
// say of themselves. It drops copies, before they take room or time.
func (b *Broker) admit(r *receiving, m *client.Msg) (tenant string, ok bool) {
	from, rest, ours := b.splitSender(m.Subject)
	if !ours {
		return "", false
	}
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		if id, shown := clockOf(m.Data); shown != 0 && from.owns(id) {
			r.of(id, b.peers.otherIDs).announcedAt(shown, b.clock.now())
		}
		return "", true
	case "b":
		id, number, _, ok := splitBroadcast(m.Data)
		switch {
		case !ok:
			b.rejected(from, "it is no broadcast of this version")
			return "", false
		case !from.owns(id):
			b.rejected(from, errNotSender.Error())
			return "", false
		}
		h := r.of(id, b.peers.otherIDs)
		if number <= h.last {
			return "", false // a copy, for another interest that matches
		}
		h.last = number
		if h.late(number, b.clock.now()) {
			tenant, _, _ = strings.Cut(rest, ".")
			b.miss(tenant, 1)
			return "", false
		}
	case "e":
		if _, rest, _ = strings.Cut(rest, "."); m.Header.Get(statusHeader) != "" {
			return rest[strings.LastIndexByte(rest, '.')+1:], true // see nowhere
		}
	case "o", "q":
	default:
		return "", false
	}
	tenant, _, _ = strings.Cut(rest, ".")
	if tenant == leavingTenant && kind == "q" && len(m.Data) > 1 && m.Data[1] == kindMark {
		return "", true // behind the announcement before it
	}
	return tenant, true
}

// handle takes a message that was admitted. Those of a tenant come one at a time.
func (b *Broker) handle(t *taking, m *client.Msg) {
	from, rest, _ := b.splitSender(m.Subject)
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		before := len(b.peers.otherIDs())
		isNew, err := b.peers.heard(from, m.Data, time.Now())
		if err != nil {
			b.rejected(from, err.Error())
		}
		if isNew && b.met.Add(1) <= maxMet {
			b.responders.requeryAll()
			b.announce()
		}
		if known := b.peers.otherIDs(); len(known) < before || isNew && len(known) == before { // it took another one's place
			b.forgetEdges(known)
		}
	case "b":
		message, err := t.message(rest)
		if err != nil {
			b.rejected(from, err.Error())
			return
		}
		_, _, message.Payload, _ = splitBroadcast(m.Data)
		b.receiver.Receive(message)
	case "o", "e", "q":
		if kind == "e" {
			_, rest, _ = strings.Cut(rest, ".")
			if m.Header.Get(statusHeader) != "" {
				if from == b.name { // or no edge has a name
					b.nowhere(rest)
				}
				return
			}
		}
		message, err := t.message(rest)
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

// takeOne takes what was sent to one edge, or asked of all, on a subject of this
// kind.
func (b *Broker) takeOne(from sender, subjectKind string, m pubsub.Message, data []byte) error {
	if len(data) < 2 || data[0] != version {
		return errNotOne
	}
	kind, data := data[1], data[2:]
	if kind != kindMessage {
		id, ok := splitControl(data)
		switch {
		case !ok || subjectKind == "o" || kind != kindMark && (subjectKind == "q") != (kind == kindQuery):
			return errNotOne
		case !from.owns(id):
			return errNotSender
		case kind == kindMark && subjectKind == "q":
			_ = b.sendControl(&m, direct(id), kindMark) // who gets none goes on without it
			return nil
		case kind == kindMark:
			b.marked(m, id)
			return nil
		}
		b.handleControl(m, kind, id)
		return nil
	}
	delivery, tried, payload, ok := splitOne(data)
	if !ok || subjectKind == "q" || subjectKind == "o" && delivery != wire.OneNearest {
		return errNotOne
	}
	m.Payload, m.Delivery = payload, delivery
	if taken, tried := b.tryLocal(m, tried); !taken { // who subscribed has left, or has no room
		b.forward(m, tried)
	}
	return nil
}

var errNotOne = errors.New("it is nothing that one edge sends to another in this version")

// forget drops what is kept of edges that are not known, when there are many.
func (r *receiving) forget(known []edgeID) {
	if len(r.edges) > len(known)+manyStrangers {
		maps.DeleteFunc(r.edges, func(id edgeID, _ *hearing) bool { return !slices.Contains(known, id) })
	}
}

// message reads tenant and channel, which have to be names of the protocol: the
// other edge may not have checked them.
func (t *taking) message(subject string) (m pubsub.Message, err error) {
	t.scratch = append(t.scratch[:0], subject...)
	tenant, channel, ok := splitChannel(t.scratch)
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
