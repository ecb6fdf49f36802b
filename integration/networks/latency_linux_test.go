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
	losses := harness.AtLength([]float64{0.02}, []float64{0, 0.01, 0.02, 0.05})
	trips := harness.AtLength([]int{30}, []int{1, 30, 100})
	measured := time.Duration(harness.SoakCount(t, 1, 60)) * time.Second
	l := startLab(t)
	halt := l.publish(l.near, 10*time.Millisecond, 0)
	var subscribers []*sdk.Sub // both at the same time
	for _, transport := range []string{"websocket", "webtransport"} {
		subscribers = append(subscribers, l.subscriber(sdk.Kind{Where: "go", Transport: transport}, l.near))
	}
	for _, loss := range losses {
		for _, trip := range trips {
			l.treat(netlab.Treatment{Loss: loss, Delay: time.Duration(trip) * time.Millisecond / 2})
			from := time.Now().Add(measured / 3) // before that it settles
			for _, s := range subscribers {
				var ages []time.Duration
				var silence time.Duration
				for previous, sent := (sdk.Report{}), from; sent.Before(from.Add(measured)); {
					r := s.Next()
					if _, sent = message(r); sent.After(from) {
						ages, silence = append(ages, r.At.Sub(sent)), max(silence, r.At.Sub(previous.At))
					}
					previous = r
				}
				slices.Sort(ages)
				n := len(ages)
				t.Logf("%g, %d ms, %v: p50 %v, p99 %v, silent for %v", loss, trip, s.C.Kind, ages[n/2], ages[n*99/100], silence)
			}
		}
	}
	halt()
}
