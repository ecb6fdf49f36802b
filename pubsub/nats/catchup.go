package nats

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// catchUps are the calls of CatchUp. A round sends a marker to all other edges. Each
// sends it back behind all that it had published to the tenant before, and takes it
// behind all that this edge had published.
type catchUps struct {
	mu         sync.Mutex
	lastNumber uint64 // of a round
	tenants    map[string]*tenantCatchUps
	wake       chan struct{} // wakes catchUpLoop
}

// tenantCatchUps are those of one tenant.
type tenantCatchUps struct {
	owner     string        // whose the tenant was at the first call
	rounds    []*round      // under way, oldest first
	nextRound time.Time     // when the next round may begin
	waiting   []catchUpCall // for the next round
}

// catchUpCall is a call of CatchUp that waits.
type catchUpCall struct {
	since time.Time
	done  func()
}

// round is a marker under way, and the calls that wait for the answers to it.
type round struct {
	number     string
	unanswered map[edgeID]struct{} // edges that have not answered
	calls      []catchUpCall       // oldest first
}

// minRoundInterval is the least time between two rounds of a tenant: sessions that
// leave share them, however many leave.
const minRoundInterval = 20 * time.Millisecond

func (c *catchUps) init() {
	c.tenants = map[string]*tenantCatchUps{}
	c.wake = make(chan struct{}, 1)
}

// CatchUp implements [pubsub.Catcher].
func (b *Broker) CatchUp(tenant string, done func()) {
	now, owner := time.Now(), b.ownerOf([]byte(tenant))
	b.catchUps.mu.Lock()
	t := b.catchUps.tenants[tenant]
	if t == nil {
		t = &tenantCatchUps{owner: owner}
		b.catchUps.tenants[tenant] = t
	}
	var ended []catchUpCall
	t.waiting = append(t.waiting, catchUpCall{now, done})
	if !now.Before(t.nextRound) {
		ended = b.startRound(tenant, t, now)
	}
	if len(t.waiting) <= 1 { // else catchUpLoop knows when to come
		signal(b.catchUps.wake)
	}
	b.catchUps.mu.Unlock()
	finishAll(ended)
}

// leavingTenant is the tenant of the marker that an edge sends when it stops. The others answer
// it behind the edge's last announcement: by then nothing more is sent to the edge, of any tenant.
const leavingTenant = "leaving"

// awaitPeers returns when all other edges have handled the last announcement, and what they
// had sent until then has come, or after leaveTimeout.
func (b *Broker) awaitPeers() {
	timer := time.NewTimer(leaveTimeout)
	defer timer.Stop()
	caughtUp := make(chan struct{})
	b.CatchUp(leavingTenant, func() { close(caughtUp) })
	select {
	case <-caughtUp:
	case <-timer.C:
	}
}

func finishAll(calls []catchUpCall) {
	for _, c := range calls {
		c.done()
	}
}

// startRound begins a round for all calls that wait. It returns them if there is nothing
// to wait for: no other edge, or no link. The caller holds catchUps.mu.
func (b *Broker) startRound(tenant string, t *tenantCatchUps, now time.Time) (ended []catchUpCall) {
	r := &round{unanswered: map[edgeID]struct{}{}, calls: t.waiting}
	for _, id := range b.peers.otherIDs() {
		r.unanswered[id] = struct{}{}
	}
	b.catchUps.lastNumber++
	r.number = strconv.FormatUint(b.catchUps.lastNumber, 10)
	m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(r.number), Issuer: t.owner}
	t.nextRound = now.Add(minRoundInterval)
	if len(r.unanswered) > 0 {
		err := b.sendControl(&m, queries, kindMarker)
		if errors.Is(err, pubsub.ErrLinkFull) {
			return nil // updateRounds tries again
		}
		if err == nil {
			t.rounds, t.waiting = append(t.rounds, r), nil
			return nil
		}
	}
	t.waiting = nil
	return r.calls
}

// handleMarker takes an answer to a marker. It is called in the tenant's turn, behind the
// messages that came before it.
func (b *Broker) handleMarker(m pubsub.Message, from edgeID) {
	b.catchUps.mu.Lock()
	var ended []catchUpCall
	if t := b.catchUps.tenants[string(m.Tenant)]; t != nil {
		i := slices.IndexFunc(t.rounds, func(r *round) bool { return r.number == string(m.Channel) })
		if i >= 0 {
			r := t.rounds[i]
			if delete(r.unanswered, from); len(r.unanswered) == 0 {
				t.rounds, ended = slices.Delete(t.rounds, i, i+1), r.calls
			}
		}
	}
	b.catchUps.mu.Unlock()
	finishAll(ended)
}

// catchUpLoop begins rounds that had to wait, and ends those that are not answered, as
// long as the broker runs.
func (b *Broker) catchUpLoop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if next := b.updateRounds(time.Now()); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-b.catchUps.wake:
		case <-timer.C:
		case <-b.quit:
			return
		}
	}
}

// updateRounds begins and ends what is due, and returns when to call it next; zero: when
// a call waits.
func (b *Broker) updateRounds(now time.Time) (next time.Time) {
	b.catchUps.mu.Lock()
	known := b.peers.otherIDs() // a round waits for none but these
	var ended []catchUpCall
	for tenant, t := range b.catchUps.tenants {
		t.rounds = slices.DeleteFunc(t.rounds, func(r *round) bool {
			for id := range r.unanswered {
				if !slices.Contains(known, id) {
					delete(r.unanswered, id)
				}
			}
			over := len(r.unanswered) == 0 || timedOut(r.calls, now)
			if over {
				ended = append(ended, r.calls...)
			}
			return over
		})
		due := !now.Before(t.nextRound)
		if timedOut(t.waiting, now) { // the link has taken nothing for as long
			ended, t.waiting = append(ended, t.waiting...), nil
		}
		if len(t.waiting) > 0 && due {
			ended = append(ended, b.startRound(tenant, t, now)...)
		}
		if len(t.waiting)+len(t.rounds) == 0 && due {
			delete(b.catchUps.tenants, tenant)
			continue
		}
		dueAt := t.nextRound
		if len(t.waiting) == 0 && len(t.rounds) > 0 {
			dueAt = t.rounds[0].calls[0].since.Add(pubsub.CatchUpTime)
		}
		if next.IsZero() || dueAt.Before(next) {
			next = dueAt
		}
	}
	b.catchUps.mu.Unlock()
	finishAll(ended)
	return next
}

// timedOut reports whether the oldest of these calls has waited for CatchUpTime.
func timedOut(calls []catchUpCall, now time.Time) bool {
	return len(calls) > 0 && now.Sub(calls[0].since) >= pubsub.CatchUpTime
}

// retainEdges drops all edges but those that are known.
func (b *Broker) retainEdges(known []edgeID) {
	b.responders.retain(known)
	signal(b.catchUps.wake)
}
