package main

import (
	"fmt"
	"slices"
)

// A fairRow is a disturbance with its figures, in the order of rounds.
type fairRow struct {
	Group     string  `json:"group"`
	Name      string  `json:"name"`
	Mark      bool    `json:"mark"`               // there is a limit for it
	LimitMs   float64 `json:"limit_ms,omitempty"` // of the disturbed p99; 0: Ratio
	Ratio     float64 `json:"ratio"`              // of the disturbed p99 to the undisturbed one
	HeapLimit int     `json:"heap_limit_bytes,omitempty"`

	Undisturbed []float64 `json:"undisturbed_p99_ms"`
	Disturbed   []float64 `json:"disturbed_p99_ms"`
	Heap        []int64   `json:"heap_growth_bytes"`
	Through     []float64 `json:"disturbance_kb_per_sec"`   // payload that the disturbance's subscribers received
	Reload      []float64 `json:"reload_seconds,omitempty"` // how long a reload took during the disturbance
	Dialed      []float64 `json:"dialed_per_sec"`           // connections that the disturbance opened and closed
	Lost        []float64 `json:"lost_connections"`         // of the disturbance, in each round
	// Waited is how long the edge made all messages and connections of the disturbed run wait together, from before its
	// subscribers connect, and with its warm-up; of those groups that showsWaits.
	Waited     []float64 `json:"waited_seconds,omitempty"`
	OtherCores []float64 `json:"other_cores"` // that other processes used, in the worse run of a round
	Void       []string  `json:"void,omitempty"`
}

// fairExtra is what a disturbance measures beside the p99.
type fairExtra struct {
	Heap   int64   // growth of the edge's live heap, bytes
	Reload float64 // seconds; 0: there was none
	effect
	Waited float64 // s; see fairRow
}

// add adds the two runs of a round.
func (f *fairRow) add(quiet, disturbed run, extra fairExtra) {
	for _, r := range []run{quiet, disturbed} {
		if r.Void != "" {
			f.Void = append(f.Void, r.Void)
			return
		}
	}
	f.Undisturbed = append(f.Undisturbed, p99(quiet.Measurement))
	f.Disturbed = append(f.Disturbed, p99(disturbed.Measurement))
	f.Heap = append(f.Heap, extra.Heap)
	f.Through = append(f.Through, extra.Through)
	if showsWaits(f.Group) {
		f.Waited = append(f.Waited, extra.Waited)
	}
	f.Dialed = append(f.Dialed, extra.Dialed)
	f.Lost = append(f.Lost, float64(extra.Lost))
	f.OtherCores = append(f.OtherCores, max(quiet.OtherCores, disturbed.OtherCores))
	if extra.Reload > 0 {
		f.Reload = append(f.Reload, extra.Reload)
	}
}

// String is like "one of the subscribers never reads: p99 7.1 → 7.3 ms: 1.03 ×
// undisturbed (0.99–1.05; mark 1.1): reached".
func (f fairRow) String() string {
	if len(f.Void) > 0 || len(f.Disturbed) == 0 {
		return fmt.Sprintf("%s: void %q", f.Name, f.Void)
	}
	least, rounds := slices.Min(f.OtherCores), len(f.OtherCores)
	f = f.withoutNoise()
	if len(f.OtherCores) == 0 {
		return fmt.Sprintf("%s: void, NOISY: others used %.2f cores", f.Name, least)
	}
	name := fmt.Sprintf("%s: p99 %s → %s ms", f.Name, significant(median(f.Undisturbed)), significant(median(f.Disturbed)))
	m := mark{Name: name, Unit: "×", Against: "undisturbed"}
	values := make([]float64, len(f.Disturbed))
	for i := range values {
		values[i] = f.Disturbed[i] / f.Undisturbed[i]
	}
	if f.Mark {
		m.Limit = f.Ratio
		if f.LimitMs > 0 {
			m = mark{Name: name, Unit: "ms", Limit: f.LimitMs}
			values = f.Disturbed
		}
	}
	m.set(values)
	text := m.String()
	if f.HeapLimit > 0 {
		heap := make([]float64, len(f.Heap))
		for i, bytes := range f.Heap {
			heap[i] = float64(bytes) / (1 << 20)
		}
		memory := mark{Name: "; the edge's live heap", Unit: "MiB", Limit: float64(f.HeapLimit) / (1 << 20)}
		memory.set(heap)
		text += memory.String()
	}
	if len(f.Reload) > 0 {
		text += fmt.Sprintf("; a reload took %s s", significant(median(f.Reload)))
	}
	if slices.Max(f.Dialed) > 0 {
		text += fmt.Sprintf("; it made %.0f connections/s", median(f.Dialed))
	}
	if lost := slices.Max(f.Lost); lost > 0 {
		text += fmt.Sprintf("; it lost %.0f of its connections", lost)
	}
	if showsWaits(f.Group) {
		text += fmt.Sprintf("; %.0f KB/s of its payload came through, messages and connections of the measured tenant waited %s s, its set-up and warm-up included",
			median(f.Through), significant(median(f.Waited)))
	}
	if n := rounds - len(f.OtherCores); n > 0 {
		text += fmt.Sprintf("; without %d NOISY of %d rounds", n, rounds)
	}
	return text
}

// withoutNoise leaves out rounds in which other processes were busy: a p99 is whatever they did.
func (f fairRow) withoutNoise() fairRow {
	others := f.OtherCores
	for _, values := range []*[]float64{&f.Undisturbed, &f.Disturbed, &f.Through, &f.Reload, &f.Dialed, &f.Lost, &f.Waited, &f.OtherCores} {
		*values = quietOf(*values, others)
	}
	f.Heap = quietOf(f.Heap, others)
	return f
}

// quietOf returns those values, of each round or none, in whose round others used few cores.
func quietOf[T any](values []T, others []float64) (kept []T) {
	for i, v := range values {
		if others[i] <= noisy {
			kept = append(kept, v)
		}
	}
	return kept
}

// showsWaits reports whether the rows of a group show how long the measured tenant waited for its share.
func showsWaits(group string) bool { return group == groupTenant || group == groupIssuer }
