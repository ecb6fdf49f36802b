package nats_test

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
	p := newProxy(t, server)
	s := openStore(t, p.connect(client.PingInterval(time.Minute)))
	awaitReady(t, s)
	conn, err := natstest.Connect(server)()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var asked atomic.Int64
	if _, err := conn.Subscribe("$JS.API.STREAM.INFO.KV_tokens", func(*client.Msg) { asked.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}

	p.silenceAnswers()
	before := asked.Load()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // shorter than the timeout of an answer
	defer cancel()
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
	all.Wait()
	if n := asked.Load() - before; n <= 20 || n > 40 {
		t.Errorf("%d probes are in flight, want more than look-ups may cause, and at most 40", n)
	}
}
