package histories

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// kind is a kind of run: with so many NATS servers and edges, for some time, with each of the
// first faults, and then random ones.
type kind struct {
	name, store  string
	broker       string // empty: the nodes
	nodes, edges int
	short, soak  time.Duration
	first, drawn string
}

var kinds = []kind{
	{"Memory", "memory", "memory", 0, 1, 6 * time.Second, 15 * time.Second, "limits", "limits limits limits purge"},
	{"OfKilledEdges", "badger {{.Dir}}/histories", "memory", 0, 1, time.Second, 15 * time.Second, "limits edge edge edge", "edge edge limits"},
	// The store goes before the server inside the edge that it uses.
	{"Embedded", "nats", "nats {\n\t\t\tembedded {\n\t\t\t\tname edge-1\n\t\t\t}\n\t\t}", 0, 1, time.Second, 15 * time.Second, "stop edge", "edge stop"},
	{"OverEdges", "nats", "", 3, 3, 10 * time.Second, time.Minute, "cut edge lag node", "cut edge lag node purge limits"},
	// All edges run when a server is put back to a copy of what it had stored: one that was not
	// there cannot know what the server has lost.
	// Servers inside the edges, which reach each other by links.
	{"Joined", "nats", "joined", 0, 3, time.Second, time.Minute, "partition", "partition partition edge purge"},
	{"Restored", "nats", "", 1, 2, 2 * time.Second, time.Minute, "restore", "restore restore cut edge lag node purge limits"},
}

// Random publishers and subscribers, at all edges, while limits change, channels are purged,
// edges and NATS servers are killed and started again, servers stand still or are put back to
// older copies, and links are cut. Who was told complete has everything, once and in order, and
// every loss was told.
func TestHistories(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for range harness.SoakCount(t, 1, 100) {
				if k.run(t); t.Failed() {
					return
				}
			}
		})
	}
}

func (k kind) run(t *testing.T) {
	t.Helper()
	r := k.start(t)
	length := harness.SoakFor(t, k.short, k.soak)
	finish := r.begin()
	first, drawn := strings.Fields(k.first), strings.Fields(k.drawn)
	for end := time.Now().Add(length); len(first) > 0 || time.Now().Before(end); {
		if len(first) == 0 {
			first = []string{drawn[r.random.IntN(len(drawn))]}
		}
		history.PauseRandomly(r.random, 1500, nil)
		r.awaitTraffic()
		r.play(first[0], -1)
		first = first[1:]
	}
	r.awaitTraffic()
	finish()
	r.Edges[0].Reload(harness.DefaultCaddyfile)
	r.Edges[0].AdminCLI("history", "list").Want(1, "", "(404 no_histories)")
	for _, e := range r.Edges {
		e.Stop()
	}
}

// run is publishers and subscribers, over both transports, that internal/historycheck watches,
// and faults.
type run struct {
	*harness.Overlay
	kind
	seed      uint64
	random    *rand.Rand          // of the faults
	links     [][]*natstest.Proxy // by edge, one to each server
	copies    []string            // folders with what each server had stored; none: no copy was made
	addresses []string            // of the edges
	options   client.Options
	check     *historycheck.Checker

	confirmed, received     atomic.Int64             // of all clients, repeats included
	unavailable             atomic.Int64             // publishes that were certainly not stored
	publishing, subscribing context.Context          // done: no more messages; each resumes once more
	ends                    map[string]wire.Position // of each tenant, the last message; set before subscribing is done
}

// start starts the edges and servers, and returns when each can store.
func (k kind) start(t *testing.T) *run {
	t.Helper()
	r := &run{kind: k, seed: harness.Seed(t), check: historycheck.New(), ends: map[string]wire.Position{}}
	r.random = r.part(1)
	if k.store == "nats" {
		servers := k.nodes
		if k.broker == "joined" {
			servers = k.edges
		}
		r.store = fmt.Sprintf("nats {\n\t\t\treplicas %d\n\t\t}", max(1, servers))
		r.check.Shared, r.check.Restored = true, strings.Contains(k.drawn, "restore")
		// A server that is restarted, should it lead, knows the keys of kept messages alone
		// (docs/clustering.md, Keys): of a channel, the fewest are these.
		r.check.KeysEndAfter = 1000
	}
	if k.broker == "joined" {
		r.Overlay, r.links = harness.StartJoined(t, r.file("messages 1000"), []string{t.TempDir(), t.TempDir(), t.TempDir()}, harness.ForBrowsers)
	} else {
		r.Overlay, r.links = history.Linked(t, r.file("messages 1000"), k.nodes, k.edges, func(e *harness.Edge) {
			if k.nodes == 0 {
				e.Broker, e.Store = k.broker, "" // the tokens are on its disk
			}
		})
	}
	r.Token = r.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	r.awaitHistories()
	r.addresses, r.options = history.Clients(r.Overlay, r.Token)
	r.options.ConnectTimeout = 3 * time.Second
	return r
}

func (r *run) file(options ...string) string { return history.Caddyfile(r.store, options...) }

func (r *run) awaitHistories() {
	r.T.Helper()
	for at := range r.Edges {
		history.AwaitHistory(r.Overlay, at)
	}
}

