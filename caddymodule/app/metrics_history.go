package app

import (
	"cmp"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/millrace/millrace/pubsub/history"
)

// historyUsage is what a history keeps of all tenants.
type historyUsage struct {
	messages int
	bytes    int64
}

// historyState is how a history stands, in figures.
type historyState struct {
	history.State

	usable, drifts bool
}

// historyUp has a series for each history that is configured.
var historyUp = historyGauge("up", "Whether this edge can use a history: 0 when that is out of reach for longer than calls wait for it, or could not be defined, or made.",
	func(s *historyState) *history.Definition {
		if s.Configured == nil || s.Configured.Retired {
			return nil
		}
		return s.Configured
	},
	func(s *historyState, _ *history.Definition) float64 { return number01(s.usable) })

// historyDrift has a series for each history that is configured, or that all edges follow.
var historyDrift = historyGauge("drift", "Whether a history is kept otherwise than this edge's configuration says, or in none: 1.",
	func(s *historyState) *history.Definition { return cmp.Or(s.Configured, s.Effective) },
	func(s *historyState, _ *history.Definition) float64 { return number01(s.drifts) })

// What all edges follow, by history.
var (
	historyVersion = effectiveGauge("version", "Version of the definition that all edges follow, by history.",
		func(d *history.Definition) float64 { return float64(d.Version) })
	historyMaxMessages = effectiveGauge("max_messages", "Messages of each channel that are kept at most, by history.",
		func(d *history.Definition) float64 { return float64(d.Limits.Messages) })
	historyMaxAge = effectiveGauge("max_age_seconds", "Age that messages have at most, by history.",
		func(d *history.Definition) float64 { return d.Limits.Age.Seconds() })
	historyMaxBytes = effectiveGauge("max_bytes", "Bytes that are kept at most, bookkeeping included, by history.",
		func(d *history.Definition) float64 { return float64(d.Limits.Size) })
)

func effectiveGauge(name, help string, value func(*history.Definition) float64) family {
	return historyGauge(name, help, func(s *historyState) *history.Definition { return s.Effective },
		func(_ *historyState, d *history.Definition) float64 { return value(d) })
}

// historyGauge has a series for each defined history.
func historyGauge(
	name, help string, definition func(*historyState) *history.Definition, value func(*historyState, *history.Definition) float64,
) family {
	return newFamily(prometheus.GaugeValue, "history_"+name, help, []string{"history"}, func(s *snapshot, add func(float64, ...string)) {
		for _, name := range slices.Sorted(maps.Keys(s.histories)) {
			state := s.histories[name]
			if d := definition(&state); d != nil {
				add(value(&state, d), name)
			}
		}
	})
}

// historyStates says how each history stands.
func (a *App) historyStates() map[string]historyState {
	all := map[string]historyState{}
	for name, state := range a.running.HistoryStates() {
		if state.Configured != nil && state.Configured.Retired && state.Effective == nil {
			continue // nobody keeps it
		}
		all[name] = historyState{state, state.Err == nil, len(state.Drift()) > 0}
	}
	return all
}

// historyUsage is what is kept, by history; nil: the edge has no store of histories. Of a
// store of several edges, it is what this edge receives: nobody waits for a network here.
func (a *App) historyUsage() map[string]historyUsage {
	if a.running.history == nil {
		return nil
	}
	sums := map[string]historyUsage{}
	add := func(list []history.Usage) {
		for _, u := range list {
			sum := sums[u.History]
			sums[u.History] = historyUsage{sum.messages + u.Messages, sum.bytes + u.Bytes}
		}
	}
	if shared, ok := a.running.history.Store.(history.Shared); ok {
		for name, list := range shared.UsageNow() {
			sums[name] = historyUsage{}
			add(list)
		}
		return sums
	}
	list, err := a.running.history.Usage()
	if err != nil {
		return sums
	}
	for _, h := range a.histories.set.All() {
		sums[h.Name] = historyUsage{}
	}
	add(list)
	return sums
}

// historyFamily has a series for each history that is configured, or keeps something.
func historyFamily(name, help string, value func(historyUsage) float64) family {
	return newFamily(prometheus.GaugeValue, name, help, []string{"history"}, func(s *snapshot, add func(float64, ...string)) {
		for _, name := range slices.Sorted(maps.Keys(s.kept)) {
			add(value(s.kept[name]), name)
		}
	})
}

// historyCounter is there only where the edge has a store of histories.
func historyCounter(name, help string, value func(*snapshot) uint64) family {
	return newFamily(prometheus.CounterValue, name, help, nil, func(s *snapshot, add func(float64, ...string)) {
		if s.kept != nil {
			add(float64(value(s)))
		}
	})
}
