package nats

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
)

// While a leader is silent, made-up tokens do not use up the probes that keep the copy
// fresh, and the number of all probes is bounded.
func TestMissesLeaveProbes(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	p := natstest.StartProxy(t, server)
	s := openReady(t, p.Connect(client.PingInterval(time.Minute)))
	conn, err := natstest.Connect(server)()
	must(t, err)
	t.Cleanup(conn.Close)
	var asked atomic.Int64
	must(t, errorOf(conn.Subscribe("$JS.API.STREAM.INFO.KV_tokens", func(*client.Msg) { asked.Add(1) })))
	must(t, conn.Flush())

	p.HoldReplies()
	before := asked.Load()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				short, done := context.WithTimeout(ctx, 20*time.Millisecond)
				if _, err := s.Get(short, access, fmt.Sprint(i, "-", n)); err == nil {
					t.Error("a made-up token was found")
				}
				done()
			}
		})
	}
	await(t, "more probes than look-ups may cause", func() bool { return asked.Load()-before > maxInFlightForLookups+2 })
	cancel()
	all.Wait()
	p.Resume() // Close deletes a consumer
	if n := asked.Load() - before; n > int64(maxInFlight) {
		t.Errorf("%d probes are in flight, want at most %d", n, maxInFlight)
	}
}
