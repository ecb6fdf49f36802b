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

// removeLate is called with the next frame of the main lane, which has a lateness. If it is too
// old, what waits for its subscription is removed, a GAP takes its place, and removeLate reports
// true. The caller holds s.mu.
func (s *Session) removeLate(first *lateness, now time.Duration) bool {
	if now < first.expires || s.closing != nil {
		return false
	}
	l, key := &s.queue.mainLane, subscriptionKey{tenant: first.tenant, pattern: first.feed.pattern.String()}
	var r *resumable
	if sub := s.subscriptions[key]; sub.isResumable() && sub.resumable.feed == first.feed {
		r = sub.resumable
	}
	ended := r == nil || !r.has(&l.items[l.head]) // its OK:UNSUB waits, too; r is another one
	removed := uint64(0)
	for i := l.head; i < len(l.items); i++ {
		it := &l.items[i]
		switch {
		case it.frame == nil || it.late == nil || it.late.feed != first.feed || (r != nil && r.has(it)) == ended:
			continue
		case it.kind == Binary:
			s.queue.uncount(it.frame, it.charge)
			removed++
		default: // what lines say of positions holds no more
			s.queue.controlBytes -= it.cost()
			if it.late.ok && !ended {
				r.said = false
			}
		}
		it.frame = nil
		l.dropped++
	}
	s.droppedTotal.Add(removed)
	s.hub.count.drop(dropMaxLag, removed)
	s.hub.count.gaps.Add(1)
	at := positionBefore(first.before, first.at)
	late := &lateness{feed: first.feed, tenant: key.tenant, expires: math.MaxInt64}
	line := &frame{data: wire.AppendGap(nil, key.tenant, key.pattern, at), kind: Text, late: late}
	l.items[l.head] = item{frame: line, age: l.items[l.head].age}
	l.dropped--
	s.queue.controlBytes += line.cost()
	switch {
	case ended: // a client that has read the GAP may resume there
	case s.resumables.reading == r: // readPage owns the cursor
		r.skipDue, r.skipFrom = true, at
	default:
		s.skipToNewest(r, at)
		if r.retry == nil {
			s.awaitPages(r)
		}
	}
	return true
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

// skipToNewest lets a subscription that was told of a gap at this position go on with the newest
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
