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
	endCalm := startCalm(e)
	ctx, cancel := context.WithTimeout(t.Context(), harness.SoakFor(t, 3*time.Second, time.Hour))
	defer cancel()
	d := &day{e: e, ctx: ctx}
	var all sync.WaitGroup
	seed := harness.Seed(t)
	var samples []harness.Sample // one before each reload
	issued := 0
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
		if issued%harness.AtLength(4, 240) == 3 {
			samples = append(samples, e.Sample())
			e.Reload([]string{conformance.American, conformance.European}[len(samples)%2])
		}
	}
	all.Wait()
	endCalm()
	// The old listener resets what waits in its queue, and net/http closes without an answer what
	// comes while it shuts down; see docs/operations.md.
	t.Logf("%d sessions, %d tokens, %d reloads", d.sessions.Load(), issued, len(samples))
	if n := d.resets.Load(); n > int64(len(samples)) {
		t.Errorf("%d handshakes were reset in %d reloads", n, len(samples))
	}
	if harness.Soaking {
		checkGrowth(t, samples, issued)
	}
}

// checkGrowth compares the medians of the second quarter and of the last one: the first is
// warming up.
func checkGrowth(t *testing.T, samples []harness.Sample, issued int) {
	t.Helper()
	n := len(samples)
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
		median := func(of []harness.Sample) int {
			slices.SortFunc(of, func(a, b harness.Sample) int { return kind.of(a) - kind.of(b) })
			return kind.of(of[len(of)/2])
		}
		early, late := median(slices.Clone(samples[n/4:n/2])), median(slices.Clone(samples[n*3/4:]))
		t.Logf("%s: %d, and %d in the end", kind.what, early, late)
		if grown := late - early; grown > kind.more && grown > early/50 {
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
