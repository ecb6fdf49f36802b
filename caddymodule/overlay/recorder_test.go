package overlay

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1234 * time.Millisecond) // so that it starts between two marks
		var messages atomic.Uint64
		r := newRecorder(func() Counts {
			n := messages.Load()
			return Counts{Connections: int(n / 10), MessagesIn: n, Deliveries: 2 * n, MemoryBytes: 1 << 20, Reasons: Reasons{
				Dropped: map[string]uint64{"queue_full": n / 2, "closed": 0}, Refused: map[string]uint64{"bad_frame": 3}, HandshakesRefused: map[string]uint64{"401 unauthorized": n / 5},
			}}
		})
		defer r.close()
		synctest.Wait()
		if s, reasons := r.recent(); len(s.Connections) != 0 || len(reasons.Dropped) != 0 || s.IntervalSeconds != 5 {
			t.Errorf("at the start: %+v %+v", s, reasons)
		}
		for range 3 {
			messages.Add(50)
			time.Sleep(interval)
			synctest.Wait()
		}
		s, reasons := r.recent()
		if s.End%5 != 0 || len(s.MessagesIn) != 3 {
			t.Fatalf("%+v", s)
		}
		// The first interval was cut short; the others have 50 messages in 5 s.
		if got := fmt.Sprint(s.Connections, s.MessagesIn[1:], s.Deliveries[1:], s.Dropped[1:], s.Refused[1:]); got != "[5 10 15] [10 10] [20 20] [5 5] [2 2]" {
			t.Error(got)
		}
		if got := fmt.Sprint(reasons.Dropped, reasons.Refused, reasons.HandshakesRefused); got != "map[queue_full:75] map[] map[401 unauthorized:30]" {
			t.Error(got)
		}

		time.Sleep(2 * remember)
		synctest.Wait()
		s, reasons = r.recent()
		if len(s.Connections) != maxSample || len(s.MemoryBytes) != maxSample || len(s.Refused) != maxSample {
			t.Errorf("after half an hour it holds %d samples", len(s.Connections))
		}
		if len(reasons.Dropped) != 0 {
			t.Errorf("what was dropped half an hour ago is recent: %v", reasons)
		}
	})
}
