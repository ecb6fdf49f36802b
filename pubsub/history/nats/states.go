package nats

import (
	"cmp"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// States implements [history.Shared]. It leaves Reason to those who know what NATS's errors mean.
func (s *Store) States() map[string]history.State {
	all := map[string]history.State{}
	s.mu.Lock()
	if s.doc != nil {
		for _, d := range s.doc.definitions() {
			all[d.Name] = history.State{Effective: &d}
		}
	}
	for name, w := range s.wanted {
		all[name] = s.stateOf(&w, all[name])
	}
	streams := maps.Clone(s.streams)
	s.mu.Unlock()
	for name, st := range streams {
		st.mu.Lock()
		if st.away {
			state := all[name]
			state.InUse, state.Err = true, cmp.Or(st.why, errNotReceived)
			all[name] = state
		}
		st.mu.Unlock()
	}
	return all
}

// stateOf adds what this edge wants of a history to its state. The caller holds s.mu.
func (s *Store) stateOf(w *wantedDefinition, state history.State) history.State {
	d, why := w.definition, error(nil)
	state.Configured = &d
	if w.refused || !w.since.IsZero() && time.Since(w.since) > s.patience {
		why = cmp.Or(w.why, errNotReceived)
	}
	switch {
	case d.Retired, state.Effective != nil && w.refused: // what is effective can be used
		state.Pending = why
	case state.Effective == nil && s.invalid != nil:
		state.Err = s.invalid
	case state.Effective == nil && why == nil && w.done && s.doc != nil:
		state.Err = history.ErrRetired
	default:
		state.Err = why
	}
	return state
}

// logDrift logs each difference between what is configured and what is effective when it begins, changes
// and ends. known has what was logged.
func (s *Store) logDrift(known map[string]string) {
	now := map[string]string{}
	for name, state := range s.States() {
		list := state.Drift()
		if len(list) == 0 || state.Configured != nil && state.Configured.Version > state.Effective.Version && state.Pending == nil {
			continue // it is about to be defined
		}
		now[name] = history.DriftText(list)
		if now[name] != known[name] {
			s.log.Warn("a history is kept otherwise than this edge's configuration says",
				zap.String("history", name), zap.String("kept", now[name]), zap.String("remedy", state.Remedy()))
		}
	}
	for name := range known {
		if now[name] == "" {
			s.log.Info("a history is kept as this edge's configuration says again", zap.String("history", name))
		}
	}
	clear(known)
	maps.Copy(known, now)
}
