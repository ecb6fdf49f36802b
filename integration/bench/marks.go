package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/millrace/millrace/internal/loadgen"
)

// A mark is a goal of the project: a figure of Millrace, alone or divided by that of
// another server in the same round.
type mark struct {
	Name    string  `json:"name"`
	Against string  `json:"against,omitempty"` // what it is a ratio to
	Unit    string  `json:"unit,omitempty"`
	Limit   float64 `json:"limit"`
	AtLeast bool    `json:"at_least,omitempty"` // otherwise at most

	Value, Low, High float64 // median, and the spread over the rounds

	ours, other place
	figure      func(r *loadgen.Result) float64
}

// A place is a cell of the results.
type place struct{ server, measure string }

// marks are those of the table, in its order.
func marks() []mark {
	var list []mark
	ratio := func(name, measure, server, against string, limit float64, figure func(r *loadgen.Result) float64) {
		list = append(list, mark{Name: name, Against: against, Unit: "×", Limit: limit, figure: figure,
			ours: place{millrace, measure}, other: place{server, measure}})
	}
	ratio("fan-out plain w=128, CPU", "fanout-128", floorQueue, "floor queue", 1.5, cpu)
	ratio("fan-out plain w=16, CPU", "fanout-16", floorQueue, "floor queue", 1.25, cpu)
	ratio("fan-out plain w=1, CPU", "fanout-1", floorEach, "floor each", 1.15, cpu)
	ratio("fan-out TLS w=128, CPU", "tls-128", floorQueue, "floor queue over TLS", 1.5, cpu)
	ratio("50/s × 1,000 subscribers, p99", "latency", floorQueue, "floor queue", 1.15, p99)
	for _, m := range []struct {
		name, measure, unit string
		limit               float64
		figure              func(r *loadgen.Result) float64
	}{
		{"rooms 200×10, p99", "rooms", "ms", 0.5, p99},
		{"idle, plain", "idle", "KiB", 8, memory},
		{"idle, TLS", "idle-tls", "KiB", 24, memory},
		{"idle, WebTransport", "idle-webtransport", "KiB", 125, memory},
	} {
		list = append(list, mark{Name: m.name, Unit: m.unit, Limit: m.limit, figure: m.figure, ours: place{millrace, m.measure}})
	}
	ratio("handshakes, CPU", "idle", natsServer, "nats-server", 1, handshakes)
	for _, w := range []struct {
		window int
		limit  float64
	}{{128, 22}, {16, 28}, {1, 35}} {
		list = append(list, mark{
			Name: fmt.Sprintf("WebTransport w=%d, rate", w.window), Against: "WebSocket over TLS", Unit: "%", Limit: w.limit, AtLeast: true,
			figure: rate, ours: place{millrace, fmt.Sprintf("webtransport-%d", w.window)}, other: place{millrace, fmt.Sprintf("tls-%d", w.window)},
		})
	}
	histories := func(name, measure, server, unit string, limit float64, atLeast bool, figure func(r *loadgen.Result) float64) {
		list = append(list, mark{Name: name, Against: "Millrace without histories", Unit: unit, Limit: limit, AtLeast: atLeast, figure: figure,
			ours: place{server, measure}, other: place{millrace, measure}})
	}
	histories("a channel outside histories w=128, CPU", "histories-128", millraceOther, "×", 1.02, false, cpu)
	histories("kept in memory w=128, rate", "histories-128", millraceKept, "%", 80, true, rate)
	histories("kept in memory w=128, 16 publishers, rate", "histories-16", millraceKept, "%", 80, true, rate)
	histories("kept in memory w=128, 16 publishers, CPU", "histories-16", millraceKept, "×", 0, false, cpu)
	histories("kept in memory, 50/s × 1,000 subscribers, p99", "histories-latency", millraceKept, "×", 1.2, false, p99)
	// Not marks of their own, but what the bare floor leaves out.
	for _, w := range []int{128, 16} {
		ratio(fmt.Sprintf("fan-out plain w=%d, CPU", w), fmt.Sprintf("fanout-%d", w), floorEqual, "floor queue with messages as long", 0, cpu)
	}
	ratio("fan-out TLS w=128, CPU", "tls-128", floorEqual, "floor queue over TLS with messages as long", 0, cpu)
	histories("kept on disk w=128, rate", "histories-128", millraceDisk, "%", 0, true, rate)
	histories("kept on disk, 50/s × 1,000 subscribers, p99", "histories-latency", millraceDisk, "×", 0, false, p99)
	return list
}

// evaluate sets the figure of the mark. It returns false if a run that it needs is missing
// or void.
func (m *mark) evaluate(cells map[place]cell) bool {
	ours, ok := cells[m.ours].values(m.figure)
	if !ok {
		return false
	}
	if m.Against != "" {
		other, ok := cells[m.other].values(m.figure)
		if !ok || len(other) != len(ours) {
			return false
		}
		for i := range ours {
			ours[i] /= other[i]
			if m.Unit == "%" {
				ours[i] *= 100
			}
		}
	}
	return m.set(ours)
}

// set takes the figure of each round, and reports whether all are numbers.
func (m *mark) set(values []float64) bool {
	m.Value, m.Low, m.High = median(values), slices.Min(values), slices.Max(values)
	return !math.IsNaN(m.Low) && !math.IsInf(m.High, 0)
}

// Reached reports whether the median is within the mark.
func (m *mark) Reached() bool {
	if m.AtLeast {
		return m.Value >= m.Limit
	}
	return m.Value <= m.Limit
}

// String is like
// "fan-out plain w=128, CPU: 1.32 × floor queue (1.28–1.40; mark 1.5): reached".
func (m *mark) String() string {
	text := fmt.Sprintf("%s: %s %s", m.Name, significant(m.Value), m.Unit)
	if m.Against != "" {
		if m.Unit == "%" {
			text += " of"
		}
		text += " " + m.Against
	}
	text += fmt.Sprintf(" (%s–%s", significant(m.Low), significant(m.High))
	if m.Limit == 0 {
		return text + ")"
	}
	verdict := "reached"
	if !m.Reached() {
		verdict = "NOT reached"
	}
	return text + fmt.Sprintf("; mark %s): %s", significant(m.Limit), verdict)
}
