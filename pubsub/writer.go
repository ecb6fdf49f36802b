package pubsub

import (
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

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

// wakeLane is wake for any lane. The caller holds s.mu.
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
		transport, partial := s.transport, s.partialWrite
		s.partialWrite = false
		writes := len(b.msgs) > 0 || partial
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
			s.oweWrite(b)
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

// tryWrite is runWriter for one of many sessions, none of which may hold up the
// others: where it would have to wait, a writer of the session's own takes over. It adds to w what it did.
func (s *Session) tryWrite(b *batch, w *work) {
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
		transport := s.tryWriter
		s.mu.Unlock()

		written, err := transport.TryWrite(b.msgs)
		if err != nil {
			s.transportFailed(b)
			return
		}
		s.hub.written(b)
		w.most += mostPerWrite + mostPerByte*time.Duration(b.size)
		if !written || s.makesPackets { // others do the most of it
			s.oweWrite(b)
		}
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

// transportFailed closes a session whose transport failed to write a batch. The reader
// sees the same failure.
func (s *Session) transportFailed(b *batch) {
	s.mu.Lock()
	s.closeSent = true // nothing can be written any more
	s.closeLocked(closeStatus{code: wire.CloseNormal, discard: true})
	s.hub.count.drop(dropClosed, s.queue.clearAll()+uint64(b.deliveries()))
	s.uncountQueue()
	s.queue.mainLane.writing = false
	s.writeDeadline = 0
	transport := s.transport
	s.mu.Unlock()
	transport.Abort()
}

// runOwnWriter is the writer of a subscription's own stream: it runs until the lane
// is empty, and ends the stream if the lane is closing.
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
				s.hub.count.drop(dropClosed, s.queue.clearLane(l)+uint64(b.deliveries()))
				s.uncountQueue()
				s.resumeReader()
				s.writerStopped(l)
				s.mu.Unlock()
				return
			}
			s.hub.written(b)
			s.oweWrite(b)
			b.reset()
		}
		sleep(pause, s.done)
	}
}

// writerStopped notes that the writer of a subscription's own stream has stopped. The
// caller holds s.mu.
func (s *Session) writerStopped(l *lane) {
	l.writing = false
	if l.closing {
		s.dropLane(l)
	}
	if s.closing != nil {
		s.kickWriter()
	}
}

// ownStreamsBusy reports whether something waits for a subscription's own stream that the
// client still reads. The caller holds s.mu.
func (s *Session) ownStreamsBusy() bool {
	return slices.ContainsFunc(s.queue.ownLanes, func(l *lane) bool { return !l.dead && (l.writing || !l.empty()) })
}
