package loadgen

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// With few subscribers the window would let the rate reach the token's cap.
func TestPace(t *testing.T) {
	o := short(Fanout)
	for rate, held := range map[float64]bool{2000: true, 30: true, 1e9: false} {
		inBubble(t, fmt.Sprint(rate), func(t *testing.T) {
			o := o
			o.MaxRate, o.Duration = rate, time.Second
			start := time.Now()
			r, err := Run(t.Context(), &broker{lag: time.Millisecond}, o)
			if most := rate*(time.Since(start).Seconds()+time.Duration(paceCatchUp).Seconds()) + float64(o.Burst); err != nil || float64(r.Published) > most {
				t.Errorf("published %d, want at most %.0f; %v", r.Published, most, err)
			}
			if notes := strings.Join(r.Notes, ""); strings.Contains(notes, "held back to") != held {
				t.Errorf("the notes say %q", notes)
			}
		})
	}
	// What is published at the pace is no cap's rate, whatever the rate seems to be.
	for _, payload := range []int{MinPayload, 128, 60_000} {
		for _, limit := range []int{8, 100, 16384} {
			edge := EdgeOptions{URL: "ws://localhost", Tenant: "bench", CapKBPerSec: limit}
			o := short(Fanout)
			o.Payload = payload
			rate := edge.Pace(o)
			seems := func(times float64) error {
				return EdgeDriver(edge).(Adviser).Advise(o, &Result{Seconds: 1, DeliveriesPerSecond: times * rate * float64(o.Subscribers)})
			}
			if err := seems(1); err != nil || rate == 0 {
				t.Errorf("%d bytes at %d KB/s: %v messages/s: %v", payload, limit, rate, err)
			}
			if seems(1/paceShare) == nil {
				t.Error("no word of the cap")
			}
			o.MaxRate = rate
			if err := seems(1 / paceShare); err != nil {
				t.Errorf("what came late: %v", err)
			}
		}
	}
	if rate := (EdgeOptions{Tenant: "bench"}).Pace(o); rate != 0 {
		t.Errorf("without a cap: %v", rate)
	}
}
