package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// closeStatus says how a session closes.
type closeStatus struct {
	code    wire.CloseCode
	reason  string
	errCode wire.Code // of errLine
	errLine []byte    // a last ERR line; nil: none
	discard bool      // queued deliveries are dropped, not written
}

// Close closes the session from the transport's side: the client closed, or
// broke the rules of the transport. Queued deliveries are dropped.
func (s *Session) Close(code wire.CloseCode, reason string) {
	s.close(closeStatus{code: code, reason: reason, discard: true})
}

// Done is closed when the session starts to close.
func (s *Session) Done() <-chan struct{} { return s.done }

// Closing reports whether the session is closing or closed: what its token allowed a
// moment ago, when a message began to arrive, may not be allowed any more.
func (s *Session) Closing() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// CloseStatus returns the code and the reason with which the session closes; code 0 until
// Done is closed.
func (s *Session) CloseStatus() (wire.CloseCode, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		return 0, ""
	}
	return s.closing.code, s.closing.reason
}

// Forbid closes the session because its token no longer allows it: what says which rule
// it breaks now, as in "ip".
func (s *Session) Forbid(what string) {
	s.close(closeStatus{
		code: wire.CloseForbidden, reason: string(wire.CodeForbidden) + ":" + what, errCode: wire.CodeForbidden,
		errLine: wire.AppendErr(nil, wire.CodeForbidden, what), discard: true,
	})
}

// CloseInternal closes the session because of a fault of the server.
func (s *Session) CloseInternal() { s.closeWithError(wire.CloseInternal, wire.CodeInternal) }

// closeWithError closes the session with an ERR line and a close code.
func (s *Session) closeWithError(code wire.CloseCode, errCode wire.Code) {
	s.close(closeStatus{code: code, reason: string(errCode), errCode: errCode, errLine: wire.AppendErr(nil, errCode), discard: true})
}

func (s *Session) close(status closeStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked(status)
}

// closeLocked starts to close the session, unless it is closing already: the writer does
// the rest. The caller holds s.mu.
func (s *Session) closeLocked(status closeStatus) {
	if s.closing != nil {
		return
	}
	s.closing = &status
	close(s.done)
	if status.discard {
		s.hub.count.drop(dropClosed, s.queue.discard())
		s.uncountQueue()
	}
	if status.errLine != nil {
		s.hub.count.refuse(status.errCode)
		s.queue.pushControl(Outgoing{Text, s.shownID(status.errLine)})
	}
	if s.transport != nil {
		s.abortTimer = time.AfterFunc(closeGrace, s.transport.Abort)
	}
	s.wake()
}

// closeSlow closes a session whose client reads too slowly. n deliveries are lost beside
// the queued ones. The caller holds s.mu.
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

// CheckProgress closes the session if its client reads nothing: a write to its main
// stream takes longer than [Limits.WriteTimeout] for each writeStep. A transport calls it
// now and then, at least every 25 s, from any goroutine: a client that neither reads nor
// sends would otherwise hold its session as long as its token is valid.
func (s *Session) CheckProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil && s.writeDeadline != 0 && s.hub.now() >= s.writeDeadline {
		s.closeSlow(0, slowWriteTimeout)
	}
}

// Detach undoes Attach and removes every trace of the session from the hub. It is the
// transport's last call: its reader has stopped and the connection is closed.
func (s *Session) Detach() {
	s.Close(wire.CloseNormal, "")
	s.hub.linkWatch.unwatch(s)
	s.hub.ownMarks.forget(s)
	if s.held != nil {
		s.held.turn.giveUp()
	}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	for key, sub := range s.subscriptions {
		if sub.isResumable() {
			s.mu.Lock()
			sub.resumable.end(s.resumables)
			s.mu.Unlock()
			sub.resumable.sequencer.removeSubscriber(sub)
			continue
		}
		s.hub.removeSubscription(key.tenant, sub)
	}
	s.endPresence()
	s.dropCommands()

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
