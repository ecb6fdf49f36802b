package pubsub

import (
	"strconv"
	"time"

	"github.com/millrace/millrace/wire"
)

// batchBytes bounds what is taken from a queue for one Transport.Write, so that
// a PONG never waits behind more than this.
const batchBytes = 64 << 10

// wake starts the writer if there is something to write and none runs. The
// caller holds s.mu.
func (s *Session) wake() {
	switch {
	case s.writing:
		if len(s.queue.control) == 0 && s.ending == nil {
			return // deliveries wait for the cap
		}
		select {
		case s.kick <- struct{}{}:
		default:
		}
	case s.transport != nil && !s.gone && (!s.queue.empty() || s.ending != nil && !s.said):
		s.writing = true
		s.hub.wg.Add(1) // the session's reader is counted too: never from zero during Wait
		go s.write()
	}
}

// write is the session's writer: it runs until the queue is empty.
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
				s.writing = false
				s.mu.Unlock()
				return
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
				// The reader sees the same failure, and ends the session.
				transport.Abort()
				s.mu.Lock()
				s.said = true // nothing can be said any more
				s.endLocked(ending{code: wire.CloseNormal, discard: true})
				s.queue = queue{}
				s.writing = false
				s.mu.Unlock()
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

// nextBatch appends what may be written now to dst: every control message, then
// the ordered lane as far as the egress cap allows. A pause says that more waits
// for the cap. The caller holds s.mu.
func (s *Session) nextBatch(dst []Outgoing) (_ []Outgoing, pause time.Duration) {
	dst = s.queue.takeControl(dst)
	if n := s.queue.dropped; n > 0 && s.ending == nil {
		s.queue.dropped = 0
		dst = append(dst, Outgoing{Text, slowLine(n)})
	}
	for _, m := range dst {
		s.egress.charge(len(m.Data))
	}

	rate := s.rate(s.identity.EgressKB, s.hub.limits.Load().DefaultEgressKB)
	now := time.Now()
	for size := 0; size < batchBytes && s.queue.head < len(s.queue.ordered); {
		// A session that ends does not wait for its cap: it has seconds.
		if pause = s.egress.wait(now, rate); pause > 0 && s.ending == nil {
			break
		}
		pause = 0
		m, ok := s.queue.take()
		if !ok {
			break
		}
		dst = append(dst, m)
		size += len(m.Data)
		s.egress.charge(len(m.Data))
	}

	if s.stalled && s.queue.controlBytes <= MaxControlBacklog/2 {
		s.stalled = false
		s.resume <- struct{}{}
	}
	return dst, pause
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
