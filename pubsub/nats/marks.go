package nats

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// marks are questions to all other edges whose answers come behind all that these
// had published to a tenant before.
type marks struct {
	mu      sync.Mutex
	number  uint64 // of the last one
	tenants map[string]*tenantMarks
	wanted  chan struct{} // somebody waits for the next round of a tenant
}

// tenantMarks are those of one tenant.
type tenantMarks struct {
	rounds []*round  // that are under way, oldest first
	next   time.Time // when there may be another one
	wait   []func()  // for that one
}

// round is a mark that is on its way.
type round struct {
	number string
	since  time.Time
	open   map[edgeID]struct{} // that have not answered
	done   []func()
}

// markEvery is the least time between two marks of a tenant: sessions that leave
// share them, however many these are.
const markEvery = 20 * time.Millisecond

func (m *marks) start() {
	m.tenants = map[string]*tenantMarks{}
	m.wanted = make(chan struct{}, 1)
}

// CatchUp implements [pubsub.Catcher].
func (b *Broker) CatchUp(tenant string, done func()) {
	now := time.Now()
	b.marks.mu.Lock()
	t := b.marks.tenants[tenant]
	if t == nil {
		t = &tenantMarks{}
		b.marks.tenants[tenant] = t
	}
	begun := true
	if now.Before(t.next) {
		t.wait = append(t.wait, done)
		kick(b.marks.wanted)
	} else {
		begun = b.mark(tenant, t, []func(){done}, now)
	}
	b.marks.mu.Unlock()
	if !begun {
		done()
	}
}

// mark begins a round, if there is another edge and a link. The caller holds
// marks.mu.
func (b *Broker) mark(tenant string, t *tenantMarks, done []func(), now time.Time) bool {
	r := &round{since: now, open: map[edgeID]struct{}{}, done: done}
	for _, id := range b.peers.otherIDs() {
		r.open[id] = struct{}{}
	}
	b.marks.number++
	r.number = strconv.FormatUint(b.marks.number, 10)
	m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(r.number)}
	t.next = now.Add(markEvery)
	if len(r.open) == 0 || b.say(&m, questions, kindMark) != nil {
		return false
	}
	t.rounds = append(t.rounds, r)
	return true
}

// marked takes an answer. It is called in the tenant's turn, behind the messages that
// came before it.
func (b *Broker) marked(m pubsub.Message, from edgeID) {
	b.marks.mu.Lock()
	var done []func()
	if t := b.marks.tenants[string(m.Tenant)]; t != nil {
		i := slices.IndexFunc(t.rounds, func(r *round) bool { return r.number == string(m.Channel) })
		if i >= 0 {
			r := t.rounds[i]
			if delete(r.open, from); len(r.open) == 0 {
				t.rounds = slices.Delete(t.rounds, i, i+1)
				done = r.done
			}
		}
	}
	b.marks.mu.Unlock()
	for _, f := range done {
		f()
	}
}

// reviewMarks begins the rounds that are wanted, and ends those that not all edges
// have answered in time. It returns when to come again for the former; zero: when
// another one is wanted.
func (b *Broker) reviewMarks(now time.Time) (again time.Time) {
	b.marks.mu.Lock()
	var done []func()
	for tenant, t := range b.marks.tenants {
		for len(t.rounds) > 0 && now.Sub(t.rounds[0].since) > pubsub.CatchUpTime {
			done = append(done, t.rounds[0].done...)
			t.rounds = slices.Delete(t.rounds, 0, 1)
		}
		due := !now.Before(t.next)
		switch {
		case len(t.wait) > 0 && due:
			if wait := t.wait; !b.mark(tenant, t, wait, now) {
				done = append(done, wait...)
			}
			t.wait = nil
		case len(t.wait) > 0:
			if again.IsZero() || t.next.Before(again) {
				again = t.next
			}
		case len(t.rounds) == 0 && due:
			delete(b.marks.tenants, tenant)
		}
	}
	b.marks.mu.Unlock()
	for _, f := range done {
		f()
	}
	return again
}
