package pubsub

import (
	"maps"
	"slices"
	"sync"

	"github.com/millrace/millrace/wire"
)

// linkWatch tells the sessions that want to know when the link to the other edges is
// lost, and when it is back.
type linkWatch struct {
	mu       sync.Mutex // taken before a session's
	sessions map[*Session]struct{}
	telling  bool // by a goroutine
	again    bool // the link has changed since that has begun
}

// handleFeatures turns features on, and then says which there are.
func (s *Session) handleFeatures(line wire.Line) {
	if line.HasFeature(wire.FeatureLink) {
		s.watchLink()
	}
	s.Control(Text, []byte(wire.LineFeatures))
}

func (s *Session) watchLink() {
	w := &s.hub.linkWatch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		w.sessions = map[*Session]struct{}{}
	}
	w.sessions[s] = struct{}{}
	s.tellLink()
}

// tellLink says how the link is, if the client was told otherwise, or it is down and the
// client was told nothing.
func (s *Session) tellLink() {
	s.mu.Lock()
	defer s.mu.Unlock()
	down := !s.hub.IsLinked()
	if s.linkDown == down {
		return
	}
	s.linkDown = down
	line := wire.LineLinkUp
	if down {
		line = wire.LineLinkDown
	}
	s.control(Text, []byte(line))
}

// unwatch is called when a session ends.
func (w *linkWatch) unwatch(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, s)
}

// tell has all sessions told that want it. It does not wait.
func (w *linkWatch) tell(h *Hub) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = true
	if !w.telling && len(w.sessions) > 0 {
		w.telling = true
		h.Go(w.tellAll) // each session holds the group open
	}
}

func (w *linkWatch) tellAll() {
	for {
		w.mu.Lock()
		if w.telling = w.again; !w.telling {
			w.mu.Unlock()
			return
		}
		w.again = false
		list := slices.Collect(maps.Keys(w.sessions))
		w.mu.Unlock()
		for _, s := range list {
			s.tellLink()
		}
	}
}
