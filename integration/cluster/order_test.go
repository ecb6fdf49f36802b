package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// Messages of several publishers keep their order over edges, and each comes once. The
// publishers wait for the subscribers from time to time: what an edge cannot keep up with, it
// drops, and counts.
func TestOrderOverEdges(t *testing.T) {
	t.Parallel()
	const publishers, window = 2, 5000 // messages: less than the queue for an edge takes
	rounds := harness.AtLength(2, 100)
	o := history.StartOverlay(t, strings.Replace(harness.DefaultCaddyfile, "bandwidth {", "limits {\n\t\t\tsend_queue 1GiB\n\t\t}\n\t\tbandwidth {", 1), "")
	subscribers := slices.Concat(o.Spread("seq.*", "seq.x", 0, 1, 2)...)
	var from []*harness.Socket
	for range publishers {
		from = append(from, o.Session(0))
	}
	begin := time.Now()
	for round := range rounds {
		var all sync.WaitGroup
		for n, p := range from {
			all.Go(func() {
				for i := range window {
					if err := p.Write(harness.AsFrame, harness.RawPublish("paint.room", fmt.Sprintf("seq.%d", n), strconv.Itoa(round*window+i))); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for _, s := range subscribers {
			all.Go(func() {
				next := map[string]int{}
				for range publishers * window {
					_, frame, err := s.Read()
					d, broken := wire.DecodeDeliver(frame)
					channel := string(d.Channel)
					if err != nil || broken != nil || string(d.Payload) != strconv.Itoa(round*window+next[channel]) {
						t.Errorf("round %d: got %s=%s after %v (%v, %v)", round, d.Channel, d.Payload, next, err, broken)
						return
					}
					next[channel]++
				}
			})
		}
		if all.Wait(); t.Failed() {
			return
		}
	}
	t.Logf("%d messages to %d subscribers at 2 other edges in %v", publishers*window*rounds, len(subscribers), time.Since(begin))
}
