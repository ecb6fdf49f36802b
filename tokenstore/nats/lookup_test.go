package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// requests counts the messages that a server gets on subjects, and answers none. count
// includes all that the store has sent before the call.
func requests(t *testing.T, s testStore, connect natstest.Connector, subject string) (count func() int64) {
	t.Helper()
	conn, err := connect()
	must(t, err)
	t.Cleanup(conn.Close)
	var n atomic.Int64
	end := strings.TrimSuffix(subject, ">") + "END" // of what is counted
	ended := make(chan struct{}, 1)
	if _, err := conn.Subscribe(subject, func(m *client.Msg) {
		if m.Subject == end {
			ended <- struct{}{}
		} else {
			n.Add(1)
		}
	}); err != nil {
		t.Fatal(err)
	}
	must(t, conn.Flush())
	return func() int64 {
		t.Helper()
		must(t, s.conn.Publish(end, nil))
		natstest.Receive(t, "the end of what is counted", ended)
		return n.Load()
	}
}

// missAll looks n ids up at once that no bucket has.
func missAll(t *testing.T, s testStore, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := s.Get(t.Context(), access, fmt.Sprintf("made-up-%d", i)); !errors.Is(err, tokenstore.ErrNotFound) {
				t.Errorf("Get of a made-up id: %v", err)
			}
		})
	}
	wg.Wait()
}

// Made-up ids do not cause one request each: their look-ups share a probe now and then.
func TestMissesShareQuestions(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	s := openReady(t, connect, patient)
	n := requests(t, s, connect, "$JS.API.>")
	began := time.Now()
	missAll(t, s, 1000)
	took := time.Since(began)
	// A probe in each spacing, and on a machine so slow that the copy seems to
	// lag, maxFetches beside it.
	most := int64(took/confirmSpacing+2) * (maxFetches + 1)
	if got := n(); got < 1 || got > most {
		t.Errorf("1000 misses in %v made %d requests, want at most %d", took, got, most)
	}
	// Each miss that is answered was answered by a probe, which keeps the copy fresh.
	if took < lookupDelay && s.freshness.lastConfirmed().Before(began) {
		t.Errorf("after misses the copy was confirmed %v before them", began.Sub(s.freshness.lastConfirmed()))
	}
}

// While made-up ids keep an edge busy, what another edge issues works there at once.
func TestIssuedElsewhereInFlood(t *testing.T) {
	t.Parallel()
	issuer, s, _ := openTwo(t)
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for i := range 200 {
		flood.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _ = s.Get(ctx, access, fmt.Sprintf("made-up-%d-%d", i, n))
			}
		})
	}
	for i := range 100 {
		rec := put(t, issuer, fmt.Sprint(i), time.Time{})
		got, err := s.Get(t.Context(), access, rec.ID)
		if err != nil || got.Version != rec.Version {
			t.Errorf("what was just issued elsewhere: %+v, %v", got, err)
		}
	}
	cancel()
	flood.Wait()
}

// Look-ups do not wait for a copy that does not keep up: a few ids at a time are
// requested.
func TestLookUpWithoutFollower(t *testing.T) {
	t.Parallel()
	issuer, s, connect := openTwo(t)
	s.stop()
	s.running.Wait() // nothing keeps the copy up to date any more
	n := requests(t, s, connect, "$JS.API.STREAM.MSG.GET.>")
	rec := put(t, issuer, "issued", time.Time{})
	if got, err := s.Get(t.Context(), access, rec.ID); err != nil || string(got.Value) != "x" {
		t.Errorf("what was issued elsewhere: %+v, %v", got, err)
	}
	began := time.Now()
	missAll(t, s, 100)
	if got, most := n(), maxFetches*int64(time.Since(began)/confirmSpacing+3); got < 100 || got > most {
		t.Errorf("%d requests for 101 ids, want at most %d in this time", got, most)
	}
}

// While the leader changes, no server takes a request, or one takes it to its grave. A look-up asks again.
func TestLookUpWhileLeaderChanges(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	s := openReady(t, connect, func(c *Config) { c.callTimeout = 20 * time.Second })
	s.stop()
	s.running.Wait() // nothing else is sent any more
	s.config.Domain = "nowhere"
	got, before := make(chan error, 1), s.conn.Stats().OutMsgs
	go func() {
		_, err := s.Get(t.Context(), access, "unknown")
		got <- err
	}()
	await(t, "requests that no server takes", func() bool { return s.conn.Stats().OutMsgs >= before+2 })

	server, err := connect()
	must(t, err)
	t.Cleanup(server.Close)
	requests := 0
	must(t, errorOf(server.Subscribe("$JS.nowhere.API.STREAM.MSG.GET.>", func(m *client.Msg) {
		if requests++; requests > 1 {
			must(t, m.Respond([]byte("{}")))
		}
	})))
	wantErr(t, "Get after a request that was lost", natstest.Receive(t, "the end of the look-up", got), tokenstore.ErrNotFound)
}

// openUnanswered points a store at a JetStream that takes requests and answers none.
func openUnanswered(t *testing.T) (testStore, func() int64) {
	connect := natstest.Connect(natstest.Server(t))
	s := openReady(t, connect, patient)
	s.stop()
	s.running.Wait()
	s.config.Domain = "nowhere"
	return s, requests(t, s, connect, "$JS.nowhere.API.>")
}

// The number of look-ups that wait is bounded, and so is the number of their requests.
func TestLookUpsBounded(t *testing.T) {
	t.Parallel()
	s, n := openUnanswered(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var refused atomic.Int64
	for i := range maxLookups + 100 {
		wg.Go(func() {
			_, err := s.Get(ctx, access, fmt.Sprintf("made-up-%d", i))
			switch {
			case errors.Is(err, errTooManyLookups) && errors.Is(err, tokenstore.ErrUnavailable):
				refused.Add(1)
			case !errors.Is(err, context.Canceled):
				t.Errorf("Get: %v", err)
			}
		})
	}
	await(t, "look-ups over the bound to be refused", func() bool { return refused.Load() == 100 })
	await(t, "ids to be asked for", func() bool { return n() == maxFetches })
	cancel()
	wg.Wait()
	same(t, "requests under way", n(), maxFetches)
	if len(s.lookups.byKey) != 0 || s.lookups.waiting != 0 {
		t.Errorf("%d look-ups are left, %d of them with a key", s.lookups.waiting, len(s.lookups.byKey))
	}
}

// Calls to the bucket are bounded, all together and for each issuer: one leaves room for others.
func TestCallsBounded(t *testing.T) {
	t.Parallel()
	s, n := openUnanswered(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	begin := func(issuer string) {
		for i := range 3 * maxCalls {
			wg.Go(func() {
				_, err := s.Create(tokenstore.WithPayer(ctx, issuer), tokenstore.Record{Kind: access, ID: fmt.Sprint(i)})
				wantErr(t, "Create", err, context.Canceled)
			})
		}
	}
	begin("greedy")
	await(t, "calls of one issuer to be under way", func() bool { return n() >= maxCallsOfOne })
	same(t, "calls of one issuer were under way at once", n(), maxCallsOfOne)
	begin("other")
	begin("third")
	await(t, "calls of others to be under way", func() bool { return n() >= maxCalls })
	cancel()
	wg.Wait()
	same(t, "calls were under way at once", n(), maxCalls)
}

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
