package pubsub

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// drainSet is a set of sessions that are drained together. Guarded by the hub's
// mutex, except for the channel.
type drainSet struct {
	remaining map[*Session]struct{} // those that are not detached yet
	emptied   chan struct{}         // closed when none remains
	undone    bool                  // nobody else is told to reconnect; remaining has those who were
}

// Drain ends the hub's service. New sessions are refused. Every client is told to
// reconnect elsewhere, one after the other over the first part of the configured period,
// or sooner where there are few, and sessions that are left at its end are closed with 1001. Drain returns at once; the
// channel is closed when the last session is detached. Calls after the first change
// nothing, until [Hub.Undrain].
func (h *Hub) Drain() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drain()
}

// drain is Drain. The caller holds h.mu.
func (h *Hub) drain() <-chan struct{} {
	if h.draining == nil {
		close(h.quit)
		if d, ok := h.broker.(Directory); ok {
			d.SetDraining(true)
		}
		h.draining = h.startDrain(maps.Clone(h.sessions), "the edge stops")
	}
	return h.draining.emptied
}

// Shutdown is Drain for good: Undrain fails from then on.
func (h *Hub) Shutdown() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopping = true
	return h.drain()
}

// Undrain takes [Hub.Drain] back: new sessions are accepted again, and nobody else is told to
// reconnect. Clients that were told go on to leave, as the protocol has it: those that are left
// at the end of the drain period are closed with 1001. It changes nothing where the hub does
// not drain, and fails with [ErrStopping] after [Hub.Shutdown].
func (h *Hub) Undrain() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopping:
		return ErrStopping
	case h.draining == nil:
		return nil
	}
	l := h.draining
	h.draining, h.quit = nil, make(chan struct{})
	l.undone = true
	maps.DeleteFunc(l.remaining, func(s *Session, _ struct{}) bool { return !s.hasSentReconnect() })
	h.drainSets = slices.DeleteFunc(h.drainSets, func(other *drainSet) bool { return other == l && l.isOver() })
	if d, ok := h.broker.(Directory); ok {
		d.SetDraining(false)
	}
	return nil
}

// DrainListener drains the sessions of one listener, as Drain does with all; the others
// stay. New sessions are not refused.
func (h *Hub) DrainListener(listener string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	sessions := map[*Session]struct{}{}
	for s := range h.sessions {
		if s.client.Listener == listener {
			sessions[s] = struct{}{}
		}
	}
	return h.startDrain(sessions, "the edge no longer listens here").emptied
}

// startDrain starts the drain of sessions, and takes over the map. The caller holds h.mu,
// and the hub is not closed.
func (h *Hub) startDrain(sessions map[*Session]struct{}, reason string) *drainSet {
	l := &drainSet{remaining: sessions, emptied: make(chan struct{})}
	if len(sessions) == 0 {
		close(l.emptied)
		return l
	}
	h.drainSets = append(h.drainSets, l)
	list := slices.Collect(maps.Keys(sessions))
	h.wg.Go(func() { h.runDrain(l, list, reason) }) // each session holds the group open
	return l
}

// leaveDrainSets removes a detached session from the sets that it is in. The caller holds
// h.mu.
func (h *Hub) leaveDrainSets(s *Session) {
	h.drainSets = slices.DeleteFunc(h.drainSets, func(l *drainSet) bool {
		delete(l.remaining, s)
		return l.isOver()
	})
}

// isOver reports whether none is left of a set that had some, and closes its channel then. The
// caller holds h.mu, and takes such a set out of h.drainSets.
func (l *drainSet) isOver() bool {
	if len(l.remaining) > 0 {
		return false
	}
	close(l.emptied)
	return true
}

// tell tells a client to reconnect, and reports false if the drain is undone.
func (h *Hub) tell(l *drainSet, s *Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.undone {
		return false
	}
	s.sendReconnect()
	return true
}

// left returns those of a set that are not detached yet.
func (h *Hub) left(l *drainSet) []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(l.remaining))
}

// runDrain tells the clients to reconnect, waits, and closes what is left.
func (h *Hub) runDrain(l *drainSet, sessions []*Session, reason string) {
	period := h.limits.Load().Drain
	end := time.NewTimer(period)
	defer end.Stop()
	rand.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	spread := max(0, period-lastReconnect)
	spread = min(spread, maxReconnectGap*time.Duration(len(sessions))) // few clients are no crowd, and have the rest of the period
	start := time.Now()
	for i, s := range sessions {
		if !sleep(time.Until(start.Add(spread*time.Duration(i)/time.Duration(len(sessions)))), l.emptied) {
			return
		}
		if !h.tell(l, s) {
			break
		}
	}
	select {
	case <-l.emptied:
		return
	case <-end.C:
	}
	for _, s := range h.left(l) {
		s.close(closeStatus{code: wire.CloseGoingAway, reason: reason})
	}
}

// sleep waits for d, and reports false if until was closed, or sent something, before.
func sleep(d time.Duration, until <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-until:
		return false
	}
}
