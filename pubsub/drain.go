package pubsub

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/millrace/millrace/wire"
)

// drainSet is a set of sessions that were asked to leave. Guarded by the hub's
// mutex, the channel excepted.
type drainSet struct {
	remaining map[*Session]struct{}
	emptied   chan struct{} // closed when left is empty
}

// Drain ends the hub's service: new sessions are refused, every client is told
// to reconnect elsewhere, the telling spread over the first part of the
// configured period, and who is still there at its end is closed with 1001. It
// returns at once; the channel is closed when the last session has ended. Calls
// after the first change nothing.
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

// DrainListener asks the sessions that came in by a listener to leave, as Drain
// does with all; the others stay. It does not refuse new ones.
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

// startDrain starts the drain of sessions, a map that becomes its own. The caller
// holds h.mu, and the hub is not closed.
func (h *Hub) startDrain(sessions map[*Session]struct{}, why string) *drainSet {
	l := &drainSet{remaining: sessions, emptied: make(chan struct{})}
	if len(sessions) == 0 {
		close(l.emptied)
		return l
	}
	h.drainSets = append(h.drainSets, l)
	list := slices.Collect(maps.Keys(sessions))
	h.wg.Go(func() { h.runDrain(list, l.emptied, why) }) // each session holds the group open
	return l
}

// leaveDrainSets takes a session that has ended off the sets that wait for it. The caller
// holds h.mu.
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

func (h *Hub) runDrain(sessions []*Session, gone <-chan struct{}, why string) {
	period := h.limits.Load().Drain
	end := time.NewTimer(period)
	defer end.Stop()
	rand.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	spread := max(0, period-lastReconnect)
	start := time.Now()
	for i, s := range sessions {
		if !sleep(time.Until(start.Add(spread*time.Duration(i)/time.Duration(len(sessions)))), gone) {
			return
		}
		s.sendReconnect()
	}
	select {
	case <-gone:
		return
	case <-end.C:
	}
	for _, s := range sessions {
		s.close(closeStatus{code: wire.CloseGoingAway, reason: why})
	}
}

// sleep waits, and reports false if something came from the channel meanwhile.
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
