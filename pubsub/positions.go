package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// positionEvery is how often a subscription with positions is told, at most, how far the
// history has come without a match: otherwise the position of a quiet subscriber would be
// too old to resume from.
const positionEvery = time.Minute

// maxPositionBacklog is how many bytes of lines may wait for a client when its turn begins:
// one that does not read is told when it does.
const maxPositionBacklog = 4 << 10

// watch starts a goroutine that tells subscriptions of their positions, unless there is
// one. The caller is a session that has one.
func (g *sequencers) watch(h *Hub) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopWatch == nil {
		stop := make(chan struct{})
		g.stopWatch = stop
		h.Go(func() { g.tellPositions(stop) }) // the session holds the group open
	}
}

// unwatchIfIdle stops it when there is no sequencer any more. The caller holds g.mu.
func (g *sequencers) unwatchIfIdle() {
	if len(g.byID) == 0 && g.stopWatch != nil {
		close(g.stopWatch)
		g.stopWatch = nil
	}
}

func (g *sequencers) tellPositions(stop <-chan struct{}) {
	for turn := 1; sleep(positionEvery, stop); turn++ {
		heads := map[sequencerID]wire.Position{} // of shared histories
		for _, q := range g.list() {
			at := q.settledAt(heads)
			for _, m := range q.members() {
				m.session.tellPosition(m.sub.resumable, turn, at)
			}
		}
	}
}

// tellPosition tells a client that nothing that matches is missing up to what was queued
// last, if its subscription has not come so far by a message.
func (s *Session) tellPosition(r *resumable, turn int, at wire.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.keepFirstAge(&s.queue)
	if rs := s.resumables; rs.turn != turn {
		rs.turn, rs.untold = turn, s.queue.controlBytes > maxPositionBacklog
	}
	if !r.live || r.ended || at.N <= r.cursor.N || at.Epoch != r.cursor.Epoch || s.resumables.untold { // another epoch: it was asked for before the history started over
		return
	}
	r.cursor = at
	s.pushInOrder(wire.AppendAt(nil, r.key.tenant, r.key.pattern, at), r.lineLateness(false))
}

// settledAt is the position up to which the tenant has nothing that was not matched and
// queued. In a shared history that is the history's head, of any tenant: whose messages those
// were, and heads keeps the answers of the store for one turn.
func (q *sequencer) settledAt(heads map[sequencerID]wire.Position) wire.Position {
	if q.shared == nil {
		return q.queuedTo()
	}
	of := sequencerID{storeID: q.id.storeID, history: q.id.history}
	head, known := heads[of]
	if !known {
		head, _ = q.store.Head(q.id.history, q.id.tenant) // an error: there is none
		heads[of] = head
	}
	// All that the tenant has up to there was pushed before Head said so.
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first != nil || q.running {
		return q.queued
	}
	return head
}

// queuedTo is the position up to which all messages were matched and queued.
func (q *sequencer) queuedTo() wire.Position {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queued
}
