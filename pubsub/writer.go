package pubsub

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/millrace/millrace/wire"
)

// batchBytes bounds what is taken from a queue for one Transport.Write, so that
// a PONG never waits behind more than this, and a frame.
const batchBytes = 64 << 10

// writeStep is what a client has [Limits.WriteTimeout] for: a batch of frames of the
// default size, at most. A larger one has as much longer.
const writeStep = 2 * batchBytes

// batch is what a writer takes from the queue at a time.
type batch struct {
	msgs   []Outgoing
	frames int           // deliveries among them
	size   int           // bytes of these
	oldest time.Duration // when the first of these was published, on the hub's clock
	taken  time.Time     // when they were taken
}

// batches are the writers' scratch space: who has nothing to write has none.
var batches = sync.Pool{New: func() any { return new(batch) }}

func (b *batch) add(f *frame) {
	b.msgs = append(b.msgs, Outgoing{f.kind, f.data})
	if f.kind != Binary {
		return
	}
	if b.frames == 0 {
		b.oldest = f.at
	}
	b.frames++
	b.size += len(f.data)
}

func (b *batch) reset() {
	clear(b.msgs)
	b.msgs, b.frames, b.size = b.msgs[:0], 0, 0
}

func (b *batch) release() {
	b.reset()
	if cap(b.msgs) <= 4096 {
		batches.Put(b)
	}
}

// wake starts the writer of the main stream if there is something to write and
// none runs. The caller holds s.mu.
func (s *Session) wake() {
	switch {
	case s.queue.mainLane.writing:
		if len(s.queue.control) == 0 && !s.slowNoticeDue() && s.closing == nil {
			return // deliveries wait for the cap
		}
		s.kickWriter()
	case s.transport != nil && !s.detached && (!s.queue.empty() || s.slowNoticeDue() || s.closing != nil && !s.closeSent):
		s.queue.mainLane.writing = true
		s.hub.wg.Add(1) // the session's reader is counted too: never from zero during Wait
		go s.writer()
	}
}

// wakeLane is wake for any lane.
func (s *Session) wakeLane(l *lane) {
	switch {
	case l.stream == nil:
		s.wake()
	case l.writing || l.held || l.dead || s.detached || l.empty() && !l.closing:
	default:
		l.writing = true
		s.hub.wg.Add(1)
		go s.runOwnWriter(l)
	}
}

func (s *Session) kickWriter() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// runWriter is the session's writer: it runs until nothing waits for the main
// stream. It may wait for the client, and for its caps.
func (s *Session) runWriter() {
	defer s.hub.wg.Done()
	b := batches.Get().(*batch)
	defer b.release()
	for {
		s.mu.Lock()
		s.writeDeadline = 0
		pause := s.nextBatch(b)
		if len(b.msgs) == 0 && pause == 0 && !s.partialWrite {
			e, transport := s.closing, s.transport
			if e == nil || s.closeSent {
				s.queue.mainLane.writing = false
				s.mu.Unlock()
				return
			}
			if !e.discard && s.ownStreamsBusy() {
				s.mu.Unlock()
				<-s.kick // from each writer that is done, at the latest when the transport is cut
				continue
			}
			s.closeSent = true
			s.mu.Unlock()
			if transport.Close(e.code, e.reason) != nil {
				transport.Abort()
			}
			continue
		}
		transport, unsent := s.transport, s.partialWrite
		s.partialWrite = false
		writes := len(b.msgs) > 0 || unsent
		if limit := s.hub.limits.Load().WriteTimeout; writes && limit > 0 {
			since := b.taken.Sub(s.hub.epoch)
			if b.frames == 0 { // taken is of another batch
				since = s.hub.now()
			}
			s.writeDeadline = since + limit*time.Duration(1+b.size/writeStep)
		}
		s.mu.Unlock()

		if writes {
			if transport.Write(b.msgs) != nil {
				s.transportFailed(b)
				return
			}
			s.hub.written(b)
			b.reset()
		}
		if pause > 0 {
			s.mu.Lock()
			s.writeDeadline = 0
			s.mu.Unlock()
			sleep(pause, s.kick)
		}
	}
}

