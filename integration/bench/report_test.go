package main

import (
	"math"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/loadgen"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{0.07124: "0.0712", 0.305: "0.305", 1.3449: "1.34", 51.57: "51.6", 127.6: "128", 99.99: "100", 9.999: "10.0"} {
		if got := significant(v); got != want {
			t.Errorf("significant(%v) = %s, want %s", v, got, want)
		}
	}
}

// runOf is a run of a fan-out.
func runOf(server, measure string, cpu float64, void string) run {
	return run{Server: server, Measure: measure, Void: void,
		Measurement: &loadgen.Result{ServerCPUSecondsPerMillion: cpu, DeliveriesPerSecond: 1e6 / cpu}}
}

// TestMarks divides round by round, and takes the median then.
func TestMarks(t *testing.T) {
	r := newReport(fullScale)
	for i, cpus := range [][2]float64{{0.10, 0.20}, {0.20, 0.26}, {0.10, 0.15}} {
		for _, x := range []run{runOf(floorQueue, "fanout-128", cpus[0], ""), runOf(millrace, "fanout-128", cpus[1], "")} {
			x.Round = i + 1
			r.Runs = append(r.Runs, x)
		}
	}
	var out strings.Builder
	r.write(&out)
	if want := "- fan-out plain w=128, CPU: 1.50 × floor queue (1.30–2.00; mark 1.50): reached\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
	r.Runs[1].Measurement.ServerCPUSecondsPerMillion = 0.40
	r.Runs[5].Measurement.ServerCPUSecondsPerMillion = 0.151
	out.Reset()
	r.write(&out)
	if want := "1.51 × floor queue (1.30–4.00; mark 1.50): NOT reached\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}

// TestVoid shows no figure where a message was lost, and judges no mark by it.
func TestVoid(t *testing.T) {
	r := newReport(fullScale)
	r.Runs = []run{
		runOf(floorQueue, "fanout-128", 0.1, ""),
		runOf(millrace, "fanout-128", 0.1, ""),
		runOf(floorQueue, "fanout-128", 0.1, ""),
		runOf(millrace, "fanout-128", 0.1, "lost 1 of 2 deliveries\nand more"),
	}
	var out strings.Builder
	r.write(&out)
	for _, want := range []string{"| **Millrace** | void |", "VOID: lost 1 of 2 deliveries\n", "| floor `queue` | 10.0 M (0.100) |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Marks") {
		t.Errorf("a mark is judged by a void run:\n%s", out.String())
	}
}

func TestFairRow(t *testing.T) {
	quiet := func(p99 float64) run { return run{Measurement: &loadgen.Result{P99us: p99 * 1000}} }
	row := fairRow{Group: groupStalled, Name: "x", Mark: true, Ratio: fairRatio, HeapLimit: 1 << 20}
	row.add(quiet(10), quiet(11), fairExtra{Heap: 1 << 19})
	if got, want := row.String(), "x: p99 10.0 → 11.0 ms: 1.10 × undisturbed (1.10–1.10; mark 1.10): reached; "+
		"the edge's live heap: 0.500 MiB (0.500–0.500; mark 1.00): reached"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	row = fairRow{Group: groupCrowd, Name: "x", Mark: true, LimitMs: 20}
	row.add(quiet(1), quiet(21), fairExtra{})
	if got, want := row.String(), "x: p99 1.00 → 21.0 ms: 21.0 ms (21.0–21.0; mark 20.0): NOT reached"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	busy := quiet(1)
	busy.OtherCores = 2 * noisy
	row.add(quiet(1), busy, fairExtra{})
	if got, want := row.String(), "21.0 ms (21.0–21.0; mark 20.0): NOT reached; without 1 NOISY of 2 rounds"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	alone := fairRow{Group: groupCrowd, Name: "x"}
	alone.add(busy, quiet(1), fairExtra{})
	if got, want := alone.String(), "x: void, NOISY: others used 0.30 cores"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	row.add(quiet(1), run{Void: "lost"}, fairExtra{})
	if got := row.String(); !strings.Contains(got, "void") {
		t.Errorf("%q", got)
	}
}

func TestFlags(t *testing.T) {
	t.Setenv("SERVERS", "millrace, floor-queue")
	t.Setenv("ROUNDS", "7")
	o, s, err := parseFlags([]string{"-scenarios", "rooms"})
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Servers) != 2 || len(o.Groups) != 1 || s.Rounds != 7 {
		t.Errorf("%+v %+v", o, s)
	}
	for _, wrong := range []string{"-scenarios=x", "-servers=", "-rounds=0", "-duration=5", "-subscribers=0", "-attackers=0", "-row=none", "extra"} {
		if _, _, err := parseFlags([]string{wrong}); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

func TestCapGroups(t *testing.T) {
	groups, rows := capGroups(fullScale.CapSizes), 0
	for _, group := range groups {
		load := 0
		for _, row := range group {
			load += row.KBPerSec
		}
		if load > capsTogether {
			t.Errorf("%d KB/s at the same time", load)
		}
		rows += len(group)
	}
	if rows != 32 {
		t.Errorf("%d caps, want 32", rows)
	}
}
