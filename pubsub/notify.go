package pubsub

import (
	"errors"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/wire"
)

// reject answers a message of the client with an ERR line.
func (s *Session) reject(code wire.Code, context ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejectLocked(code, context...)
}

// rejectLocked is reject for a caller that holds s.mu.
func (s *Session) rejectLocked(code wire.Code, context ...string) {
	s.rejectWithLocked(code, wire.AppendErr(nil, code, context...))
}

// rejectWith is reject with the whole line, but for what the client wants in all of them.
func (s *Session) rejectWith(code wire.Code, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejectWithLocked(code, line)
}

func (s *Session) rejectWithLocked(code wire.Code, line []byte) {
	if c := s.hub.log.Check(zap.DebugLevel, "refused"); c != nil {
		c.Write(zap.Uint64("connection", s.client.ID), zap.String("code", string(code)))
	}
	s.hub.count.refuse(code)
	s.queueControlLocked(Text, s.shownID(line))
}

// notifyOutage tells the client, once in each outage of the link, that its messages and
// subscriptions do not reach other edges. The caller holds s.mu.
func (s *Session) notifyOutage() {
	if n := s.hub.outage.Load(); n != 0 && n != s.outageSent {
		s.outageSent = n
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
}

// overloadTime separates two overloads of the link, as a session sees them: when its
// publishes have found room for longer, the next one that does not is reported again. One
// overload is reported once, though some messages find room in between.
const overloadTime = 3 * time.Second

// notifyUnsent tells the client that other edges do not get its publish, once in each
// outage. An overload of a tenant is an outage for those who publish to it, and for nobody
// else.
func (s *Session) notifyUnsent(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, ErrLinkFull) {
		s.notifyOutage()
		return
	}
	now := s.hub.now()
	if s.linkFullAt == 0 || now-s.linkFullAt > overloadTime {
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
	s.linkFullAt = now
}

// notifyEgressLimited notes that the deliveries of a lane wait for a cap, if they do for long enough. It
// shortens the pause, so that it is called again when it is time to. The caller holds s.mu.
func (s *Session) notifyEgressLimited(l *lane, now time.Time, which string, pause time.Duration) time.Duration {
	i := l.head // of the oldest delivery, which waits
	for i < len(l.items) && (l.items[i].frame == nil || l.items[i].kind != Binary) {
		i++
	}
	if i == len(l.items) || s.closing != nil || !s.limitationDue(egress) {
		return pause
	}
	waited := now.Sub(s.hub.epoch) - l.items[i].at
	if waited < limitedAfter {
		return min(pause, limitedAfter-waited)
	}
	d, _ := wire.DecodeDeliver(l.items[i].data) // a presence has no tenant of its own here
	s.noteLimited(egress, which, string(d.Tenant), waited)
	return pause
}

// slowNoticeDue reports whether it is time to tell the client of lost deliveries.
// The caller holds s.mu.
func (s *Session) slowNoticeDue() bool {
	return s.queue.dropped > 0 && !s.slowNoticeSent && s.closing == nil
}

// allowSlowNotice is called slowNoticeEvery after the last slow_consumer line.
func (s *Session) allowSlowNotice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowNoticeSent = false
	s.wake()
}

func slowLine(n uint64) []byte {
	return wire.AppendErr(nil, wire.CodeSlowConsumer, strconv.FormatUint(n, 10))
}

// shownID is an ERR line with the connection id, if the client asked for it. The caller holds s.mu.
func (s *Session) shownID(line []byte) []byte {
	if s.showsID {
		line = wire.AppendConnection(line, s.client.ConnectionID)
	}
	return line
}

// sendReconnect tells the client, once, that this edge drains.
func (s *Session) sendReconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reconnectSent {
		s.reconnectSent = true
		s.uncountSession()
		s.queueControlLocked(Text, []byte(wire.LineReconnect))
	}
}
