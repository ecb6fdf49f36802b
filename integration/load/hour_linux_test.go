package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// A day in the life of an edge, again and again: clients that come, publish, stall, leave and
// vanish, tokens that are issued, refreshed and revoked, reloads. What the edge holds does not
// grow, which only a soak can see.
func TestSoak(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.American)
	calm := startTraffic(t, e, e, 1, 2, 5*time.Millisecond)
	length := harness.SoakFor(t, 3*time.Second, time.Hour)
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	d := &day{e: e, ctx: ctx, tokens: make(chan harness.Issued, 16)}
	var all sync.WaitGroup
	start := harness.Seed(t)
	for i := range 6 {
		all.Go(func() { d.clients(rand.New(rand.NewPCG(start, uint64(i)))) })
	}
	var samples []harness.Sample
	reload := time.NewTicker(max(time.Second, length/60))
	defer reload.Stop()
	sampling := time.NewTicker(max(500*time.Millisecond, length/240))
	defer sampling.Stop()
	reloads := 0
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-reload.C:
			e.Reload([]string{conformance.European, conformance.American}[reloads%2])
			reloads++
		case <-sampling.C:
			samples = append(samples, e.Sample())
		default:
			d.administer()
		}
	}
	all.Wait()
	if err := d.err.Load(); err != nil {
		t.Error(err)
	}
	calm.End()
	// The old listener resets what waits in its queue; see docs/operations.md.
	if n := d.resets.Load(); n > int64(reloads) {
		t.Errorf("%d handshakes were reset in %d reloads", n, reloads)
	}
	t.Logf("%d sessions, %d tokens issued, %d messages, %d reloads, %d handshakes that they reset",
		d.sessions.Load(), d.issued, d.messages.Load(), reloads, d.resets.Load())
	if !harness.Soaking {
		return
	}
	for what, of := range map[string]func(harness.Sample) int{
		"live heap, KiB": func(s harness.Sample) int { return s.Heap }, "goroutines": func(s harness.Sample) int { return s.Goroutines },
		"descriptors": func(s harness.Sample) int { return s.Descriptors }, "disk, KiB": func(s harness.Sample) int { return s.Disk },
		"resident, MiB": func(s harness.Sample) int { return s.Resident },
	} {
		var values []float64
		for _, s := range samples[len(samples)/4:] { // after warming up
			values = append(values, float64(of(s)))
		}
		mean, slope, sigma := trend(values)
		t.Logf("%-16s mean %.0f, grows by %+.1f in the last three quarters (standard error %.1f)", what, mean, slope, sigma)
		if slope > 3*sigma && slope > mean/50 && slope > float64(d.issued)*tokenKiB {
			t.Errorf("%s: it grows", what)
		}
	}
}

// tokenKiB is about what the record of a token takes, on disk or in memory, for a day.
const tokenKiB = 1

// trend fits a line: its mean, how much it grows from the first value to the last, and the
// standard error of that.
func trend(values []float64) (mean, growth, sigma float64) {
	n := float64(len(values))
	var sx, sy, sxx, sxy float64
	for i, y := range values {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	mean = sy / n
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	var rest float64
	for i, y := range values {
		r := y - mean - slope*(float64(i)-sx/n)
		rest += r * r
	}
	return mean, slope * (n - 1), math.Sqrt(rest/(n-2)/(sxx-sx*sx/n)) * (n - 1)
}

// day is the activity at the edge during the soak.
type day struct {
	e                          *harness.Edge
	ctx                        context.Context
	tokens                     chan harness.Issued // for clients
	issued                     int
	sessions, messages, resets atomic.Int64 // resets are handshakes that got no answer
	err                        atomic.Value // the first of a client
}

// administer issues a token; one in four is refreshed, one in eight revoked while it may be in use.
func (d *day) administer() {
	d.e.T.Helper()
	token := d.e.Issue(harness.AllowAll("room"))
	d.issued++
	if d.issued%4 == 0 {
		d.e.Refresh(d.e.Master, token.TokenID, harness.In(2*time.Hour)).Decode(d.e.T, 200, new(harness.Object))
	}
	select {
	case <-d.ctx.Done():
		return
	case <-time.After(250 * time.Millisecond): // a pace, not a wait
	}
	for range 10 {
		select {
		case d.tokens <- token:
		default: // there are enough
		}
	}
	if d.issued%8 == 0 {
		d.e.Revoke(d.e.Master, token.Token).Decode(d.e.T, 200, new(harness.Object))
	}
}

// clients opens one session after the other. One that is revoked or told to go may end at any
// moment, so what matters here is that it does not hang.
func (d *day) clients(rng *rand.Rand) {
	for {
		var token harness.Issued
		select {
		case token = <-d.tokens:
		case <-d.ctx.Done():
			return
		}
		open := d.e.TryOpen
		if rng.IntN(2) == 0 {
			open = d.e.TryWebTransport
		}
		s, refused, err := open(harness.Handshake{Token: token.Token})
		switch {
		case errors.Is(err, syscall.ECONNRESET):
			d.resets.Add(1)
		case err != nil:
			d.err.CompareAndSwap(nil, fmt.Sprintf("a handshake: %v", err))
			return
		case s != nil:
			d.sessions.Add(1)
			d.session(rng, s)
		case refused.Status != 401: // else it was revoked
			d.err.CompareAndSwap(nil, fmt.Sprintf("a handshake: %d %s", refused.Status, refused.Body))
		}
	}
}

func (d *day) session(rng *rand.Rand, s *harness.Socket) {
	if s.Write(harness.AsText, []byte("SUB:paint.room:#")) != nil {
		return
	}
	stalls := rng.IntN(4) == 0 // it does not read, and misses what others publish
	payload := strings.Repeat("x", rng.IntN(2000))
	for range rng.IntN(100) {
		if s.Write(harness.AsFrame, harness.RawPublish("paint.room", "n."+strconv.Itoa(rng.IntN(50)), payload)) != nil {
			break
		}
		d.messages.Add(1)
		if !stalls {
			if _, _, err := s.Read(); err != nil {
				break
			}
		}
	}
	if stalls {
		select {
		case <-time.After(time.Duration(rng.IntN(3000)) * time.Millisecond):
		case <-d.ctx.Done():
		}
	}
	if rng.IntN(2) == 0 {
		_ = s.Leave() // may have ended
		_ = s.UntilEnd()
	}
	_ = s.Cut()
}
