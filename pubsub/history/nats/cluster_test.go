package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Edges of a cluster publish at the same time: every edge hands on each message once, at the
// position that was confirmed, in order, also while another server takes the lead. That may take
// 20 s, so it is tested with MILLRACE_CHECK. TestHistoriesOverEdges of integration kills servers.
func TestCluster(t *testing.T) {
	t.Parallel()
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 100_000 })
	edges := map[*Store]*follower{}
	var first *Store
	for _, s := range natstest.Cluster(t, 3) {
		e := open(t, natstest.Connect(s), func(c *Config) { c.Replicas = 3 }, withShortCalls)
		first, edges[e] = e, join(e)
		define(t, e, d)
		follow(t, e, "h")
	}
	ctx, stop := context.WithCancel(context.Background())
	var publishing sync.WaitGroup
	var mu sync.Mutex
	confirmed := map[string]history.Result{}
	for e := range edges {
		publishing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				payload := fmt.Sprintf("%p %d", e, n)
				r := try(e, "h", "t", "c", payload)
				mu.Lock()
				switch {
				case r.Err == nil:
					confirmed[payload] = r
				case !errors.Is(r.Err, history.ErrUnavailable) && !errors.Is(r.Err, history.ErrUnconfirmed):
					t.Errorf("%v", r.Err)
				}
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(confirmed)
	}
	progress := func(what string) {
		t.Helper()
		before := count()
		await(t, "messages to be stored: "+what, func() bool { return count() >= before+30 })
	}
	progress("at first")
	if os.Getenv("MILLRACE_CHECK") != "" {
		before := leader(t, first.js)
		_, err := first.conn.Request("$JS.API.STREAM.LEADER.STEPDOWN.p_history_h", nil, natstest.Limit)
		must(t, err)
		await(t, "another leader", func() bool { return leader(t, first.js) != before })
		progress(fmt.Sprintf("server %d does not lead any more", before))
	}
	stop()
	awaitPut(t, first, "one that what waits can be behind")
	publishing.Wait()
	last := awaitPut(t, first, "last")
	for e, f := range edges {
		awaitHead(t, e, "h", last)
		f.mu.Lock()
		at := map[string]int{}
		n := uint64(0)
		for _, m := range f.received {
			at[string(m.Payload)]++
			if m.Position.N <= n {
				t.Errorf("%v after %d", m.Position, n)
			}
			n = m.Position.N
			if r, ok := confirmed[string(m.Payload)]; ok && r.Position != m.Position {
				t.Errorf("%s came at %v, confirmed at %v", m.Payload, m.Position, r.Position)
			}
		}
		for payload, r := range confirmed {
			if at[payload] != 1 {
				t.Errorf("%s, confirmed at %v, came %d times", payload, r.Position, at[payload])
			}
		}
		if len(f.skipped) > 0 {
			t.Errorf("skipped to %v", f.skipped)
		}
		f.mu.Unlock()
	}
}

// leader returns the number of the server that leads the stream of the history.
func leader(t *testing.T, js jetstream.JetStream) (n int) {
	t.Helper()
	await(t, "a leader", func() bool {
		ctx, done := context.WithTimeout(context.Background(), time.Second) // without a leader nobody may answer
		defer done()
		stream, err := js.Stream(ctx, "p_history_h")
		if err != nil || stream.CachedInfo().Cluster == nil {
			return false
		}
		_, err = fmt.Sscanf(stream.CachedInfo().Cluster.Leader, "n%d", &n)
		return err == nil
	})
	return n
}
