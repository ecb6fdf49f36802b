package nats

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// marks are questions to all other edges whose answers come behind all that these
// had published to a tenant before.
type marks struct {
	mu     sync.Mutex
	number uint64 // of the last one
	rounds map[string]*round
}

// round is a mark of a tenant that is on its way: one at a time, so that any number of
// sessions that leave cost a few messages.
type round struct {
	number     string
	since      time.Time
	open       map[edgeID]struct{} // that have not answered
	done, next []func()            // for this one, and for the one behind it
}

// CatchUp implements [pubsub.Catcher].
func (b *Broker) CatchUp(tenant string, done func()) {
	b.marks.mu.Lock()
	r := b.marks.rounds[tenant]
	if r != nil {
		r.next = append(r.next, done)
	}
	begun := r != nil || b.mark(tenant, []func(){done})
	b.marks.mu.Unlock()
	if !begun {
		done()
	}
}

// mark begins a round, if there is another edge and a link. The caller holds
// marks.mu.
func (b *Broker) mark(tenant string, done []func()) bool {
	r := &round{since: time.Now(), open: map[edgeID]struct{}{}, done: done}
	for _, id := range b.peers.otherIDs() {
		r.open[id] = struct{}{}
	}
	b.marks.number++
	r.number = strconv.FormatUint(b.marks.number, 10)
	m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(r.number)}
	if len(r.open) == 0 || b.say(&m, questions, kindMark) != nil {
		return false
	}
	if b.marks.rounds == nil {
		b.marks.rounds = map[string]*round{}
	}
	b.marks.rounds[tenant] = r
	return true
}

// marked takes an answer. It is called in the tenant's turn, behind the messages that
// came before it.
func (b *Broker) marked(m pubsub.Message, from edgeID) {
	b.marks.mu.Lock()
	var done []func()
	if r := b.marks.rounds[string(m.Tenant)]; r != nil && r.number == string(m.Channel) {
		delete(r.open, from)
		if len(r.open) == 0 {
			done = b.endRound(string(m.Tenant), r)
		}
	}
	b.marks.mu.Unlock()
	for _, f := range done {
		f()
	}
}

// endRound returns what is to be called. The caller holds marks.mu.
func (b *Broker) endRound(tenant string, r *round) (done []func()) {
	delete(b.marks.rounds, tenant)
	done = r.done
	if len(r.next) > 0 && !b.mark(tenant, r.next) {
		done = slices.Concat(done, r.next)
	}
	return done
}

// endMarks ends the rounds that not all edges have answered in time.
func (b *Broker) endMarks(now time.Time) {
	b.marks.mu.Lock()
	var done []func()
	for tenant, r := range maps.Clone(b.marks.rounds) {
		if now.Sub(r.since) > pubsub.CatchUpTime {
			done = append(done, b.endRound(tenant, r)...)
		}
	}
	b.marks.mu.Unlock()
	for _, f := range done {
		f()
	}
}
