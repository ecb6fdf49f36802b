package pubsub

import (
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// resumable is a subscription with positions, an RSUB. What is not static is guarded by
// its session's mutex.
//
// It has a cursor: everything that matches up to there has been queued. While it is live,
// messages are queued as they are handed on, and those at or below the cursor are dropped,
// since a page has brought them. Otherwise it is behind: what is handed on is ignored, and
// pages are read from the cursor (replay.go), until what was handed is at or below it.
// Frames with positions are never dropped: one that has no room puts its subscription
// behind instead. One that is too old has it skip to the newest (late.go).
type resumable struct {
	key       subscriptionKey
	pattern   pattern.Pattern
	sequencer *sequencer
	feed      *feed
	from      wire.From
	since     time.Time // when it began, or began to skip; guarded, too

	ended  bool
	live   bool
	cursor wire.Position
	begun  bool // the cursor is where from says
	// least is how far it has to come before it is live: where a shared history stood when
	// it began. What came to the edge before was not handed to it.
	least  uint64
	epoch  uint64 // of a shared history, when it began, or since it has started over
	newest bool   // it still gets the newest message of each channel only, up to until
	until  wire.Position
	// known is up to where removals are no loss: the client did not ask for what was
	// removed.
	known   uint64
	said    bool           // OK:RSUB was sent
	unknown wire.GapReason // it begins with all there is, since its position says nothing here, and why; empty: it does not
	outside bool           // its position is from before the history kept these channels
	gap     bool           // the client was notified of a gap, before its OK:RSUB
	// gapInFront: it was notified of a gap in front of messages among which more is missing.
	gapInFront bool
	waiting    bool // it is in resumables.behind
	// skipped is where a shared history was, when it last skipped messages and this one was
	// not live, until a page was read since.
	skipped wire.Position

	// skipping: it was notified of a gap since it was too late, and did not get all of the newest
	// messages yet. While a page of it is read, that is only due.
	skipping, skipDue bool
	skipFrom          wire.Position
	skip              skip
	firstAge          uint32 // frames of the queue below it are for one before it

	failing  time.Time   // since when the store gives no page; zero: it does
	failSaid bool        // the client was told so
	outSaid  bool        // the client was told that the history is out of reach, while it is live
	retry    *time.Timer // until the next page is asked for; nil: it does not wait for that
}

// resumables are what a session has for its subscriptions with positions. Guarded by its
// mutex.
type resumables struct {
	behind  []*resumable // they take turns
	reading *resumable   // for which a page is to be read, or is being; nil: none
	stalled bool         // the last frame had no room: the client has to read more first
	turn    int          // of tellPositions
	untold  bool         // in this turn, since the client does not read
}

// keptShare is what frames with positions may take of a send queue.
func keptShare(l *Limits) int { return l.SendQueue / 2 }

// deliverKept queues a frame with a position for one subscription, and reports whether it
// has: not if that is behind. It never blocks.
func (s *Session) deliverKept(p *publication, frames *keptFrames, r *resumable) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.ended || !r.live || frames.at.N <= r.cursor.N || s.closing != nil:
		return false
	case !s.pushKept(frames.frame(p, s.variantFor(p)), p.limits):
		s.fallBehind(r)
		return false
	}
	r.cursor = frames.at
	if l := &s.queue.mainLane; !l.writing && s.tryWriter != nil && !s.detached {
		l.writing = true
		p.toFlush = p.toFlush.add(s)
		return true
	}
	s.wake()
	return true
}

// skipTo is called when messages up to a place will not be handed on. The subscription
// reads what there is of them; or, where the history has started over, goes on behind them.
func (s *Session) skipTo(r *resumable, to wire.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.ended || s.closing != nil:
	case !r.live:
		r.skipped = to // a page may be under way
	case r.cursor.Epoch != to.Epoch:
		s.goOnAt(r, to)
	case r.cursor.N < to.N:
		s.fallBehind(r)
	}
}

// startedOver reports whether the history has started over since a page was asked for, or before
// it was read, and where the subscription goes on then. The caller holds the session's mutex.
func (r *resumable) startedOver(page history.Page) (at wire.Position, restarted bool) {
	other := func(epoch uint64) bool { return epoch != 0 && epoch != page.Through.Epoch }
	switch {
	case other(r.skipped.Epoch) && r.skipped.Epoch != r.epoch: // the page is of the epoch before
		return r.skipped, true
	case other(r.cursor.Epoch), other(r.epoch):
		return page.Through, true
	}
	r.skipped = wire.Position{}
	return at, false
}

