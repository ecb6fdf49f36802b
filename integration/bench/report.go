package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/millrace/millrace/internal/loadgen"
)

// A report is all that was measured; its JSON form is what -json writes.
type report struct {
	Machine  machine   `json:"machine"`
	Scale    scale     `json:"scale"`
	Runs     []run     `json:"runs"`
	Marks    []mark    `json:"marks"`
	Fairness []fairRow `json:"fairness"`
	Caps     []capRow  `json:"caps"`

	Subscriptions []subscriptionRow `json:"subscriptions"`
}

func newReport(s scale) *report { return &report{Scale: s} }

// cells groups the runs.
func (r *report) cells() map[place]cell {
	cells := map[place]cell{}
	for _, run := range r.Runs {
		at := place{run.Server, run.Measure}
		cells[at] = append(cells[at], run)
	}
	return cells
}

// rowNames are the servers as the table shows them.
var rowNames = map[string]string{
	floorQueue:   "floor `queue`",
	floorEqual:   "floor `queue`, messages as long as Millrace's",
	floorEach:    "floor `each`",
	natsServer:   "nats-server, WebSocket",
	mochiMQTT:    "mochi-mqtt, WebSocket",
	socketIO:     "Socket.IO, WebSocket",
	natsPair:     "two nats-servers, WebSocket: over a route",
	millrace:     "**Millrace**",
	millraceNATS: "**Millrace**, with `broker nats`",
	millraceHop:  "**Millrace**, over two edges",

	millraceOther: "**Millrace**, a history keeps another channel",
	millraceKept:  "**Millrace**, kept in memory",
	millraceDisk:  "**Millrace**, kept on disk (Badger)",
}

// write prints the report for people.
func (r *report) write(w io.Writer) {
	cells := r.cells()
	fmt.Fprintf(w, "\n%s\n", r.Machine)
	fmt.Fprintf(w, "%d rounds of %v after %v; %d subscribers\n", r.Scale.Rounds, r.Scale.Duration, r.Scale.Warmup, r.Scale.Subscribers)
	if len(cells) > 0 {
		fmt.Fprint(w, "\nDeliveries/s (CPU seconds of the server for a million deliveries); medians of the rounds\n\n")
		r.writeTable(w, cells)
		fmt.Fprintln(w)
		r.writeSpread(w, cells)
	}
	r.Marks = nil
	for _, m := range marks() {
		if m.evaluate(cells) {
			r.Marks = append(r.Marks, m)
		}
	}
	if len(r.Marks) > 0 {
		fmt.Fprintln(w, "\nMarks: the median of the rounds' ratios, and their spread")
	}
	for i := range r.Marks {
		fmt.Fprintf(w, "- %s\n", &r.Marks[i])
	}
	if len(r.Fairness) > 0 {
		fmt.Fprintln(w, "\nFairness: p99 with a disturbance, in turns with p99 without")
	}
	for i := range r.Fairness {
		fmt.Fprintf(w, "- %s\n", r.Fairness[i])
	}
	if len(r.Subscriptions) > 0 {
		fmt.Fprintln(w, "\nSubscriptions: distinct patterns")
	}
	for i := range r.Subscriptions {
		fmt.Fprintf(w, "- %s\n", &r.Subscriptions[i])
	}
	if len(r.Caps) > 0 {
		fmt.Fprintf(w, "\nCaps: measured over %v, in %% of what was asked (mark: within %d %%)\n\n", r.Scale.CapTime, capTolerance)
		r.writeCaps(w)
	}
}

// writeTable prints the columns for which there are runs.
func (r *report) writeTable(w io.Writer, cells map[place]cell) {
	var shown []column
	for _, c := range columns {
		for _, server := range servers {
			if len(cells[place{server, c.measure}]) > 0 {
				shown = append(shown, c)
				break
			}
		}
	}
	rows := [][]string{{""}}
	for _, c := range shown {
		rows[0] = append(rows[0], c.title)
	}
	for _, server := range servers {
		row, any := []string{rowNames[server]}, false
		for _, c := range shown {
			text := c.show(cells[place{server, c.measure}])
			if over, found := strings.CutPrefix(c.measure, "webtransport-"); found {
				text += r.share(cells, server, over)
			}
			any = any || text != "–"
			row = append(row, text)
		}
		if any {
			rows = append(rows, row)
		}
	}
	writeMarkdown(w, rows)
}