// tryWrite is write for one of many sessions, none of which may hold up the
// others: where there is something to wait for, a writer of the session's own
// takes over.
func (s *Session) tryWrite(b *batch) {
	for {
		s.mu.Lock()
		pause := s.nextBatch(b)
		if len(b.msgs) == 0 {
			if !s.detached && (pause > 0 || s.closing != nil && !s.closeSent) {
				s.hub.wg.Add(1)
				go s.writer()
			} else {
				s.queue.mainLane.writing = false
			}
			s.mu.Unlock()
			return
		}
		trier := s.tryWriter
		s.mu.Unlock()

		written, err := trier.TryWrite(b.msgs)
		if err != nil {
			s.transportFailed(b)
			return
		}
		s.hub.written(b)
		b.reset()
		if !written {
			s.mu.Lock()
			s.partialWrite = true
			s.hub.wg.Add(1)
			s.mu.Unlock()
			go s.writer()
			return
		}
	}
}

// transportFailed ends a session whose transport has failed its writer, with a batch. The
// reader sees the same failure.
func (s *Session) transportFailed(b *batch) {
	s.mu.Lock()
	s.closeSent = true // nothing can be said any more
	s.closeLocked(closeStatus{code: wire.CloseNormal, discard: true})
	s.hub.count.drop(dropClosed, s.queue.clearAll()+uint64(b.frames))
	s.uncountQueue()
	s.queue.mainLane.writing = false
	s.writeDeadline = 0
	transport := s.transport
	s.mu.Unlock()
	transport.Abort()
}

// runOwnWriter is the writer of a subscription's own stream: it runs until the lane
// is empty, and ends the stream of one that is closing.
func (s *Session) runOwnWriter(l *lane) {
	defer s.hub.wg.Done()
	b := batches.Get().(*batch)
	defer b.release()
	for {
		s.mu.Lock()
		pause := s.takeOrdered(l, b)
		if len(b.msgs) == 0 && pause == 0 {
			closing := l.closing
			s.writerStopped(l)
			s.mu.Unlock()
			if closing {
				_ = l.stream.Close() // fails only with the session
			}
			return
		}
		s.mu.Unlock()

		if len(b.msgs) > 0 {
			if l.stream.Write(b.msgs) != nil { // the client stopped reading it, or the session ends
				s.mu.Lock()
				l.dead = true
				s.hub.count.drop(dropClosed, s.queue.clearLane(l)+uint64(b.frames))
				s.uncountQueue()
				s.resumeReader()
				s.writerStopped(l)
				s.mu.Unlock()
				return
			}
			s.hub.written(b)
			b.reset()
		}
		sleep(pause, s.done)
	}
}

// writerStopped notes that the writer of an own stream has stopped. The caller holds s.mu.
func (s *Session) writerStopped(l *lane) {
	l.writing = false
	if l.closing {
		s.dropLane(l)
	}
	if s.closing != nil {
		s.kickWriter()
	}
}

// ownStreamsBusy reports whether something waits for a stream that is still read. The
// caller holds s.mu.
func (s *Session) ownStreamsBusy() bool {
	return slices.ContainsFunc(s.queue.ownLanes, func(l *lane) bool { return !l.dead && (l.writing || !l.empty()) })
}

