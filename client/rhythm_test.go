package client

import (
	"slices"
	"testing"
	"time"
)

func TestRhythm(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name   string
		pauses []time.Duration
		want   time.Duration
	}{
		{"nothing came", nil, 0},
		{"too few pauses", []time.Duration{ms, ms, ms}, 0},
		{"fast", []time.Duration{ms, ms, ms, ms}, time.Second},
		{"no pauses", []time.Duration{0, 0, 0, 0}, time.Second},
		{"the longest counts", []time.Duration{ms, 600 * ms, ms, ms}, 1800 * ms},
		{"slow", slices.Repeat([]time.Duration{7 * time.Second}, 5), unusualMost},
		{"a longer pause starts over", []time.Duration{ms, ms, ms, ms, rhythmEnd + 1}, 0},
		{"a longer pause does not count", []time.Duration{ms, rhythmEnd + 1, ms, ms, ms, ms}, time.Second},
		{"after 5 s it still counts", append([]time.Duration{time.Second}, slices.Repeat([]time.Duration{500 * ms}, 12)...), 3 * time.Second},
		{"after 10 s it does not", append([]time.Duration{time.Second}, slices.Repeat([]time.Duration{500 * ms}, 19)...), 1500 * ms},
	} {
		bubble(t, test.name, func(t *testing.T, _ *world) {
			c := newClock()
			for _, p := range test.pauses {
				time.Sleep(p)
				c.now()
			}
			equal(t, "c.unusual()", c.unusual(), test.want)
			if got := time.Since(c.time()); got != 0 {
				t.Errorf("heard %v ago", got)
			}
		})
	}
}

func TestTrips(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		times []time.Duration
		want  time.Duration
	}{
		{"none", nil, time.Second},
		{"0", []time.Duration{0, 0, 0}, time.Second},
		{"short", []time.Duration{20 * ms, 30 * ms}, time.Second},
		{"the first", []time.Duration{600 * ms}, 1800 * ms},
		{"the same again", []time.Duration{600 * ms, 600 * ms}, 1500 * ms},
		{"0, then long", []time.Duration{0, 800 * ms}, time.Second},
	} {
		var got trips
		for _, d := range test.times {
			got.add(d)
		}
		equal(t, "got.answerTimeout()", got.answerTimeout(), test.want)
	}
}

func TestRhythms(t *testing.T) {
	// A silence is unusual by the rhythm of what came before. The client asks in it until
	// nothing but answers has come for rhythmEnd, then no sooner than after KeepAlive.
	bubble(t, "Ask while messages are expected", func(t *testing.T, w *world) {
		c, l, s := w.subscribed(edgeA)
		asked := l.pings
		for round := range 3 {
			flow(t, l, s) // it ends 100 ms after the last message
			before := asked()
			time.Sleep(unusualLeast - 100*time.Millisecond - 1)
			equal(t, "asked too early", asked(), before)
			time.Sleep(time.Second)
			if asked() != before+1 {
				t.Errorf("round %d: asked %d times", round, asked()-before)
			}
			time.Sleep(rhythmEnd + c.s.KeepAlive - 3*time.Second)
			if asked() != before+4 {
				t.Errorf("round %d: asked %d times", round, asked()-before)
			}
			if round == 1 {
				time.Sleep(5*time.Second + rhythmEnd)
				equal(t, "not asked after KeepAlive", asked(), before+5)
			}
		}
	})
}
