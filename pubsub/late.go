package pubsub

import (
	"math"
	"time"

	"github.com/millrace/millrace/wire"
)

// What a subscription with positions gets late may be worse than what it does not get: an old
// price looks like the price. So a history may say how late (history.Definition.MaxLag). When
// the first of what waits in a queue for a subscription is older, all of it is removed; a GAP
// takes its place, and the subscription reads the newest message of each of its channels. These
// come in small pages, each of which is read once the client has nearly all before it, so that
// they are still the newest when the client gets them.

// freshBytes is how much a page of newest messages brings at most.
const freshBytes = 16 << 10

// skipRoom is how much a page of newest messages may bring, and twice what may wait of frames with
// positions when it is read. They have no time at which they are too old, so the client's cap must
// let all of that through before they are. The caller holds s.mu.
func (s *Session) skipRoom(r *resumable) int {
	lag := r.sequencer.maxLag()
	if lag == 0 { // since a reload
		return freshBytes
	}
	rate := s.rate(s.identity.EgressKB, s.hub.limits.Load().DefaultEgressKB)
	return int(min(freshBytes, rate*lag.Seconds()/2))
}

// lateness says of a frame in a queue for which subscriptions it is, and until when. Frames
// of histories without a limit have none.
type lateness struct {
	feed       *feed
	tenant     string
	at, before wire.Position // of the message, and of what was handed on before it
	expires    time.Duration // on the hub's clock; never for a line
	ok         bool          // it is an OK:RSUB
}

// maxLag is how late the messages of the history may be; 0: there is no limit.
func (q *sequencer) maxLag() time.Duration { return q.definition.Load().MaxLag }

// expiresAt is when a message of a page, which was stored at t in milliseconds since 1970, is too
// old; 0: it never is. What is handed on has the hub's clock instead: with a shared history, t is
// of another machine.
func (r *resumable) expiresAt(t uint64) time.Duration {
	limit := r.sequencer.maxLag()
	if limit == 0 {
		return 0
	}
	from := time.UnixMilli(int64(t))
	if from.Before(r.since) {
		from = r.since
	}
	return max(1, r.sequencer.hub.now()+limit-time.Since(from))
}

// lineLateness is the one of a line about a subscription; nil: its history has no limit.
func (r *resumable) lineLateness(ok bool) *lateness {
	if r.sequencer.maxLag() == 0 {
		return nil
	}
	return &lateness{feed: r.feed, tenant: r.key.tenant, expires: math.MaxInt64, ok: ok}
}

// waiter is whom a frame in a queue is for: a subscription, or, where resumable is nil, one with this
// pattern that has ended, and whose OK:UNSUB waits in the queue, too.
type waiter struct {
	feed      *feed
	resumable *resumable
}

// waiterOf returns the one of an item with a lateness. The caller holds s.mu.
func (s *Session) waiterOf(it *item) waiter {
	f := it.late.feed
	sub := s.subscriptions[subscriptionKey{tenant: it.late.tenant, pattern: f.pattern.String()}]
	if !sub.isResumable() || sub.resumable.feed != f || sub.resumable.ended || !sub.resumable.has(it) {
		return waiter{feed: f}
	}
	return waiter{f, sub.resumable}
}

// removeLate is called when the next frame of the main lane is too late. It goes through the lane once,
// for all subscriptions: where the next message of one is too late, all that waits for it is removed,
// and a GAP takes its place. The caller holds s.mu.
func (s *Session) removeLate(now time.Duration) {
	l, removed := &s.queue.mainLane, uint64(0)
	late := map[waiter]bool{} // by the next message; a line before that stays
	for i := l.head; i < len(l.items); i++ {
		it := &l.items[i]
		if it.frame == nil || it.late == nil {
			continue
		}
		w := s.waiterOf(it)
		isLate, known := late[w]
		switch {
		case !known && it.kind == Binary:
			if late[w] = now >= it.late.expires; late[w] {
				removed++
				s.replaceWithGap(it, w.resumable)
			}
			continue
		case !isLate:
			continue
		case it.kind == Binary:
			s.queue.uncount(it.frame, it.charge)
			removed++
		default: // what lines say of positions holds no more
			s.queue.controlBytes -= it.cost()
			if it.late.ok && w.resumable != nil {
				w.resumable.said = false
			}
		}
		it.frame = nil
		l.dropped++
	}
	s.droppedTotal.Add(removed)
	s.hub.count.drop(dropMaxLag, removed)
}

