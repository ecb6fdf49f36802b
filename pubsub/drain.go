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
}

// Drain ends the hub's service. New sessions are refused. Every client is told to
// reconnect elsewhere, one after the other over the first part of the configured period,
// or sooner where there are few, and sessions that are left at its end are closed with 1001. Drain returns at once; the
// channel is closed when the last session is detached. Calls after the first change
// nothing.
func (h *Hub) Drain() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining == nil {
		close(h.quit)
		if d, ok := h.broker.(Directory); ok {
			d.Draining()
		}
		h.draining = h.startDrain(maps.Clone(h.sessions), "the edge stops")
	}
	return h.draining.emptied
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
	h.wg.Go(func() { h.runDrain(list, l.emptied, reason) }) // each session holds the group open
	return l
}

// leaveDrainSets removes a detached session from the sets that it is in. The caller holds
// h.mu.
func (h *Hub) leaveDrainSets(s *Session) {
	h.drainSets = slices.DeleteFunc(h.drainSets, func(l *drainSet) bool {
		delete(l.remaining, s)
		if len(l.remaining) > 0 {
			return false
		}
		close(l.emptied)
		return true
	})
}

// runDrain tells the clients to reconnect, waits, and closes what is left.
func (h *Hub) runDrain(sessions []*Session, emptied <-chan struct{}, reason string) {
	period := h.limits.Load().Drain
	end := time.NewTimer(period)
	defer end.Stop()
	rand.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	spread := max(0, period-lastReconnect)
	spread = min(spread, maxReconnectGap*time.Duration(len(sessions))) // few clients are no crowd, and have the rest of the period
	start := time.Now()
	for i, s := range sessions {
		if !sleep(time.Until(start.Add(spread*time.Duration(i)/time.Duration(len(sessions)))), emptied) {
			return
		}
		s.sendReconnect()
	}
	select {
	case <-emptied:
		return
	case <-end.C:
	}
	for _, s := range sessions {
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
