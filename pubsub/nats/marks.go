package nats

import (
	"errors"
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
	review  chan struct{} // for keepMarks
}

// tenantMarks are those of one tenant.
type tenantMarks struct {
	rounds []*round  // that are under way, oldest first
	next   time.Time // when there may be another one
	wait   []catching
}

// catching is a call that waits.
type catching struct {
	since time.Time
	done  func()
}

// round is a mark that is on its way.
type round struct {
	number string
	open   map[edgeID]struct{} // that have not answered
	wait   []catching          // oldest first
}

// markEvery is the least time between two marks of a tenant: sessions that leave
// share them, however many these are.
const markEvery = 20 * time.Millisecond

func (m *marks) start() {
	m.tenants = map[string]*tenantMarks{}
	m.review = make(chan struct{}, 1)
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
	var ended []catching
	t.wait = append(t.wait, catching{now, done})
	if !now.Before(t.next) {
		ended = b.mark(tenant, t, now)
	}
	if len(t.wait) <= 1 { // else it knows when to come
		kick(b.marks.review)
	}
	b.marks.mu.Unlock()
	endAll(ended)
}

// leavingTenant is the tenant of a mark that an edge asks for when it stops. Others answer it
// behind its last announcement, of which they have told the senders of all tenants by then.
const leavingTenant = "leaving"

// awaitOthers returns when all other edges have taken the announcement before, and what they
// had sent until then has come, or after leaveTime.
func (b *Broker) awaitOthers() {
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	heard := make(chan struct{})
	b.CatchUp(leavingTenant, func() { close(heard) })
	select {
	case <-heard:
	case <-timer.C:
	}
}

func endAll(list []catching) {
	for _, c := range list {
		c.done()
	}
}

// mark begins a round for all that wait. It returns them if there is nothing to wait
// for: no other edge, or no link. The caller holds marks.mu.
func (b *Broker) mark(tenant string, t *tenantMarks, now time.Time) (ended []catching) {
	r := &round{open: map[edgeID]struct{}{}, wait: t.wait}
	for _, id := range b.peers.otherIDs() {
		r.open[id] = struct{}{}
	}
	b.marks.number++
	r.number = strconv.FormatUint(b.marks.number, 10)
	m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(r.number)}
	t.next = now.Add(markEvery)
	if len(r.open) > 0 {
		err := b.sendControl(&m, queries, kindMark)
		if errors.Is(err, pubsub.ErrLinkFull) {
			return nil // it is tried again
		}
		if err == nil {
			t.rounds, t.wait = append(t.rounds, r), nil
			return nil
		}
	}
	t.wait = nil
	return r.wait
}

// marked takes an answer. It is called in the tenant's turn, behind the messages that
// came before it.
func (b *Broker) marked(m pubsub.Message, from edgeID) {
	b.marks.mu.Lock()
	var ended []catching
	if t := b.marks.tenants[string(m.Tenant)]; t != nil {
		i := slices.IndexFunc(t.rounds, func(r *round) bool { return r.number == string(m.Channel) })
		if i >= 0 {
			r := t.rounds[i]
			if delete(r.open, from); len(r.open) == 0 {
				t.rounds, ended = slices.Delete(t.rounds, i, i+1), r.wait
			}
		}
	}
	b.marks.mu.Unlock()
	endAll(ended)
}

// keepMarks begins rounds that have to wait, and ends those that are not answered, as
// long as the broker runs.
func (b *Broker) keepMarks() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if again := b.reviewMarks(time.Now()); !again.IsZero() {
			timer.Reset(time.Until(again))
		}
		select {
		case <-b.marks.review:
		case <-timer.C:
		case <-b.quit:
			return
		}
	}
}

// reviewMarks returns when to come again; zero: when somebody waits.
func (b *Broker) reviewMarks(now time.Time) (again time.Time) {
	b.marks.mu.Lock()
	known := b.peers.otherIDs() // all that a round has, and are there
	var ended []catching
	for tenant, t := range b.marks.tenants {
		t.rounds = slices.DeleteFunc(t.rounds, func(r *round) bool {
			for id := range r.open {
				if !slices.Contains(known, id) {
					delete(r.open, id)
				}
			}
			over := len(r.open) == 0 || late(r.wait, now)
			if over {
				ended = append(ended, r.wait...)
			}
			return over
		})
		due := !now.Before(t.next)
		if late(t.wait, now) { // for as long the link has taken nothing
			ended, t.wait = append(ended, t.wait...), nil
		}
		if len(t.wait) > 0 && due {
			ended = append(ended, b.mark(tenant, t, now)...)
		}
		if len(t.wait)+len(t.rounds) == 0 && due {
			delete(b.marks.tenants, tenant)
			continue
		}
		next := t.next
		if len(t.wait) == 0 && len(t.rounds) > 0 {
			next = t.rounds[0].wait[0].since.Add(pubsub.CatchUpTime)
		}
		if again.IsZero() || next.Before(again) {
			again = next
		}
	}
	b.marks.mu.Unlock()
	endAll(ended)
	return again
}

// late reports whether the first of these has waited long enough.
func late(list []catching, now time.Time) bool {
	return len(list) > 0 && now.Sub(list[0].since) >= pubsub.CatchUpTime
}

// forgetEdges drops all edges but those that are known.
func (b *Broker) forgetEdges(known []edgeID) {
	b.responders.retain(known)
	kick(b.marks.review)
}
