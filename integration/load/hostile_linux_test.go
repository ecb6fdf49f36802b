package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// A crowd that never authenticates, in all ways at once. Clients that keep the rules get in
// all the while, and lose nothing.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	endCalm := startCalm(e)
	roots, err := e.TlsConfig()
	e.Must(err)
	o := client.Options{Token: e.Issue(harness.AllowAll("room")).Token, TLS: roots, ConnectTimeout: harness.WaitTimeout}
	before := e.Memory()
	ctx, cancel := context.WithTimeout(t.Context(), harness.SoakFor(t, 4*time.Second, 10*time.Minute))
	defer cancel()
	var all sync.WaitGroup
	members := 0
	made := map[string]*atomic.Int64{}
	for name, attack := range map[string]struct {
		members int
		act     func(ctx context.Context, member int) (int, error) // once, and says how often; an error is a refusal
	}{
		"half TLS handshakes":          {400, e.HalfHandshake},
		"requests a byte at a time":    {200, e.SlowRequest},
		"silent WebTransport sessions": {100, e.SilentSession},
		"garbage QUIC packets":         {2, e.GarbagePackets},
		"header bombs":                 {4, e.HeaderBombs},
	} {
		times := new(atomic.Int64)
		made[name] = times
		for i := range harness.AtLength(max(2, attack.members/10), attack.members) {
			members++
			all.Go(func() {
				for ctx.Err() == nil {
					n, err := attack.act(ctx, i)
					if times.Add(int64(n)); err != nil {
						pause(ctx, 100*time.Millisecond) // nobody asks without end for a refusal
					}
				}
			})
		}
	}
	worst := time.Duration(0)
	for served := 0; ctx.Err() == nil || served == 0; served++ {
		for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
			o.Transports = []client.Transport{transport}
			worst = max(worst, serve(e, o))
		}
		pause(ctx, 200*time.Millisecond)
	}
	// In KiB, with 64 MiB of buffers in use, and garbage of the moment.
	e.CheckGrowth(before, members*harness.ConnectionCost+64<<10, "the crowd")
	all.Wait()
	for name, times := range made {
		if t.Logf("%s: %d times", name, times.Load()); times.Load() == 0 {
			t.Errorf("%s: none was made", name)
		}
	}
	t.Logf("to connect, subscribe and get a message took a legitimate client %v at most", worst)
	if harness.Soaking && worst > time.Second {
		t.Errorf("want less than a second")
	}
	endCalm()
}

// serve has a client connect, subscribe and get a message, and returns how long that took.
func serve(e *harness.Edge, o client.Options) time.Duration {
	e.T.Helper()
	begin := time.Now()
	c, err := client.Connect(e.T.Context(), []string{e.HttpsURL("")}, o)
	e.Must(err)
	defer c.Close()
	s, err := c.Subscribe(e.T.Context(), tenant, "x")
	e.Must(err)
	e.Must(c.Publish(e.T.Context(), tenant, "x", []byte("hello")))
	select {
	case <-s.Messages():
	case <-time.After(harness.WaitTimeout):
		e.T.Fatal("no message comes")
	}
	return time.Since(begin)
}