// nextBatch takes what may be written to the main stream now: every control
// message, then the default lane as far as the caps allow. A pause says that more
// waits for a cap. The caller holds s.mu.
func (s *Session) nextBatch(b *batch) (pause time.Duration) {
	b.msgs = s.queue.takeControl(b.msgs)
	if s.slowNoticeDue() {
		b.msgs = append(b.msgs, Outgoing{Text, slowLine(s.queue.dropped)})
		s.hub.count.refuse(wire.CodeSlowConsumer)
		s.queue.dropped = 0
		s.slowNoticeSent = true
		s.slowNoticeTimer = time.AfterFunc(slowNoticeEvery, s.allowSlowNotice)
	}
	for _, m := range b.msgs {
		s.egress.charge(len(m.Data))
	}
	return s.takeOrdered(&s.queue.mainLane, b)
}

// slowNoticeDue reports whether the client is to be told of lost deliveries now.
// The caller holds s.mu.
func (s *Session) slowNoticeDue() bool {
	return s.queue.dropped > 0 && !s.slowNoticeSent && s.closing == nil
}

func (s *Session) allowSlowNotice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowNoticeSent = false
	s.wake()
}

// takeOrdered takes messages of a lane as far as the caps allow: the client's,
// its token's, and of each message its tenant's. The caller holds s.mu.
func (s *Session) takeOrdered(l *lane, b *batch) (pause time.Duration) {
	if l.empty() {
		s.resumeReader()
		return 0
	}
	now := time.Now()
	b.taken = now
	limits := s.hub.limits.Load()
	pause = s.egress.wait(now, s.rate(s.identity.EgressKB, limits.DefaultEgressKB))
	var ofToken *sharedBucket
	if limits.TokenEgressKB > 0 {
		ofToken = &s.token.caps.egress
		pause = max(pause, ofToken.wait(now, kb(limits.TokenEgressKB)))
	}
	if s.closing != nil {
		pause = 0 // a session that ends does not wait for its cap: it has seconds
	}
	owed := false // found with the next batch
	for size := 0; pause == 0 && !owed && size < batchBytes; {
		f := l.next()
		if f == nil {
			break
		}
		if f.caps != nil && limits.TenantEgressKB > 0 && s.closing == nil {
			if pause = f.caps.egress.wait(now, kb(limits.TenantEgressKB)); pause > 0 {
				break
			}
			owed = f.caps.egress.charge(len(f.data))
		}
		s.queue.take(l)
		b.add(f)
		size += len(f.data)
		s.egress.charge(len(f.data))
		if ofToken != nil {
			owed = ofToken.charge(len(f.data)) || owed
		}
		owed = (owed || s.egress.tokens < 0) && s.closing == nil
	}
	if pause > 0 {
		pause = s.notifyEgressLimited(l, now, pause)
	}
	if !l.empty() {
		l.compact()
	}
	if s.queue.countedCharge > 0 {
		s.uncountQueue()
	}
	s.resumeReader()
	return pause
}

// notifyEgressLimited tells the client, once a minute at most, that the deliveries of a lane
// wait for a cap; it is asked again within the pause that it returns. The caller
// holds s.mu.
func (s *Session) notifyEgressLimited(l *lane, now time.Time, pause time.Duration) time.Duration {
	i := l.firstDelivery()
	at := now.Sub(s.hub.epoch)
	if i < 0 || s.closing != nil || s.limitedSentAt != 0 && at-s.limitedSentAt < limitedEvery {
		return pause
	}
	waited := at - l.items[i].at
	if waited < limitedAfter {
		return min(pause, limitedAfter-waited)
	}
	s.limitedSentAt = at
	s.rejectLocked(wire.CodeEgressLimited, strconv.Itoa(int(waited/time.Second)))
	return pause
}

// resumeReader lets the reader go on once the client has read enough of its control
// lines. The caller holds s.mu.
func (s *Session) resumeReader() {
	if s.stalled && s.queue.controlBytes <= MaxControlBacklog/2 {
		s.stalled = false
		s.backlog.Store(false)
		s.resume <- struct{}{}
	}
}

func slowLine(n uint64) []byte {
	return wire.AppendErr(nil, wire.CodeSlowConsumer, strconv.FormatUint(n, 10))
}
