package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// A client that does not read its control lines is not read from: the lines that wait
// for it are bounded by MaxControlBacklog (docs/protocol.md, Codes).

// checkBacklog notes that too many control lines wait for the client. The caller
// holds s.mu.
func (s *Session) checkBacklog() {
	if s.queue.controlBytes > MaxControlBacklog {
		s.backlog.Store(true)
	}
}

// stallReader reports whether the reader has to wait on s.resume, and notes that it does.
func (s *Session) stallReader() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = s.queue.controlBytes > MaxControlBacklog && s.closing == nil
	s.backlog.Store(s.stalled)
	return s.stalled
}

// awaitResume waits until the client has read enough of its control lines.
func (s *Session) awaitResume() {
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		select {
		case <-s.resume:
			return
		case <-s.done:
			return
		case <-watch.C:
		}
		s.CheckProgress()
		if s.clientGone() {
			s.Close(wire.CloseNormal, "")
		}
	}
}

// resumeReader lets a stalled reader continue once the client has read enough of its
// control lines. The caller holds s.mu.
func (s *Session) resumeReader() {
	if s.stalled && s.queue.controlBytes <= MaxControlBacklog/2 {
		s.stalled = false
		s.backlog.Store(false)
		s.resume <- struct{}{}
	}
}
