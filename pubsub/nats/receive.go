package nats

import (
	"maps"
	"slices"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
)

// readLoop moves messages from NATS's channel into the inbox, until the broker stops
// receiving. It drops copies.
func (b *Broker) readLoop() {
	r := readState{sources: map[edgeID]*source{}}
	forget := time.NewTicker(announceInterval)
	defer forget.Stop()
	for {
		select {
		case m := <-b.incoming:
			b.enqueueIncoming(&r, m)
		case <-forget.C:
			r.forgetSources(b.peers.otherIDs())
		case <-b.stopReceiving:
			for len(b.incoming) > 0 {
				b.enqueueIncoming(&r, <-b.incoming)
			}
			return
		}
	}
}

// enqueueIncoming leaves a message to the workers.
func (b *Broker) enqueueIncoming(r *readState, m *client.Msg) {
	tenant, ok := b.admit(r, m)
	if !ok {
		return
	}
	if m.Header != nil && m.Header.Get(statusHeader) == "" {
		m.Header = nil // a map takes several times the bytes of the header
	}
	taken, start := b.inbox.put(tenant, m, b.config.QueueBytes)
	if !taken {
		b.countMissed(tenant, 1)
	}
	if start { // receiveLoop is counted, too, so that the count never leaves zero during Wait
		b.receiving.Go(func() {
			var w worker
			b.inbox.work(func(m *client.Msg) { b.handle(&w, m) })
		})
	}
}

// maxDepartedSources is how many edges that have left are remembered, as something of
// theirs may still come.
const maxDepartedSources = 100

// readState is what readLoop keeps.
type readState struct {
	sources map[edgeID]*source // other edges that have sent a broadcast, or an announcement
}

// source returns what is known of another edge. known returns the ids of the other edges.
func (r *readState) source(id edgeID, known func() []edgeID) *source {
	s := r.sources[id]
	if s == nil {
		r.forgetSources(known())
		s = new(source)
		r.sources[id] = s
	}
	return s
}

// worker is what a goroutine that hands messages to the hub keeps.
type worker struct{ subject []byte }

// maxNewPeers is how many new edges are answered with an announcement at once, between
// two regular ones; more wait for the next regular one.
const maxNewPeers = 64

// receiveLoop starts what hands messages of other edges to the hub, announces this edge,
// and drops edges that are silent, until the broker stops receiving.
func (b *Broker) receiveLoop() {
	ticker := time.NewTicker(announceInterval)
	defer ticker.Stop()
	b.announce()
	readEnded := make(chan struct{})
	go func() { // ends with stopReceiving; receiveLoop waits for it
		b.readLoop()
		close(readEnded)
	}()
	// In a goroutine of its own, as a tenant may take its time: an edge that does not announce
	// itself is taken for dead.
	b.receiving.Go(func() { b.maintenanceLoop(readEnded) })
	for {
		select {
		case <-ticker.C:
			b.announce()
			if b.newPeerCount.Swap(0) > maxNewPeers {
				b.responders.requeryAll()
			}
			gone, known := b.peers.expire(time.Now()), b.peers.otherIDs()
			if len(gone) > 0 {
				b.retainEdges(known)
			}
		case <-readEnded:
			return
		}
	}
}

// maintenanceLoop does what is due from time to time, until readEnded is closed.
func (b *Broker) maintenanceLoop(readEnded <-chan struct{}) {
	ticker := time.NewTicker(answerTimeout / 4)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			b.expireQueries(now)
			b.fates.expire(now)
			b.logMissed(now)
			b.finishSwitches(now)
		case <-readEnded:
			return
		}
	}
}

// admit returns the tenant of a message, as in subjects; "" if it is one that an edge sends
// of itself. It reports false for copies, and for what is late or not valid, before they
// take room or time.
func (b *Broker) admit(r *readState, m *client.Msg) (tenant string, ok bool) {
	from, rest, ours := b.splitSender(m.Subject)
	if !ours {
		return "", false
	}
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		if id, shown := parseClock(m.Data); shown != 0 && from.owns(id) {
			r.source(id, b.peers.otherIDs).observeClock(shown, b.clock.now())
		}
		return "", true
	case "b":
		id, number, _, ok := splitBroadcast(m.Data)
		switch {
		case !ok:
			b.reject(from, notOurs(m.Data, errNotBroadcast).Error())
			return "", false
		case !from.owns(id):
			b.reject(from, errNotSender.Error())
			return "", false
		}
		s := r.source(id, b.peers.otherIDs)
		if number <= s.lastNumber {
			return "", false // a copy, for another interest that matches
		}
		s.lastNumber = number
		if s.isLate(number, b.clock.now(), b.config.maxLateness) {
			tenant, _, _ = strings.Cut(rest, ".")
			b.countMissed(tenant, 1)
			return "", false
		}
	case "e":
		if _, rest, _ = strings.Cut(rest, "."); m.Header.Get(statusHeader) != "" {
			return rest[strings.LastIndexByte(rest, '.')+1:], true // see handleUndelivered
		}
	case "o", "q":
	default:
		return "", false
	}
	tenant, _, _ = strings.Cut(rest, ".")
	if tenant == leavingTenant && kind == "q" && len(m.Data) > 1 && m.Data[1] == kindMarker {
		return "", true // is handled behind the edge's announcement
	}
	return tenant, true
}

// forgetSources drops what is kept of edges that are not known, when there are many.
func (r *readState) forgetSources(known []edgeID) {
	if len(r.sources) > len(known)+maxDepartedSources {
		maps.DeleteFunc(r.sources, func(id edgeID, _ *source) bool { return !slices.Contains(known, id) })
	}
}