// goOnAt tells the client of a gap, and goes on where its history has started over. The caller
// holds s.mu.
func (s *Session) goOnAt(r *resumable, at wire.Position) {
	defer s.wake()
	r.live, r.newest, r.unknown, r.outside, r.least = false, false, "", false, 0
	r.skipping, r.skip = false, skip{}
	r.epoch, r.skipped = at.Epoch, wire.Position{}
	s.tellGap(r, at, wire.GapLost)
	s.goLive(r)
	if !r.live {
		s.awaitPages(r)
	}
}

// pushKept queues a frame with a position, or reports that there is no room: in their
// share of the queue, or in those of the edge. One frame always has room. The caller
// holds s.mu.
func (s *Session) pushKept(f *frame, l *Limits) bool {
	if !s.pushIfRoom(f, l, keptShare(l)) {
		s.resumables.stalled = true
		return false
	}
	return true
}

// pushIfRoom queues a frame that is never dropped, if such frames then take no more than
// share of the queue, and there is room in the shares of the edge. The caller holds s.mu.
func (s *Session) pushIfRoom(f *frame, l *Limits, share int) bool {
	q := &s.queue
	if q.kept > 0 && q.kept+f.cost() > share || !s.fitsShares(f.cost(), l) {
		return false
	}
	q.pushKept(f)
	s.countQueued()
	return true
}

// fitsShares reports whether there is room in the shares of the edge for a frame that costs n
// bytes. The caller holds s.mu.
func (s *Session) fitsShares(n int, l *Limits) bool {
	grown := s.queue.charge - s.queue.countedCharge + n // at most; see frame.charge
	return s.queue.charge == 0 || grown < queueChunk || s.hasQueueRoom(grown, l)
}

// countQueued counts what the session's queue has grown by, in chunks. The caller holds s.mu.
func (s *Session) countQueued() {
	s.addQueued(max(0, s.queue.charge-s.queue.countedCharge) / queueChunk * queueChunk)
}

// fallBehind lets a live subscription go on from what is stored. The caller holds s.mu.
func (s *Session) fallBehind(r *resumable) {
	r.live = false
	s.hub.count.fellBehind.Add(1)
	s.awaitPages(r)
}

// awaitPages puts a subscription into the row of those that are behind. The caller holds
// s.mu.
func (s *Session) awaitPages(r *resumable) {
	if !r.waiting {
		r.waiting = true
		s.resumables.behind = append(s.resumables.behind, r)
	}
	s.schedulePage()
}

// schedulePage has a page read for the next subscription that is behind, if there is one
// and the queue has room. One that skips waits until little is ahead of it, and those behind it
// go first. The caller holds s.mu.
func (s *Session) schedulePage() {
	rs := s.resumables
	if rs.reading != nil || rs.stalled || len(rs.behind) == 0 || s.closing != nil || s.detached || s.keptRoom() == 0 {
		return
	}
	i := slices.IndexFunc(rs.behind, func(r *resumable) bool { return !r.skipping || s.queue.kept <= s.skipRoom(r)/2 })
	if i < 0 {
		return
	}
	rs.reading = rs.behind[i]
	rs.behind = slices.Delete(rs.behind, i, i+1)
	rs.reading.waiting = false
	s.hub.replays.add(s, rs.reading)
}

// end ends a subscription, for which nothing is queued from here on. The caller holds the
// session's mutex.
func (r *resumable) end(rs *resumables) {
	r.ended = true
	if r.waiting {
		rs.behind = slices.DeleteFunc(rs.behind, func(other *resumable) bool { return other == r })
	}
	if r.retry != nil {
		r.retry.Stop()
	}
}

// clientHasRead is called when something was taken from the queue. The caller holds s.mu.
func (rs *resumables) clientHasRead(s *Session) {
	rs.stalled = false
	if len(rs.behind) > 0 {
		s.schedulePage()
	}
}

// keptRoom is how many bytes of frames a page may bring now; 0: there is no room until the
// client has read more. The caller holds s.mu.
func (s *Session) keptRoom() int {
	share := keptShare(s.hub.limits.Load())
	if s.queue.kept > share/2 {
		return 0
	}
	return share - s.queue.kept
}
