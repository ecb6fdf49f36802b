package nats_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/nats"
)

// Edges of a cluster lose nothing that was confirmed while its nodes are killed, hang, and
// come back: every edge hands it on once, at the position that was confirmed, in order.
func TestCluster(t *testing.T) {
	nodes := natstest.Processes(t, natstest.Build(t, t.TempDir()), 3)
	three := func(c *nats.Config) { c.Replicas = 3 }
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 100_000 })
	var edges []*nats.Store
	var followers []*follower
	for _, node := range nodes {
		e := openAt(t, node.URL(), "p", three)
		edges, followers = append(edges, e), append(followers, join(e))
	}
	for _, e := range edges {
		define(t, e, d)
		follow(t, e, "h")
	}
	ctx, stop := context.WithCancel(context.Background())
	var publishing sync.WaitGroup
	var mu sync.Mutex
	confirmed := map[string]history.Result{}
	refused := 0
	for i, e := range edges {
		publishing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				payload := fmt.Sprintf("%d %d", i, n)
				r := try(e, "h", "t", "c", payload)
				mu.Lock()
				switch {
				case r.Err == nil:
					confirmed[payload] = r
				case errors.Is(r.Err, history.ErrUnavailable), errors.Is(r.Err, history.ErrUnconfirmed):
					refused++
				default:
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
		for deadline := time.Now().Add(timeout); count() < before+30; time.Sleep(5 * time.Millisecond) { // publishers tell nobody
			if time.Now().After(deadline) {
				t.Fatalf("%s: nothing is stored", what)
			}
		}
	}
	progress("at first")
	i := leader(t, nodes)
	nodes[i].Kill(t)
	progress(fmt.Sprintf("node %d was killed", i))
	nodes[i].Restart(t)
	nodes[i].Await(t)
	progress(fmt.Sprintf("node %d is back", i))
	i = leader(t, nodes)
	nodes[i].Suspend(t)
	progress(fmt.Sprintf("node %d hangs", i))
	nodes[i].Continue(t)
	progress(fmt.Sprintf("node %d goes on", i))
	stop()
	publishing.Wait()
	last := awaitPut(t, edges[0], "last")
	for i, e := range edges {
		awaitHead(t, e, "h", last)
		f := followers[i]
		f.mu.Lock()
		at := map[string]int{}
		n := uint64(0)
		for _, m := range f.received {
			at[string(m.Payload)]++
			if m.Position.N <= n {
				t.Errorf("edge %d: %v after %d", i, m.Position, n)
			}
			n = m.Position.N
			if r, ok := confirmed[string(m.Payload)]; ok && r.Position != m.Position {
				t.Errorf("edge %d: %s came at %v, confirmed at %v", i, m.Payload, m.Position, r.Position)
			}
		}
		for payload, r := range confirmed {
			if at[payload] != 1 {
				t.Errorf("edge %d: %s, confirmed at %v, came %d times", i, payload, r.Position, at[payload])
			}
		}
		if len(f.skipped) > 0 {
			t.Errorf("edge %d: skipped to %v", i, f.skipped)
		}
		f.mu.Unlock()
	}
	t.Logf("%d confirmed, %d refused or not certain", len(confirmed), refused)
}

// leader returns the node that leads the stream of the history.
func leader(t *testing.T, nodes []*natstest.Node) int {
	t.Helper()
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		stream, err := operator(t, nodes[0].URL()).Stream(context.Background(), "p_history_h")
		if err != nil || stream.CachedInfo().Cluster == nil {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(stream.CachedInfo().Cluster.Leader, "n%d", &n); err == nil {
			return n
		}
	}
	t.Fatal("the stream has no leader")
	panic("unreachable")
}