// awaitTraffic returns when messages have come and gone since it was called: on a slow machine a
// fault would otherwise meet none.
func (r *run) awaitTraffic() {
	r.T.Helper()
	confirmed, received := r.confirmed.Load()+100, r.received.Load()+100
	r.Edges[0].Poll("messages between faults", func() bool {
		return r.confirmed.Load() >= confirmed && r.received.Load() >= received
	})
}

// play plays a fault, which is over when it returns, at any edge but the one that is away; -1:
// none is.
func (r *run) play(fault string, away int) {
	r.T.Helper()
	random := r.random
	at := random.IntN(len(r.Edges))
	if at == away {
		at = (at + 1) % len(r.Edges)
	}
	server := random.IntN(max(1, len(r.Nodes)))
	r.T.Logf("%s: %s of edge %d or server %d", time.Now().UTC().Format(time.TimeOnly+".000"), fault, at, server)
	switch fault {
	case "edge", "stop":
		gone := r.Edges[at]
		map[string]func(*harness.Edge){"edge": (*harness.Edge).Kill, "stop": (*harness.Edge).Stop}[fault](gone)
		history.PauseRandomly(random, 500, nil)
		r.Edges[at] = harness.StartEdge(r.T, r.file("messages 1000"), harness.InDir(gone.Dir), harness.Replacing(gone), harness.ForBrowsers)
	case "node":
		r.Nodes[server].Kill(r.T)
		history.PauseRandomly(random, 3000, nil)
		r.Nodes[server].Restart(r.T)
		r.AwaitAll(r.Nodes...)
	case "lag":
		r.Nodes[server].Suspend(r.T)
		history.PauseRandomly(random, harness.AtLength(2000, 12_000), nil)
		r.Nodes[server].Continue(r.T)
		r.AwaitAll(r.Nodes...)
	case "cut": // and another fault comes meanwhile
		cut := []func(*natstest.Proxy){(*natstest.Proxy).Hold, (*natstest.Proxy).Cut}[random.IntN(2)]
		for _, link := range r.links[at] {
			cut(link)
		}
		history.PauseRandomly(random, harness.AtLength(1000, 20_000), nil)
		r.play([]string{"edge", "lag", "node", "purge"}[random.IntN(4)], at)
		for _, link := range r.links[at] {
			link.Resume()
		}
	case "partition":
		r.partition(at)
	case "restore":
		r.restore()
	case "purge":
		r.Edges[at].Poll("a purge", func() bool {
			return r.Edges[at].AdminCLI("history", "purge", "chat", "--tenant", tenants[0], "--channel", fmt.Sprintf("chat.%d", random.IntN(5))).Code == 0
		})
	case "limits":
		messages := []int{10, 100, 1000, 1000, 1000}[random.IntN(5)]
		age := "age 30s" // below the time for which a key may have to be repeated, it would be forgotten too early
		if r.store == "memory" {
			age = "age 2s"
		}
		more := []string{"", "", "size 1MiB", age, "max_lag 1s"}[random.IntN(5)]
		r.check.KeysEndAfter = min(r.check.KeysEndAfter, messages)
		r.Edges[at].Reload(r.file(fmt.Sprintf("messages %d", messages), more))
	default:
		r.T.Fatalf("there is no fault %s", fault)
	}
}

// healTime is how long edges may take to store again once a partition ends: NATS elects new leaders, which
// takes up to 10 s, and an edge 5 s more.
const healTime = 15 * time.Second

// partition cuts an edge and the server inside it off from the others, for longer than these take to elect
// leaders, while publishers have many messages on their way.
func (r *run) partition(at int) {
	r.T.Helper()
	for _, link := range r.links[at] {
		link.Hold()
	}
	time.Sleep(harness.AtLength(6*time.Second, 15*time.Second))
	heal := []func(*natstest.Proxy){(*natstest.Proxy).Resume, (*natstest.Proxy).Heal}[r.random.IntN(2)]
	for _, link := range r.links[at] {
		heal(link)
	}
	healed := time.Now()
	for at := range r.Edges {
		history.AwaitHistory(r.Overlay, at)
		if took := time.Since(healed); harness.Soaking && took > healTime {
			r.T.Errorf("edge %d stores again after %v", at, took)
		}
	}
	r.T.Logf("all edges store again after %v", time.Since(healed))
}

// restore puts the servers back to a copy: one that is made now, so that they lose what is
// stored afterwards, or an earlier one.
func (r *run) restore() {
	r.T.Helper()
	if r.copies == nil || r.random.IntN(2) == 0 {
		r.copies = nil
		r.stopAndStart(func(at int, node *natstest.Node) {
			r.copies = append(r.copies, filepath.Join(r.T.TempDir(), "copy"))
			node.Save(r.T, r.copies[at])
		})
	}
	r.awaitHistories() // each edge has what the copy has not
	history.PauseRandomly(r.random, 500, nil)
	r.stopAndStart(func(at int, node *natstest.Node) { node.PutBack(r.T, r.copies[at]) })
	r.awaitHistories()
}

// stopAndStart stops all servers, does something with each, and starts them again.
func (r *run) stopAndStart(meanwhile func(at int, node *natstest.Node)) {
	r.T.Helper()
	for _, node := range r.Nodes {
		node.Stop(r.T)
	}
	for at, node := range r.Nodes {
		meanwhile(at, node)
	}
	for _, node := range r.Nodes {
		node.Restart(r.T)
	}
	r.AwaitAll(r.Nodes...)
}
