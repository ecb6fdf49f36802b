package pubsub

import (
	"slices"
	"strconv"
	"time"

	"github.com/millrace/millrace/wire"
)

// batchBytes bounds what is taken from a queue for one Transport.Write, so that
// a PONG never waits behind more than this.
const batchBytes = 64 << 10

// wake starts the writer of the main stream if there is something to write and
// none runs. The caller holds s.mu.
func (s *Session) wake() {
	switch {
	case s.queue.lane.writing:
		if len(s.queue.control) == 0 && s.ending == nil {
			return // deliveries wait for the cap
		}
		s.kickWriter()
	case s.transport != nil && !s.gone && (!s.queue.empty() || s.mustNotice() || s.ending != nil && !s.said):
		s.queue.lane.writing = true
		s.hub.wg.Add(1) // the session's reader is counted too: never from zero during Wait
		go s.write()
	}
}

// wakeLane is wake for any lane.
func (s *Session) wakeLane(l *lane) {
	switch {
	case l.stream == nil:
		s.wake()
	case l.writing || l.held || l.dead || s.gone || l.empty() && !l.closing:
	default:
		l.writing = true
		s.hub.wg.Add(1)
		go s.writeOwn(l)
	}
}

func (s *Session) kickWriter() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// write is the session's writer: it runs until nothing waits for the main
// stream.
func (s *Session) write() {
	defer s.hub.wg.Done()
	var batch []Outgoing
	for {
		s.mu.Lock()
		var pause time.Duration
		batch, pause = s.nextBatch(batch[:0])
		if len(batch) == 0 && pause == 0 {
			e, transport := s.ending, s.transport
			if e == nil || s.said {
				s.queue.lane.writing = false
				s.mu.Unlock()
				return
			}
			if !e.discard && s.ownBusy() {
				s.mu.Unlock()
				<-s.kick // from each writer that is done, at the latest when the transport is cut
				continue
			}
			s.said = true
			s.mu.Unlock()
			if transport.Close(e.code, e.reason) != nil {
				transport.Abort()
			}
			continue
		}
		transport := s.transport
		s.mu.Unlock()

		if len(batch) > 0 {
			if transport.Write(batch) != nil {
				// The reader sees the same failure.
				s.mu.Lock()
				s.said = true // nothing can be said any more
				s.endLocked(ending{code: wire.CloseNormal, discard: true})
				s.queue.clearAll()
				s.queue.lane.writing = false
				s.mu.Unlock()
				transport.Abort()
				return
			}
			clear(batch)
		}
		if pause > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-s.kick:
			}
			timer.Stop()
		}
	}
}

// writeOwn is the writer of a subscription's own stream: it runs until the lane
// is empty, and ends the stream of one that is closing.
func (s *Session) writeOwn(l *lane) {
	defer s.hub.wg.Done()
	var batch []Outgoing
	for {
		s.mu.Lock()
		var pause time.Duration
		batch, pause = s.takeOrdered(l, batch[:0])
		if len(batch) == 0 && pause == 0 {
			closing := l.closing
			s.rest(l)
			s.mu.Unlock()
			if closing {
				_ = l.stream.Close() // fails only with the session
			}
			return
		}
		s.mu.Unlock()

		if len(batch) > 0 {
			if l.stream.Write(batch) != nil { // the client stopped reading it, or the session ends
				s.mu.Lock()
				l.dead = true
				s.queue.clear(l)
				s.unstall()
				s.rest(l)
				s.mu.Unlock()
				return
			}
			clear(batch)
		}
		if pause > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-s.done:
			}
			timer.Stop()
		}
	}
}

// rest notes that the writer of an own stream has stopped. The caller holds s.mu.
func (s *Session) rest(l *lane) {
	l.writing = false
	if l.closing {
		s.dropLane(l)
	}
	if s.ending != nil {
		s.kickWriter()
	}
}

// ownBusy reports whether something waits for a stream that is still read. The
// caller holds s.mu.
func (s *Session) ownBusy() bool {
	return slices.ContainsFunc(s.queue.own, func(l *lane) bool { return !l.dead && (l.writing || !l.empty()) })
}

// nextBatch appends what may be written to the main stream now to dst: every
// control message, then the default lane as far as the egress cap allows. A
// pause says that more waits for the cap. The caller holds s.mu.
func (s *Session) nextBatch(dst []Outgoing) (_ []Outgoing, pause time.Duration) {
	dst = s.queue.takeControl(dst)
	if s.mustNotice() {
		dst = append(dst, Outgoing{Text, slowLine(s.queue.dropped)})
		s.queue.dropped = 0
		s.noticed = true
		s.notice = time.AfterFunc(noticeEvery, s.noticeAgain)
	}
	for _, m := range dst {
		s.egress.charge(len(m.Data))
	}
	return s.takeOrdered(&s.queue.lane, dst)
}

// mustNotice reports whether the client is to be told of lost deliveries now.
// The caller holds s.mu.
func (s *Session) mustNotice() bool { return s.queue.dropped > 0 && !s.noticed && s.ending == nil }

func (s *Session) noticeAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noticed = false
	s.wake()
}

// takeOrdered appends messages of a lane to dst, as far as the egress cap
// allows. The caller holds s.mu.
func (s *Session) takeOrdered(l *lane, dst []Outgoing) (_ []Outgoing, pause time.Duration) {
	rate := s.rate(s.identity.EgressKB, s.hub.limits.Load().DefaultEgressKB)
	now := time.Now()
	for size := 0; size < batchBytes && !l.empty(); {
		// A session that ends does not wait for its cap: it has seconds.
		if pause = s.egress.wait(now, rate); pause > 0 && s.ending == nil {
			break
		}
		pause = 0
		m, ok := s.queue.take(l)
		if !ok {
			break
		}
		dst = append(dst, m)
		size += len(m.Data)
		s.egress.charge(len(m.Data))
	}
	s.unstall()
	return dst, pause
}

// unstall lets the reader go on once the client has read enough of its control
// lines. The caller holds s.mu.
func (s *Session) unstall() {
	if s.stalled && s.queue.controlBytes <= MaxControlBacklog/2 {
		s.stalled = false
		s.resume <- struct{}{}
	}
}

// rate is a cap in bytes per second.
func (s *Session) rate(own, byDefault int) float64 {
	if own == 0 {
		own = byDefault
	}
	return float64(own) * 1024
}

func slowLine(n uint64) []byte {
	return wire.AppendErr(nil, wire.CodeSlowConsumer, strconv.FormatUint(n, 10))
}
