package app

import (
	"errors"
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

// historyUp has a series for each history that is configured.
var historyUp = newFamily(prometheus.GaugeValue, "history_up", "Whether this edge can use a history: 0 when that is out of reach for longer than calls wait for it, or could not be defined.",
	[]string{"history"}, func(s *snapshot, add func(float64, ...string)) {
		for _, name := range slices.Sorted(maps.Keys(s.historyUp)) {
			add(number01(s.historyUp[name]), name)
		}
	})

// historiesUp says which histories of the configuration this edge can use.
func (a *App) historiesUp() map[string]bool {
	up, out := map[string]bool{}, a.running.outOfReach()
	for _, name := range a.running.HistoryNames() {
		up[name] = out[name] == nil
	}
	return up
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

// outOfReach says, by history, why this edge cannot use those that it cannot; nil: the edge has no store of
// histories. What it has on its own disk or in memory is never out of reach.
func (r *Running) outOfReach() map[string]error {
	if shared, ok := r.HistoryStore().(history.Shared); ok {
		return shared.OutOfReach()
	}
	return nil
}

// HistoryTroubles lists the histories that are out of reach, and those that could not be defined so far.
func (r *Running) HistoryTroubles() (outOfReach, undefined []string) {
	all := r.outOfReach()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if errors.Is(all[name], history.ErrUnknown) {
			undefined = append(undefined, name)
		} else {
			outOfReach = append(outOfReach, name)
		}
	}
	return outOfReach, undefined
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
