package pubsub

import (
	"sync"
	"time"

	"github.com/millrace/millrace/wire"
)

// batchBytes bounds what is taken from a queue for one Transport.Write, so that
// a PONG never waits behind more than this and one frame.
const batchBytes = 64 << 10

// writeStep is how many bytes a client must read within [Limits.WriteTimeout]: at most a
// batch of frames of the default size. A larger write has proportionally longer.
const writeStep = 2 * batchBytes

// batch is what a writer takes from the queue at a time.
type batch struct {
	msgs     []Outgoing
	frames   int           // among them
	presence int           // of these, about presence; the others are deliveries
	size     int           // bytes of frames
	oldest   time.Duration // when the first delivery was published, on the hub's clock
	taken    time.Time     // when they were taken
}

// batches are the writers' scratch space: a session with nothing to write has none.
var batches = sync.Pool{New: func() any { return new(batch) }}

func (b *batch) add(f *frame) {
	b.msgs = append(b.msgs, Outgoing{f.kind, f.data})
	if f.kind != Binary {
		return
	}
	switch {
	case f.presence:
		b.presence++
	case b.deliveries() == 0:
		b.oldest = f.at
	}
	b.frames++
	b.size += len(f.data)
}

func (b *batch) deliveries() int { return b.frames - b.presence }

func (b *batch) reset() {
	clear(b.msgs)
	b.msgs, b.frames, b.presence, b.size = b.msgs[:0], 0, 0, 0
}

func (b *batch) release() {
	b.reset()
	if cap(b.msgs) <= 4096 {
		batches.Put(b)
	}
}

// nextBatch takes what may be written to the main stream now: every control
// message, then the main lane as far as the caps allow. A pause says that more
// waits for a cap. The caller holds s.mu.
func (s *Session) nextBatch(b *batch) (pause time.Duration) {
	b.msgs = s.queue.takeControl(b.msgs)
	if s.slowNoticeDue() {
		b.msgs = append(b.msgs, Outgoing{Text, s.shownID(slowLine(s.queue.dropped))})
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

// takeOrdered takes messages of an ordered lane as far as the caps allow: the client's,
// its token's, and that of each message's tenant. The caller holds s.mu.
func (s *Session) takeOrdered(l *lane, b *batch) (pause time.Duration) {
	if l.empty() {
		s.resumeReader()
		return 0
	}
	now := time.Now()
	b.taken = now
	limits := s.hub.limits.Load()
	pause, which := s.egress.wait(now, s.rate(s.identity.EgressKB, limits.DefaultEgressKB)), capConnection
	var tokenEgress *sharedBucket
	if limits.TokenEgressKB > 0 {
		tokenEgress = &s.token.caps.egress
		if more := tokenEgress.wait(now, kb(limits.TokenEgressKB)); more > pause {
			pause, which = more, capToken
		}
	}
	if s.closing != nil {
		pause = 0 // a session that ends does not wait for its cap: it has seconds
	}
	overdrawn := false // a cap is: the wait for it comes with the next batch
	for size := 0; pause == 0 && !overdrawn && size < batchBytes; {
		f := l.next()
		if f == nil {
			break
		}
		if f.late != nil && now.Sub(s.hub.epoch) >= f.late.expires && s.closing == nil {
			s.removeLate(now.Sub(s.hub.epoch))
			continue
		}
		if f.caps != nil && limits.TenantEgressKB > 0 && s.closing == nil {
			if pause = f.caps.egress.wait(now, kb(limits.TenantEgressKB)); pause > 0 {
				which = capTenant
				break
			}
			overdrawn = f.caps.egress.charge(len(f.data))
		}
		s.queue.take(l)
		b.add(f)
		size += len(f.data)
		s.egress.charge(len(f.data))
		if tokenEgress != nil {
			overdrawn = tokenEgress.charge(len(f.data)) || overdrawn
		}
		overdrawn = (overdrawn || s.egress.tokens < 0) && s.closing == nil
	}
	if pause > 0 {
		pause = s.notifyEgressLimited(l, now, which, pause)
	}
	l.compact()
	if s.queue.countedCharge > 0 {
		s.uncountQueue()
	}
	if s.resumables != nil {
		s.resumables.clientHasRead(s)
	}
	s.resumeReader()
	return pause
}
