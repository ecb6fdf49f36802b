package loadgen

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// short are options for a run of a tenth of a second.
func short(scenario string) Options {
	return Options{
		Scenario: scenario, Subscribers: 5, Publishers: 1, Window: 8, Burst: 3, Payload: 64,
		Duration: 80 * time.Millisecond, Warmup: 20 * time.Millisecond,
		Rate: 500, Rooms: 4, Members: 3, MemberRate: 40, Connections: 20, Dialers: 3,
	}
}

// inBubble runs a case in virtual time. The broker needs a lag where a window alone holds
// publishers back.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// fine requires that all that was published was delivered.
func fine(t *testing.T, r *Result, err error, connections int, fan int64) {
	t.Helper()
	if err != nil || r.Published == 0 || r.Delivered != r.Published*fan || r.Lost != 0 || r.Duplicates != 0 || r.Reordered != 0 ||
		r.Connections != connections || r.Seconds == 0 || r.DeliveriesPerSecond == 0 || r.HandshakesPerSecond == 0 || r.GeneratorCores == 0 || len(r.Errors) > 0 {
		t.Errorf("got %v and %+v; want %d connections and %d deliveries of each message", err, r, connections, fan)
	}
	if r.P50us <= 0 || r.P50us > r.P90us || r.P90us > r.P99us || r.P99us > r.P999us || r.P999us > r.Maxus {
		t.Errorf("the latencies do not ascend: %+v", r)
	}
}

func TestScenarios(t *testing.T) {
	several := short(Fanout)
	several.Publishers = 3
	for name, c := range map[string]struct {
		o           Options
		connections int
		fan         int64
	}{
		Fanout:               {short(Fanout), 6, 5},
		"several publishers": {several, 8, 5},
		Latency:              {short(Latency), 6, 5},
		Rooms:                {short(Rooms), 12, 3},
	} {
		inBubble(t, name, func(t *testing.T) {
			r, err := Run(t.Context(), &broker{lag: time.Millisecond}, c.o)
			fine(t, r, err, c.connections, c.fan)
			// What is on its way at the end is waited for, and so it is seen how late it was.
			late, err := Run(t.Context(), &broker{lag: 50 * time.Millisecond}, c.o)
			if err != nil || late.Published == 0 || late.Delivered != late.Published*c.fan || late.Lost != 0 || late.Maxus < 40_000 {
				t.Errorf("a slow server: got %v and %+v", err, late)
			}
			if name == Latency && r.Published != 51 { // 500/s for 0.1 s, both ends
				t.Errorf("%d published, want 51", r.Published)
			}
		})
	}
	r, err := Run(t.Context(), &broker{}, short(Idle))
	if err != nil || r.Connections != 20 || r.HandshakesPerSecond == 0 || r.ServerBytesPerConnection != nil {
		t.Errorf("idle: got %v and %+v", err, r)
	}
	if r, err = Run(t.Context(), &broker{}, short(Latency)); err != nil || r.PublishLagMaxus <= 0 { // in real time always
		t.Errorf("latency: late by %v µs, %v", r.PublishLagMaxus, err)
	}
}

// What a server does wrong is seen, counted, and an error.
func TestFaults(t *testing.T) {
	once := func(at int, instead func(payload string) []string) func(int, string) []string {
		return func(n int, payload string) []string {
			if n == at {
				return instead(payload)
			}
			return []string{payload}
		}
	}
	var held string
	for name, tt := range map[string]struct {
		spoil                       func(n int, payload string) []string
		lost, duplicates, reordered int64
		want                        string
	}{
		"lost":  {once(7, func(string) []string { return nil }), 5, 0, 0, "lost 5 of "},
		"twice": {once(7, func(p string) []string { return []string{p, p} }), 0, 5, 0, "5 deliveries arrived twice, and 0 after later ones"},
		"late": {func(n int, p string) []string {
			switch n {
			case 7:
				held = p
				return nil
			case 8:
				return []string{p, held}
			}
			return []string{p}
		}, 0, 0, 5, "0 deliveries arrived twice, and 5 after later ones"},
		"not ours": {once(7, func(p string) []string {
			return []string{"x", string([]byte{p[0] ^ 1}) + p[1:], p[:7] + "\x01" + p[8:], p} // of another run, and publisher
		}), 0, 0, 0, ""},
		"too short": {once(7, func(p string) []string { return []string{p[:MinPayload-1]} }), 5, 0, 0, "lost 5 of "},
	} {
		inBubble(t, name, func(t *testing.T) {
			r, err := Run(t.Context(), &broker{spoil: tt.spoil, lag: time.Millisecond}, short(Fanout))
			if r.Lost != tt.lost || r.Duplicates != tt.duplicates || r.Reordered != tt.reordered || r.Delivered != r.Published*5-tt.lost {
				t.Errorf("got %+v; want %d lost, %d twice, %d late", r, tt.lost, tt.duplicates, tt.reordered)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || len(r.Errors) != 1) {
				t.Errorf("got the error %v, want %q", err, tt.want)
			}
		})
	}
}

