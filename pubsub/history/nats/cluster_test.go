package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Edges of a cluster hand on the same. They lose nothing that was confirmed while another one of
// its servers takes the lead, which may take 20 s: that is tested with MILLRACE_CHECK.
func TestCluster(t *testing.T) {
	t.Parallel()
	servers := natstest.Cluster(t, 3)
	var connect []natstest.Connector
	for _, s := range servers {
		connect = append(connect, natstest.Connect(s))
	}
	conn, err := connect[0]()
	must(t, err)
	defer conn.Close()
	edgesOfCluster(t, connect, withShortCalls, func(leader func() int, progress func(string)) {
		before := leader()
		if os.Getenv("MILLRACE_CHECK") == "" {
			return
		}
		must(t, errorOf(conn.Request("$JS.API.STREAM.LEADER.STEPDOWN.p_history_h", nil, natstest.Limit)))
		await(t, "another leader", func() bool { return leader() != before })
		progress(fmt.Sprintf("server %d does not lead any more", before))
	})
}

// Nor while servers are killed, hang, and come back. NATS takes up to 20 s to notice: it runs
// with MILLRACE_CHECK.
func TestKilledCluster(t *testing.T) {
	t.Parallel()
	if os.Getenv("MILLRACE_CHECK") == "" {
		t.Log("runs with MILLRACE_CHECK")
		return
	}
	nodes := natstest.Processes(t, natstest.Build(t, t.TempDir()), 3)
	var connect []natstest.Connector
	for _, node := range nodes {
		connect = append(connect, func(o ...client.Option) (*client.Conn, error) {
			return natstest.ConnectTo(node.URL())(append(o, client.PingInterval(time.Second))...)
		})
	}
	edgesOfCluster(t, connect, func(*Config) {}, func(leader func() int, progress func(string)) {
		i := leader()
		nodes[i].Kill(t)
		progress(fmt.Sprintf("node %d was killed", i))
		nodes[i].Restart(t)
		nodes[i].Await(t)
		progress(fmt.Sprintf("node %d is back", i))
		i = leader()
		nodes[i].Suspend(t)
		progress(fmt.Sprintf("node %d hangs", i))
		nodes[i].Continue(t)
		progress(fmt.Sprintf("node %d goes on", i))
	})
}

// edgesOfCluster has edges publish while a cluster is disturbed: every edge hands on each
// message once, at the position that was confirmed, in order.
func edgesOfCluster(t *testing.T, connect []natstest.Connector, change func(*Config), disturb func(leader func() int, progress func(string))) {
	t.Helper()
	three := func(c *Config) { c.Replicas = 3 }
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 100_000 })
	var edges []*Store
	var followers []*follower
	for _, by := range connect {
		e := open(t, by, three, change)
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
		await(t, "messages to be stored: "+what, func() bool { return count() >= before+30 })
	}
	progress("at first")
	disturb(func() int { return leader(t, edges[0].js) }, progress)
	stop()
	awaitPut(t, edges[0], "one that what waits can be behind")
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
