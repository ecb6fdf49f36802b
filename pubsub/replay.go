package pubsub

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

const (
	// replayBytes and replayMessages bound a page.
	replayBytes    = 128 << 10
	replayMessages = 512
	// maxLastChannels is how many channels an RSUB … last may match.
	maxLastChannels = 1024
	// A page that the store does not give is asked for again after retryReplay. After
	// historyTimeout, the client is told.
	retryReplay    = time.Second
	historyTimeout = 5 * time.Second
)

// readPage reads one page for a subscription, and has the next one of its session read.
func (s *Session) readPage(r *resumable) {
	s.mu.Lock()
	room, wanted, v := min(s.keptRoom(), replayBytes), s.wants(r), s.variant&^withOwn // which is for live deliveries
	if r.skipping {
		room = min(room, s.skipRoom(r))
	}
	s.mu.Unlock()
	var page history.Page
	var frames []*frame
	var err error
	if wanted {
		if page, err = s.replayPage(r, room); err == nil {
			frames = s.encodePage(r, page, v)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumables.reading = nil
	at, restarted := wire.Position{}, false
	if wanted && err == nil {
		at, restarted = r.startedOver(page)
	}
	switch {
	case !wanted || !s.wants(r):
	case r.skipDue:
		s.skipToNewest(r, r.skipFrom)
		s.awaitPages(r)
	case errors.Is(err, history.ErrTooManyChannels):
		s.refuseReplay(r, wire.CodeTooManyChannels)
	case restarted:
		r.failing = time.Time{}
		s.goOnAt(r, at)
	case err != nil || page.Through.N <= r.cursor.N && r.ahead() > r.cursor.N: // or what the store reads from does not have yet what was handed on
		s.replayFailed(r)
	default:
		if now := s.variant &^ withOwn; now != v { // the client has asked for another one since
			frames = s.encodePage(r, page, now)
		}
		r.failing = time.Time{}
		s.catchUp(r, page, frames)
		if !r.live {
			s.awaitPages(r)
		}
	}
	s.schedulePage()
}

// wants reports whether a page is still of use to a subscription. The caller holds s.mu.
func (s *Session) wants(r *resumable) bool { return !r.ended && s.closing == nil && !s.detached }

// replayPage reads a page from the cursor of a subscription on. No other goroutine changes
// the cursor of one that is behind.
func (s *Session) replayPage(r *resumable, room int) (page history.Page, err error) {
	q := r.sequencer
	ctx, cancel := context.WithTimeout(sessionContext{s}, historyTimeout)
	defer cancel()
	query := history.Query{
		History: q.id.history, Tenant: q.id.tenant, Pattern: r.pattern,
		MaxMessages: min(replayMessages, 1+room/itemOverhead), MaxBytes: max(1, room),
	}
	if !r.begun {
		if err := r.begin(); err != nil {
			return page, err
		}
		query.MaxChannels = maxLastChannels
	}
	if r.skipping && !r.skip.begun {
		if err := r.beginSkip(); err != nil {
			return page, err
		}
	}
	query.After, query.Newest = r.cursor.N, r.newest
	page, err = q.store.Read(ctx, query)
	// What the store waited for is not the tenant's to pay.
	s.hub.charge(s.payersFor(q.id.tenant), s.hub.now(), page.Work+pageCost)
	if err != nil {
		return page, err
	}
	r.begun = true
	if r.newest && page.Through.N > r.until.N && page.Through.Epoch == r.until.Epoch {
		// What was stored since it began may stand between the newest messages.
		n := slices.IndexFunc(page.Messages, func(m history.Kept) bool { return m.Position.N > r.until.N })
		if n >= 0 {
			page.Messages = page.Messages[:n]
		}
		page.Through = r.until
	}
	return page, nil
}

// encodePage makes the frames of a page.
func (s *Session) encodePage(r *resumable, page history.Page, v variant) (frames []*frame) {
	tenant := []byte(r.key.tenant)
	by := s.payersFor(r.key.tenant)
	now := s.hub.now() // they have paid for what they used before: see replays
	s.hub.notePayers(by, now)
	var w work
	defer func() { s.hub.chargeWork(by, now, &w) }()
	before := r.cursor
	for _, m := range page.Messages {
		p := publication{tenant: tenant, channel: []byte(m.Channel), payload: m.Payload, sender: m.Sender, at: now}
		if s.hub.limits.Load().TenantEgressKB > 0 {
			p.caps = s.hub.tenantCapsOf(tenant)
		}
		kept := keptFrames{at: m.Position, pattern: r.key.pattern, feed: r.feed, before: before}
		if !r.skipping { // else it is the newest
			kept.expires = r.expiresAt(m.Position.T)
		}
		f := kept.frame(&p, v)
		w.most += p.pace.work.most
		frames = append(frames, f)
		before = m.Position
	}
	return frames
}

// begin sets the cursor to where the client wants to begin. What cannot be proven to be
// complete begins with all there is.
func (r *resumable) begin() error {
	q := r.sequencer
	if q.shared != nil {
		head, err := q.standsAt()
		if err != nil {
			return err
		}
		r.least, r.epoch = head.N, head.Epoch
	}
	switch r.from.Origin {
	case wire.OriginPosition:
		known, err := q.store.Knows(q.id.history, q.id.tenant, r.from.Position)
		if err != nil {
			return err
		}
		if known {
			r.cursor = r.from.Position
			hs := q.hub.histories.Load()
			since := hs.scopes[q.id.history].Since
			r.outside = since > 0 && r.cursor.T <= since
		} else {
			r.unknown = wire.GapLost
			if q.shared != nil && r.epoch == r.from.Position.Epoch && r.from.Position.N > r.least { // of a shared history: another edge was further
				r.unknown = wire.GapBehind
			}
		}
	case wire.OriginLast:
		at, err := q.standsAt()
		if err != nil {
			return err
		}
		r.until, r.newest = at, at.N > 0
	case wire.OriginLastN:
		after, removed, err := q.store.Before(q.id.history, q.id.tenant, r.key.pattern, int(min(r.from.N, math.MaxInt32)))
		if err != nil {
			return err
		}
		r.cursor.N, r.known = after, removed
	case wire.OriginNow: // in a history of this edge alone it is live from the start
		at, err := q.standsAt()
		if err != nil {
			return err
		}
		r.cursor = at
	}
	return nil
}

// replayFailed has a page read again in a while, and tells the client once that the
// history is out of reach. The caller holds s.mu.
func (s *Session) replayFailed(r *resumable) {
	r.retry = time.AfterFunc(retryReplay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.retry = nil; !r.ended && !s.detached {
			s.awaitPages(r)
		}
	})
	now := time.Now()
	if r.failing.IsZero() {
		r.failing = now
	}
	if now.Sub(r.failing) >= historyTimeout && !r.failSaid {
		r.failSaid = true
		s.pushErrInOrder(wire.CodeHistoryUnavailable, r.key)
	}
}

// refuseReplay ends a subscription that the store refuses. The caller holds s.mu.
func (s *Session) refuseReplay(r *resumable, code wire.Code) {
	r.ended = true
	s.hub.Go(func() { s.refuseResumable(r, code) }) // this goroutine holds the group open
}

// refuseResumable removes it, with the mutex that this takes.
func (s *Session) refuseResumable(r *resumable, code wire.Code) {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	sub := s.subscriptions[r.key]
	if sub == nil || sub.resumable != r {
		return
	}
	s.removeResumable(r.key, sub)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscriptions, r.key)
	s.pushErrInOrder(code, r.key)
}
