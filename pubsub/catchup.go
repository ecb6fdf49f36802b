package pubsub

import (
	"cmp"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// catchUp applies a page that was read from the cursor on, with the frames of its messages.
//
// A gap is told at its place: before the first message that is behind what was removed. A
// client that leaves before it reads that resumes from a message that stands in front of
// it, and is told then. Where edges share the history, it may resume at one that has not
// received as much, and so has removed nothing yet: there a gap stands in front of these
// messages, too. The caller holds s.mu.
func (s *Session) catchUp(r *resumable, page history.Page, frames []*frame) {
	limits := s.hub.limits.Load()
	defer s.wake()
	if r.from.Origin == wire.OriginNow {
		s.sayCaughtUp(r) // whatever came since then stands behind it
	}
	if r.unknown != "" {
		why := r.unknown
		r.unknown = ""
		s.tellGap(r, wire.Position{Epoch: page.Through.Epoch}, why)
	}
	if r.outside {
		r.outside = false
		s.tellGap(r, r.cursor, wire.GapUnknown)
	}
	if r.lags(page) {
		s.tellGap(r, positionBefore(r.cursor, page.Messages[0].Position), wire.GapLate)
		s.skipToNewest(r, r.cursor)
		return
	}
	lost := page.Removed.N > max(r.cursor.N, r.known) && !r.newest
	for i, f := range frames {
		at := page.Messages[i].Position
		switch {
		case lost && at.N > page.Removed.N:
			lost = false
			s.tellGap(r, page.Removed, page.Why)
		case lost && r.sequencer.shared != nil && !r.gapInFront && at.N > r.cursor.N+1:
			r.gapInFront = true
			s.tellGap(r, wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T}, page.Why)
		}
		r.gapInFront = r.gapInFront && lost
		if r.skipping && r.skip.goesBack {
			r.skip.goesBack = false
			s.tellGap(r, r.skip.from, wire.GapLate)
		}
		if !s.pushKept(f, limits) {
			return
		}
		if r.skipping {
			r.skip.channel = page.Messages[i].Channel
		}
		r.cursor = at
		s.hub.count.deliveries.Add(1)
		s.hub.count.replayed.Add(1)
	}
	if lost && page.Removed.N <= page.Through.N {
		lost, r.gapInFront = false, false
		s.tellGap(r, page.Removed, page.Why)
	}
	r.cursor = page.Through
	if r.newest && r.cursor.N >= r.until.N { // whatever was stored since is wanted
		r.newest = false
	}
	s.endSkip(r)
	if lost && r.ahead() <= r.cursor.N { // no further page would find out
		s.tellGap(r, page.Through, page.Why)
	}
	s.goLive(r)
}

// lags reports whether what the page begins with is older than the history lets a
// subscription be behind. What the client asked for when it began does not count.
func (r *resumable) lags(page history.Page) bool {
	if r.newest || len(page.Messages) == 0 {
		return false
	}
	expires := r.expiresAt(page.Messages[0].Position.T)
	return expires != 0 && r.sequencer.hub.now() > expires
}

// ahead is the number of the last message that does not come to it while it is live.
func (r *resumable) ahead() uint64 { return max(r.sequencer.handedTo().N, r.least) }

// goLive makes a subscription live if it has all that was handed on. The caller holds
// s.mu.
func (s *Session) goLive(r *resumable) {
	if r.skipping || r.ahead() > r.cursor.N {
		return
	}
	r.live, r.newest = true, false
	s.sayCaughtUp(r)
}

// sayCaughtUp sends OK:RSUB, once. The caller holds s.mu.
func (s *Session) sayCaughtUp(r *resumable) {
	if !r.said {
		r.said = true
		s.pushInOrder(wire.AppendOKRsub(nil, r.key.tenant, r.key.pattern, r.cursor, !r.gap), r.lineLateness(true))
	}
}

// tellGap tells the client that messages up to a place may be missing, and goes on behind
// it. The caller holds s.mu.
func (s *Session) tellGap(r *resumable, at wire.Position, why wire.GapReason) {
	r.gap, r.cursor = true, at
	s.hub.count.gaps.Add(1)
	s.pushInOrder(s.gapLine(r.key.tenant, r.key.pattern, at, why), r.lineLateness(false))
}

// gapLine is a GAP line, with the reason if the client has asked for it; empty: not known.
func (s *Session) gapLine(tenant, pattern string, at wire.Position, why wire.GapReason) []byte {
	if !s.tellsReasons.Load() {
		return wire.AppendGap(nil, tenant, pattern, at)
	}
	return wire.AppendGapReason(nil, tenant, pattern, at, cmp.Or(why, wire.GapUnknown))
}

// pushInOrder queues a line behind the deliveries that came before it; late is as in
// queue.pushLine. The caller holds s.mu.
func (s *Session) pushInOrder(line []byte, late *lateness) {
	if s.closing == nil {
		s.queue.pushLine(&s.queue.mainLane, line, late)
		s.checkBacklog()
		s.wake()
	}
}

// pushErrInOrder is pushInOrder for an ERR line about an RSUB.
func (s *Session) pushErrInOrder(code wire.Code, key subscriptionKey) {
	s.hub.count.refuse(code)
	s.pushInOrder(s.shownID(wire.AppendErr(nil, code, wire.VerbRsub.String(), key.tenant, key.pattern)), nil)
}