// share is the rate over WebTransport in % of that over WebSocket and TLS.
func (r *report) share(cells map[place]cell, server, window string) string {
	m := mark{Against: "WebSocket over TLS", Unit: "%", figure: rate,
		ours: place{server, "webtransport-" + window}, other: place{server, "tls-" + window}}
	if !m.evaluate(cells) {
		return ""
	}
	return fmt.Sprintf(", %.0f %% of TLS", m.Value)
}

// writeSpread prints a line for each cell: the least and the most.
func (r *report) writeSpread(w io.Writer, cells map[place]cell) {
	for _, m := range measures(r.Scale) {
		for _, server := range m.servers {
			c := cells[place{server, m.key}]
			if len(c) == 0 {
				continue
			}
			fmt.Fprintf(w, "%-18s %-12s %s\n", m.key, server, c.spread(m.options.Scenario))
		}
	}
}

func (c cell) spread(scenario string) string {
	between := func(figure func(*loadgen.Result) float64, format func(float64) string) string {
		values, _ := c.values(figure)
		m := new(mark)
		m.set(values)
		return fmt.Sprintf("%s (%s–%s)", format(m.Value), format(m.Low), format(m.High))
	}
	var parts []string
	for _, r := range c {
		if r.Void != "" {
			reason, _, _ := strings.Cut(r.Void, "\n") // the log has all of it
			parts = append(parts, fmt.Sprintf("round %d VOID: %s", r.Round, reason))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	switch scenario {
	case loadgen.Idle:
		parts = append(parts, between(memory, significant)+" KiB", between(handshakes, significant)+" CPU s/1,000 handshakes")
	case loadgen.Fanout:
		parts = append(parts, between(rate, millions)+"/s", between(cpu, significant)+" CPU s/M")
	default:
		parts = append(parts, between(p99, significant)+" ms p99", between(cpu, significant)+" CPU s/M")
	}
	if scenario == loadgen.Fanout {
		if values, _ := c.values(func(r *loadgen.Result) float64 { return r.GeneratorCores }); median(values) > generatorBound {
			parts = append(parts, "the generator was the limit")
		}
	}
	others := make([]float64, len(c))
	for i, r := range c {
		others[i] = r.OtherCores
	}
	if median(others) > noisy {
		parts = append(parts, fmt.Sprintf("NOISY: others used %.2f cores", median(others)))
	}
	return strings.Join(parts, "; ")
}

// generatorBound is the share of its core from which on the generator limits the rate:
// the rate then says nothing about the server, but the server's CPU time still does.
const generatorBound = 0.95

func (r *report) writeCaps(w io.Writer) {
	rows := [][]string{{"KB/s"}}
	for _, size := range r.Scale.CapSizes {
		rows[0] = append(rows[0], fmt.Sprint(size))
	}
	for _, transport := range []string{overPlain, overWebTransport} {
		for _, direction := range []string{ingress, egress} {
			for _, payload := range capPayloads {
				row := []string{fmt.Sprintf("%s, %s, %d-byte payloads", direction, transport, payload)}
				for _, size := range r.Scale.CapSizes {
					row = append(row, r.cap(transport, direction, payload, size))
				}
				rows = append(rows, row)
			}
		}
	}
	writeMarkdown(w, rows)
}

func (r *report) cap(transport, direction string, payload, size int) string {
	for _, c := range r.Caps {
		if c.Transport != transport || c.Direction != direction || c.Payload != payload || c.KBPerSec != size {
			continue
		}
		switch {
		case c.Error != "":
			return "void: " + c.Error
		case !c.kept():
			return fmt.Sprintf("%.1f NOT kept", c.Percent)
		}
		return fmt.Sprintf("%.1f", c.Percent)
	}
	return "–"
}

// writeMarkdown prints a table whose first row is its head.
func writeMarkdown(w io.Writer, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("|---", len(row))+"|")
		}
	}
}

// save writes the JSON form to a file.
func (r *report) save(file string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