// replaceWithGap puts a GAP in the place of a message that is too late for a subscription, which then
// skips; nil: it has ended. A client that has read the GAP may resume there. The caller holds s.mu.
func (s *Session) replaceWithGap(it *item, r *resumable) {
	first := it.late
	at := positionBefore(first.before, first.at)
	s.queue.uncount(it.frame, it.charge)
	it.frame, it.charge = &frame{
		data: s.gapLine(first.tenant, first.feed.pattern.String(), at, wire.GapLate), kind: Text,
		late: &lateness{feed: first.feed, tenant: first.tenant, expires: math.MaxInt64},
	}, 0
	s.queue.controlBytes += it.cost()
	s.hub.count.gaps.Add(1)
	switch {
	case r == nil:
	case s.resumables.reading == r: // readPage owns the cursor
		r.skipDue, r.skipFrom = true, at
	default:
		s.skipToNewest(r, at)
		if r.retry == nil {
			s.awaitPages(r)
		}
	}
}

// has reports whether an item of the queue is for this subscription: not if it is for one before
// it with the same pattern. The caller holds the session's mutex.
func (r *resumable) has(it *item) bool { return int32(it.age-r.firstAge) >= 0 }

// keepFirstAge keeps firstAge comparable with what waits: deliverySeq wraps around. It is called from
// time to time, with the session's mutex held.
func (r *resumable) keepFirstAge(q *queue) {
	const far = 1 << 30 // no queue holds so many
	if q.deliverySeq-r.firstAge > far {
		r.firstAge = q.deliverySeq - far
	}
}

// positionBefore is where a client goes on that is to get a message: before, if that is known.
func positionBefore(before, at wire.Position) wire.Position {
	if before.Epoch == at.Epoch {
		return before
	}
	return wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T}
}

// skipToNewest lets a subscription that was notified of a gap at this position go on with the newest
// message of each channel, and not with each message. The caller holds the session's mutex, and
// has pages read.
func (s *Session) skipToNewest(r *resumable, at wire.Position) {
	r.live, r.newest, r.skipping, r.skipDue = false, true, true, false
	r.gap, r.cursor, r.since = true, at, time.Now()
	r.skip = skip{from: at, channel: r.skip.channel}
}

// skip is how a subscription skips to the newest messages. They come in the order of their
// positions. Where more comes all the time than the client can take, they are not the newest any
// more before all of them have come: so each skip begins behind the channel with which the last
// one has ended, and then goes back, so that all channels get their turn.
type skip struct {
	begun    bool
	from, to wire.Position
	back     uint64 // where it began, if that is behind from: up to there it goes then; 0: it need not
	goesBack bool   // it has come to the second part, and the client was not told yet
	channel  string // of the last message that was queued
}

// beginSkip finds out where the newest messages are: in the store, also if what is handed on is
// behind it, since that is as late. Like all that reads pages it is called without a lock.
func (r *resumable) beginSkip() (err error) {
	q, k := r.sequencer, &r.skip
	if k.to, err = q.store.Head(q.id.history, q.id.tenant); err != nil {
		return err
	}
	if k.channel != "" {
		before, _, err := q.store.Before(q.id.history, q.id.tenant, k.channel, 1)
		if err != nil {
			return err
		}
		if n := before + 1; n > k.from.N && n < k.to.N {
			k.back, r.cursor.N = n, n
		}
	}
	k.begun, r.until, r.newest = true, k.to, k.to.N > r.cursor.N
	return nil
}

// endSkip is called when a page was queued. When all newest messages were, a line says so: what
// comes behind it has no holes. The caller holds s.mu.
func (s *Session) endSkip(r *resumable) {
	k := &r.skip
	switch {
	case !r.skipping || r.newest:
		return
	case k.back > 0:
		r.cursor, r.newest, k.goesBack = k.from, true, true
		r.until = wire.Position{Epoch: k.to.Epoch, N: k.back}
		k.back = 0
		return
	case k.to.N > r.cursor.N:
		r.cursor = k.to
	}
	r.skipping = false
	if r.said { // else OK:RSUB follows
		s.pushInOrder(wire.AppendAt(nil, r.key.tenant, r.key.pattern, r.cursor), r.lineLateness(false))
	}
}
