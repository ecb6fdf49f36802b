package pubsub

import (
	"maps"
	"slices"
	"sync"

	"github.com/millrace/millrace/wire"
)

// linkWatch tells the sessions whose clients asked for it when the link to the other
// edges is lost, and when it is back.
type linkWatch struct {
	mu        sync.Mutex // taken before a session's
	sessions  map[*Session]struct{}
	notifying bool // a goroutine runs notifyAll
	changed   bool // the link has changed since it began
}

// handleFeatures turns on the features that the client asks for, and then lists those
// that the edge has.
func (s *Session) handleFeatures(line wire.Line) {
	if line.HasFeature(wire.FeatureLink) {
		s.watchLink()
	}
	if line.HasFeature(wire.FeatureSender) {
		s.turnOn(withSender)
	}
	answer := s.hub.featuresLine()
	if line.HasFeature(wire.FeatureWorkQueue) {
		s.turnOnWorkQueue()
		answer = append(answer, ","+wire.FeatureWorkQueue...)
	}
	if line.HasFeature(wire.FeatureConnectionID) {
		s.showID()
		answer = append(answer, ","+wire.FeatureConnectionID...)
	}
	if line.HasFeature(wire.FeatureOwn) {
		s.turnOn(withOwn)
		answer = append(answer, ","+wire.FeatureOwn...)
	}
	if line.HasFeature(wire.FeatureReasons) {
		s.tellsReasons.Store(true)
		answer = append(answer, ","+wire.FeatureReasons...)
	}
	s.QueueControl(Text, answer)
}

// showID has all ERR lines that are queued for the client from here on end with its connection id.
func (s *Session) showID() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showsID = true
}

func (s *Session) watchLink() {
	w := &s.hub.linkWatch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		w.sessions = map[*Session]struct{}{}
	}
	w.sessions[s] = struct{}{}
	s.notifyLink()
}

// notifyLink tells the client whether the link is up or down, unless that is what it was
// told last. A client that was told nothing takes it to be up.
func (s *Session) notifyLink() {
	s.mu.Lock()
	defer s.mu.Unlock()
	down := !s.hub.IsLinked()
	if s.linkDownSent == down {
		return
	}
	s.linkDownSent = down
	line := wire.LineLinkUp
	if down {
		line = wire.LineLinkDown
	}
	s.queueControlLocked(Text, []byte(line))
}

// unwatch is called when a session ends.
func (w *linkWatch) unwatch(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, s)
}

// linkChanged starts to tell the sessions. It does not wait.
func (w *linkWatch) linkChanged(h *Hub) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = true
	if !w.notifying && len(w.sessions) > 0 {
		w.notifying = true
		h.Go(w.notifyAll) // each session holds the group open
	}
}

// notifyAll tells the sessions, until the link has not changed meanwhile.
func (w *linkWatch) notifyAll() {
	for {
		w.mu.Lock()
		if w.notifying = w.changed; !w.notifying {
			w.mu.Unlock()
			return
		}
		w.changed = false
		list := slices.Collect(maps.Keys(w.sessions))
		w.mu.Unlock()
		for _, s := range list {
			s.notifyLink()
		}
	}
}
