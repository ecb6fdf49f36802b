package networks

import (
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
)

// What loss and distance do to messages, by transport; see docs/networks.md. The short form
// sees only that messages come.
func TestLatencyUnderLoss(t *testing.T) {
	t.Parallel()
	channels := []string{"a", "b", "c", "d"}
	losses, trips := harness.AtLength([]float64{0.02}, []float64{0, 0.01, 0.02, 0.05}), harness.AtLength([]int{30}, []int{1, 30, 100})
	messages := 100 * harness.SoakCount(t, 1, 60) // a second
	l := startLab(t)
	p := l.publish(l.near, 10*time.Millisecond, 0, channels...)
	for _, loss := range losses {
		for _, trip := range trips {
			l.treat(netlab.Treatment{Loss: loss, Delay: time.Duration(trip) * time.Millisecond / 2})
			var subjects []*subject // both at the same time
			for _, transport := range []string{"websocket", "webtransport"} {
				subjects = append(subjects, l.startSubject(sdk.Kind{Where: "go", Transport: transport}, 0, channels, l.near))
			}
			for _, s := range subjects {
				var ages, silences []time.Duration
				var previous time.Time
				for n := 0; n < messages*4/3; n++ {
					r, found := s.Take(func(r sdk.Report) bool { return r.Event == "message" })
					if !found {
						l.Fatalf("%v got %d messages, want %d", s.Kind, n, messages*4/3)
					}
					if _, sent, _ := message(r); n >= messages/3 { // before that it settles
						ages, silences = append(ages, r.At.Sub(sent)), append(silences, r.At.Sub(previous))
					}
					previous = r.At
				}
				slices.Sort(ages)
				t.Logf("%g %%, %d ms, %v: p50 %v, p99 %v, longest silence %v",
					100*loss, trip, s.Kind, ages[messages/2], ages[messages*99/100], slices.Max(silences))
			}
			for _, s := range subjects {
				s.end()
			}
		}
	}
	p.stop(t)
}
