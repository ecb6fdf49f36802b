package pubsub

import (
	"errors"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/wire"
)

// reject answers a message with an ERR line.
func (s *Session) reject(code wire.Code, context ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejectLocked(code, context...)
}

func (s *Session) rejectLocked(code wire.Code, context ...string) {
	if c := s.hub.log.Check(zap.DebugLevel, "refused"); c != nil {
		c.Write(zap.Uint64("connection", s.client.ID), zap.String("code", string(code)))
	}
	s.hub.count.refuse(code)
	s.queueControlLocked(Text, wire.AppendErr(nil, code, context...))
}

// notifyOutage tells the client, once in each outage, that its messages and
// subscriptions do not reach other edges. The caller holds s.mu.
func (s *Session) notifyOutage() {
	if n := s.hub.outage.Load(); n != 0 && n != s.outageSent {
		s.outageSent = n
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
}

// overloadTime is how long none of a session's publishes may have found the link full
// until the next one that does is another outage: an overload is one, not one for
// each message that found room.
const overloadTime = 3 * time.Second

// notifyUnsent tells the client that other edges do not get its publish, once in each
// outage. An overload of a tenant is an outage for who publishes to it, and for nobody
// else.
func (s *Session) notifyUnsent(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(why, ErrLinkFull) {
		s.notifyOutage()
		return
	}
	now := s.hub.now()
	if s.linkFullAt == 0 || now-s.linkFullAt > overloadTime {
		s.rejectLocked(wire.CodeBrokerUnavailable)
	}
	s.linkFullAt = now
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

func slowLine(n uint64) []byte {
	return wire.AppendErr(nil, wire.CodeSlowConsumer, strconv.FormatUint(n, 10))
}

// sendReconnect tells the client that this edge drains.
func (s *Session) sendReconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reconnectSent {
		s.reconnectSent = true
		s.uncountSession()
		s.queueControlLocked(Text, []byte(wire.LineReconnect))
	}
}
