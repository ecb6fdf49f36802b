package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// crowdNoise is what the edge's memory may hold beside what is counted for each member of the
// crowd, in KiB: buffers in use, and garbage of the moment.
const crowdNoise = 64 << 10

// A crowd that never authenticates, in all ways at once. Clients that keep the rules get in
// all the while, and lose nothing.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := startTraffic(e, 1, 2, 200)
	h := harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: e.Issue(harness.AllowAll("room")).Token}
	before := e.Memory()
	ctx, cancel := context.WithTimeout(t.Context(), harness.SoakFor(t, 4*time.Second, 10*time.Minute))
	defer cancel()
	var all sync.WaitGroup
	members := 0
	attacks := []struct {
		name    string
		members int
		act     func(ctx context.Context, member int) (int, error) // once, and says how often; an error is a refusal
		times   atomic.Int64
	}{
		{name: "half TLS handshakes", members: 400, act: e.HalfHandshake},
		{name: "requests a byte at a time", members: 200, act: e.SlowRequest},
		{name: "silent WebTransport sessions", members: 100, act: e.SilentSession},
		{name: "garbage QUIC packets", members: 2, act: e.GarbagePackets},
		{name: "header bombs", members: 4, act: e.HeaderBombs},
	}
	for at := range attacks {
		a := &attacks[at]
		n := harness.AtLength(max(2, a.members/10), a.members)
		members += n
		for i := range n {
			all.Go(func() {
				for ctx.Err() == nil {
					n, err := a.act(ctx, i)
					if a.times.Add(int64(n)); err != nil {
						pause(ctx, 100*time.Millisecond) // nobody asks without end for a refusal
					}
				}
			})
		}
	}
	var took longest
	for served := 0; ctx.Err() == nil || served == 0; served++ {
		for _, quic := range []bool{false, true} {
			begin := time.Now()
			s := enter(e, h, quic)
			s.Subscribe(tenant, "x")
			s.Publish(tenant, "x", "hello")
			s.ExpectDeliver(tenant, "x", "hello", "x")
			took.note(time.Since(begin))
			s.Must(s.Leave())
			if err := s.UntilEnd(); errors.Is(err, harness.ErrWaitTimeout) {
				t.Error("a session does not end: ", err)
			}
		}
		pause(ctx, 200*time.Millisecond)
	}
	e.CheckGrowth(before, members*harness.ConnectionCost+crowdNoise, "the crowd")
	all.Wait()
	for at := range attacks {
		t.Logf("%s: %d times", attacks[at].name, attacks[at].times.Load())
		if attacks[at].times.Load() == 0 {
			t.Errorf("%s: none was made", attacks[at].name)
		}
	}
	worst := took.take()
	t.Logf("to connect, subscribe and get a message took a legitimate client %v at most", worst)
	if harness.Soaking && worst > time.Second {
		t.Errorf("want less than a second")
	}
	calm.end()
}
