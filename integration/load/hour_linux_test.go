package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
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
	calm := startTraffic(e, 1, 2, 200)
	begin, length := time.Now(), harness.SoakFor(t, 3*time.Second, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	d := &day{e: e, ctx: ctx}
	var all sync.WaitGroup
	seed := harness.Seed(t)
	var samples []harness.Sample
	issued, reloads := 0, 0
	for ; ctx.Err() == nil; issued++ {
		token := e.Issue(harness.AllowAll("room"))
		if issued%4 == 0 {
			e.Refresh(e.Master, token.TokenID, harness.In(2*time.Hour)).Decode(t, 200, new(harness.Object))
		}
		d.token.Store(token.Token)
		if issued == 0 {
			for i := range 6 {
				all.Go(func() { d.client(rand.New(rand.NewPCG(seed, uint64(i)))) })
			}
		}
		pause(ctx, 250*time.Millisecond)
		if issued%8 == 0 { // it may be in use
			e.Revoke(e.Master, token.Token).Decode(t, 200, new(harness.Object))
		}
		if time.Since(begin) > time.Duration(reloads+1)*max(time.Second, length/60) {
			e.Reload([]string{conformance.European, conformance.American}[reloads%2])
			reloads++
		}
		if time.Since(begin) > time.Duration(len(samples)+1)*max(500*time.Millisecond, length/240) {
			samples = append(samples, e.Sample())
		}
	}
	all.Wait()
	calm.end()
	// The old listener resets what waits in its queue, and net/http closes without an answer what
	// comes while it shuts down; see docs/operations.md.
	if n := d.resets.Load(); n > int64(reloads) {
		t.Errorf("%d handshakes were reset in %d reloads", n, reloads)
	}
	t.Logf("%d sessions, %d tokens, %d reloads, %d handshakes that they reset", d.sessions.Load(), issued, reloads, d.resets.Load())
	if !harness.Soaking {
		return
	}
	for _, kind := range []struct {
		what string
		of   func(harness.Sample) int
		more int // that there may be; the record of a token takes about 1 KiB, on disk or in memory, for a day
	}{
		{"live heap, KiB", func(s harness.Sample) int { return s.Heap }, issued},
		{"disk, KiB", func(s harness.Sample) int { return s.Disk }, issued},
		{"resident, MiB", func(s harness.Sample) int { return s.Resident }, 16 + issued>>10},
		{"goroutines", func(s harness.Sample) int { return s.Goroutines }, 500},
		{"descriptors", func(s harness.Sample) int { return s.Descriptors }, 50},
	} {
		var medians []int
		for quarter := range slices.Chunk(samples, len(samples)/4) {
			slices.SortFunc(quarter, func(a, b harness.Sample) int { return kind.of(a) - kind.of(b) })
			medians = append(medians, kind.of(quarter[len(quarter)/2]))
		}
		t.Logf("%s, medians of quarters: %v", kind.what, medians)
		if grown := medians[3] - medians[1]; grown > kind.more && grown > medians[1]/50 { // the first is warming up
			t.Errorf("%s: grown by %d in half of the time", kind.what, grown)
		}
	}
}

// day is the activity of clients during the soak.
type day struct {
	e                *harness.Edge
	ctx              context.Context
	token            atomic.Value // the latest
	sessions, resets atomic.Int64 // resets are handshakes that got no answer
}

// client opens one session after the other. One that is revoked or told to go may end at any
// moment, so what matters here is that it does not hang.
func (d *day) client(rng *rand.Rand) {
	for ; d.ctx.Err() == nil; pause(d.ctx, time.Duration(rng.IntN(400))*time.Millisecond) {
		open := d.e.TryOpen
		if rng.IntN(2) == 0 {
			open = d.e.TryWebTransport
		}
		s, refused, err := open(harness.Handshake{Token: d.token.Load().(string)})
		switch {
		case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF):
			d.resets.Add(1)
		case err != nil || s == nil && refused.Status != 401: // else it was revoked
			d.e.T.Errorf("a handshake: %v %d %s", err, refused.Status, refused.Body)
			return
		case s != nil:
			d.sessions.Add(1)
			d.session(rng, s)
			_ = s.Cut()
		}
	}
}

func (d *day) session(rng *rand.Rand, s *harness.Socket) {
	stalls := rng.IntN(4) == 0 // it does not read, and misses what others publish
	payload := strings.Repeat("x", rng.IntN(2000))
	err := s.Write(harness.AsText, []byte("SUB:paint.room:#"))
	for n := rng.IntN(100); n > 0 && err == nil; n-- {
		err = s.Write(harness.AsFrame, harness.RawPublish(tenant, fmt.Sprintf("n.%d", rng.IntN(50)), payload))
		if err == nil && !stalls {
			_, _, err = s.Read()
		}
	}
	if stalls {
		pause(d.ctx, time.Duration(rng.IntN(3000))*time.Millisecond)
	}
	if rng.IntN(2) == 0 {
		_ = s.Leave() // may have ended
		_ = s.UntilEnd()
	}
}
