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

// While a leader is silent, made-up tokens do not use up the questions that keep the
// copy fresh, and all of them are bounded.
func TestMissesLeaveQuestions(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	p := newProxy(t, server)
	s := openStore(t, p.connect())
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

	p.silenceRequests()
	before := asked.Load()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // less than an answer, or a ping, is waited for
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
		t.Errorf("%d questions are under way, want more than look-ups may ask, and at most 40", n)
	}
}
