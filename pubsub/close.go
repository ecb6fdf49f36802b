package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// closeStatus is how a session ends.
type closeStatus struct {
	code    wire.CloseCode
	reason  string
	errCode wire.Code // of the line
	errLine []byte    // a last ERR line, if any
	discard bool      // queued deliveries are not worth waiting for
}

// Close ends the session from the transport's side: the client closed, or
// broke the rules of the transport. Queued deliveries are dropped.
func (s *Session) Close(code wire.CloseCode, reason string) {
	s.close(closeStatus{code: code, reason: reason, discard: true})
}

// Done is closed when the session starts to end.
func (s *Session) Done() <-chan struct{} { return s.done }

// Closing reports whether the session is ending: what its token allowed a moment
// ago, when a message began to arrive, may not be allowed any more.
func (s *Session) Closing() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// CloseStatus returns how the session ends, once Done is closed.
func (s *Session) CloseStatus() (wire.CloseCode, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		return 0, ""
	}
	return s.closing.code, s.closing.reason
}

// Forbid ends the session because its token does not allow what it is now.
func (s *Session) Forbid(what string) {
	s.close(closeStatus{
		code: wire.CloseForbidden, reason: string(wire.CodeForbidden) + ":" + what, errCode: wire.CodeForbidden,
		errLine: wire.AppendErr(nil, wire.CodeForbidden, what), discard: true,
	})
}

// CloseInternal ends the session because of a fault of the server.
func (s *Session) CloseInternal() { s.closeWithError(wire.CloseInternal, wire.CodeInternal) }

// closeWithError ends the session with an ERR line and a close code.
func (s *Session) closeWithError(code wire.CloseCode, why wire.Code) {
	s.close(closeStatus{code: code, reason: string(why), errCode: why, errLine: wire.AppendErr(nil, why), discard: true})
}

func (s *Session) close(e closeStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked(e)
}

func (s *Session) closeLocked(e closeStatus) {
	if s.closing != nil {
		return
	}
	s.closing = &e
	close(s.done)
	if e.discard {
		s.hub.count.drop(dropClosed, s.queue.discard())
		s.uncountQueue()
	}
	if e.errLine != nil {
		s.hub.count.refuse(e.errCode)
		s.queue.pushControl(Outgoing{Text, e.errLine})
	}
	if s.transport != nil {
		s.abortTimer = time.AfterFunc(closeGrace, s.transport.Abort)
	}
	s.wake()
}

// closeSlow ends a session whose client reads too slowly, when n deliveries more had
// come than are queued. The caller holds s.mu.
func (s *Session) closeSlow(n uint64, reason int) {
	s.hub.count.slowDisconnects[reason].Add(1)
	n += s.queue.discard()
	s.droppedTotal.Add(n)
	s.hub.count.drop(dropDisconnect, n)
	n += s.queue.dropped
	s.closeLocked(closeStatus{
		code: wire.CloseSlowConsumer, reason: string(wire.CodeSlowConsumer), errCode: wire.CodeSlowConsumer,
		errLine: slowLine(n), discard: true,
	})
}

// CheckProgress ends the session if its client reads nothing: a write to its main
// stream takes longer than [Limits.WriteTimeout] for each writeStep. A transport calls it now and then, at least
// every 25 s, and from any goroutine: who neither reads nor sends would otherwise
// hold its session as long as its token is valid.
func (s *Session) CheckProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil && s.writeDeadline != 0 && s.hub.now() >= s.writeDeadline {
		s.closeSlow(0, slowWriteTimeout)
	}
}

// Detach is the transport's last call: its reader has stopped and the connection
// is closed. It removes every trace of the session from the hub.
func (s *Session) Detach() {
	s.Close(wire.CloseNormal, "")
	s.hub.linkWatch.unwatch(s)
	if s.held != nil {
		s.held.turn.giveUp()
	}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	for key, sub := range s.subscriptions {
		s.hub.removeSubscription(key.tenant, sub)
	}

	s.mu.Lock()
	s.subscriptions, s.deferredUnsubs, s.readyUnsubs, s.deferredPings, s.detached = nil, nil, nil, nil, true
	s.hub.count.drop(dropClosed, s.queue.clearAll())
	s.uncountQueue()
	for _, t := range []*time.Timer{s.expiryTimer, s.abortTimer, s.slowNoticeTimer} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	s.runDisconnectedHooks()
	s.hub.removeSession(s)
}