// What a driver has to say of a result is an error.
func TestAdviser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		advice := errors.New("not what the server can do")
		r, err := Run(t.Context(), adviser{&broker{lag: time.Millisecond}, advice}, short(Fanout))
		if !errors.Is(err, advice) || len(r.Errors) != 1 {
			t.Errorf("got %v and %+v", err, r)
		}
	})
}

type adviser struct {
	*broker
	advice error
}

func (a adviser) Advise(o Options, r *Result) error {
	if o.Scenario != Fanout || r.DeliveriesPerSecond == 0 {
		return errors.New("asked too early")
	}
	return a.advice
}

// Who reads the figures is told that the generator was the limit.
func TestNoteOfGenerator(t *testing.T) {
	for cores, want := range map[float64]int{0.5: 0, float64(runtime.GOMAXPROCS(0)): 1} {
		r := newRun(t.Context(), &broker{}, short(Fanout), process{})
		r.result.GeneratorCores = cores
		if got, err := r.finish(); err != nil || len(got.Notes) != want {
			t.Errorf("%v cores: got %v and the notes %q", cores, err, got.Notes)
		}
	}
}

// A server from which nothing comes any more ends the run.
func TestStall(t *testing.T) {
	for patience, want := range map[time.Duration]string{0: "5s", 20 * time.Second: "20s"} {
		inBubble(t, want, func(t *testing.T) { stall(t, patience, want) })
	}
}

func stall(t *testing.T, patience time.Duration, want string) {
	o := short(Fanout)
	o.Duration, o.Patience = time.Minute, patience
	r, err := Run(t.Context(), &broker{spoil: func(n int, p string) []string {
		if n > 3 {
			return nil
		}
		return []string{p}
	}}, o)
	if err == nil || !strings.Contains(err.Error(), "no message has arrived for "+want) || r.Delivered != 15 || r.Lost != 40 {
		t.Errorf("got %v and %+v", err, r)
	}
}

func TestRefusedConnections(t *testing.T) {
	refusal := errors.New("no more")
	for _, scenario := range Scenarios() {
		b := &broker{refuse: func(n int) error {
			if n > 5 { // the publisher of the first two scenarios
				return refusal
			}
			return nil
		}}
		o := short(scenario)
		o.Dialers = 1 // else the refusal ends others
		r, err := Run(t.Context(), b, o)
		if !errors.Is(err, refusal) || r.Connections != 5 || r.Seconds != 0 || len(r.Errors) != 1 {
			t.Errorf("%s: got %v and %+v", scenario, err, r)
		}
	}
}

// A run that is interrupted returns what it has.
func TestInterrupt(t *testing.T) {
	for _, scenario := range Scenarios() {
		inBubble(t, scenario, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := short(scenario)
			o.Duration, o.Settle = time.Minute, time.Minute
			o.Progress = func(line string) {
				if strings.Contains(line, "1 of 60 s") {
					cancel()
				}
			}
			r, err := Run(ctx, &broker{lag: time.Millisecond}, o)
			if !errors.Is(err, context.Canceled) || !r.Interrupted || r.Seconds < 0.9 || r.Seconds > 1.1 || r.Lost != 0 || len(r.Errors) != 0 {
				t.Errorf("got %v and %+v", err, r)
			}
			if scenario != Idle && (r.Published == 0 || r.DeliveriesPerSecond == 0 || r.P50us == 0) {
				t.Errorf("the result is empty: %+v", r)
			}
		})
	}
}
