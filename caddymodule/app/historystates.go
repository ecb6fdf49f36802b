package app

import (
	"maps"
	"slices"

	"github.com/millrace/millrace/pubsub/history"
)

// HistoryStates says how each history stands that is configured, or that all edges follow. It waits for nothing.
func (r *Running) HistoryStates() map[string]history.State {
	store := r.HistoryStore()
	if shared, ok := store.(history.Shared); ok {
		return shared.States()
	}
	all := map[string]history.State{} // of this edge alone: what it has configured is effective
	for _, h := range r.histories.All() {
		state := history.State{Configured: &h.Definition, Effective: &h.Definition}
		if health, ok := store.(history.HealthReporter); ok {
			if state.Err = health.Usable(); state.Err != nil {
				state.Reason = "the disk has no room for more"
			}
		}
		all[h.Name] = state
	}
	return all
}

// HistoryTroubles lists for strangers, with the reason, the histories of the configuration that clients here use and
// that cannot be used, the others that cannot be, and in what those differ that are kept otherwise.
func (r *Running) HistoryTroubles() (outOfReach, unusable, drift []string) {
	all := r.HistoryStates()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		state := all[name]
		because := ""
		if state.Reason != "" {
			because = " (" + state.Reason + ")"
		}
		switch {
		case state.Err == nil:
		case state.InUse:
			outOfReach = append(outOfReach, name+because)
		default:
			unusable = append(unusable, name+because)
		}
		if list := state.Drift(); len(list) > 0 {
			fields := ""
			for _, d := range list {
				fields += ", " + d.Field
			}
			drift = append(drift, name+": "+fields[2:])
		}
	}
	return outOfReach, unusable, drift
}
