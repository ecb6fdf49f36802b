package histories

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/internal/natstest"
)

// kind is a kind of run: with so many NATS servers and edges, for some time, with each of the
// first faults, and then random ones.
type kind struct {
	name, store  string
	nodes, edges int
	short, soak  time.Duration
	first, drawn string
}

var kinds = []kind{
	{"Memory", "memory", 0, 1, 6 * time.Second, 15 * time.Second, "limits", "limits limits limits purge"},
	{"OfKilledEdges", "badger {{.Dir}}/histories", 0, 1, time.Second, 15 * time.Second, "limits edge edge edge", "edge edge limits"},
	{"OverEdges", "nats", 3, 3, 10 * time.Second, time.Minute, "cut edge lag node", "cut edge lag node purge limits"},
	// All edges run when a server is put back to a copy of what it had stored: one that was not
	// there cannot know what the server has lost.
	{"Restored", "nats", 1, 2, 2 * time.Second, time.Minute, "restore", "restore restore cut edge lag node purge limits"},
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
	length := harness.SoakFor(t, k.short, k.soak)
	f := k.start(t, harness.Seed(t), length)
	finish := f.run.start()
	first, drawn := strings.Fields(k.first), strings.Fields(k.drawn)
	for end := time.Now().Add(length); len(first) > 0 || time.Now().Before(end); {
		history.PauseRandomly(f.random, 1500, nil)
		fault := drawn[f.random.IntN(len(drawn))]
		if len(first) > 0 {
			fault, first = first[0], first[1:]
		}
		f.play(fault)
	}
	f.joinAgain()
	if f.stopped {
		f.run.check.KeysEndAfter = f.shortest
	}
	finish()
	for _, e := range f.Edges {
		e.Stop()
	}
}

// faultRun is a run over edges, each of which has links of its own to all servers.
type faultRun struct {
	*harness.Overlay
	kind
	run    *run
	length time.Duration
	random *rand.Rand
	links  [][]*natstest.Proxy // by edge

	parted   int       // the edge whose links are cut
	until    time.Time // so long; zero: none
	short    bool      // meanwhile the history is so short that messages go before that edge has them
	stopped  bool      // a server was: should it lead, it knows the keys of kept messages alone (docs/clustering.md, Keys)
	shortest int       // the fewest messages of a channel that the history had
	copies   []string  // folders with what each server had stored; none: no copy was made
}

// start starts the edges and servers, and returns when each can store.
func (k kind) start(t *testing.T, seed uint64, length time.Duration) *faultRun {
	t.Helper()
	f := &faultRun{kind: k, Overlay: &harness.Overlay{T: t}, length: length, shortest: 1000}
	joins := []harness.Option{func(*harness.Edge) {}}
	if k.nodes > 0 {
		// A server that told edges of the others would show them ways around the links.
		f.Nodes = harness.StartNATS(t, k.nodes, ", no_advertise: true")
		var urls []string
		for range k.edges {
			var links []*natstest.Proxy
			var each []string
			for _, node := range f.Nodes {
				link := node.StartProxy(t)
				links, each = append(links, link), append(each, link.URL())
			}
			f.links, urls = append(f.links, links), append(urls, strings.Join(each, " "))
		}
		joins = harness.JoiningBy(urls, k.nodes, "")
		f.store = fmt.Sprintf("nats {\n\t\t\treplicas %d\n\t\t}", k.nodes)
	}
	f.StartEdges(f.file("messages 1000"), joins)
	f.Token = f.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	f.awaitHistories()
	f.run = &run{Overlay: f.Overlay, seed: seed, check: historycheck.New(), alive: make([]atomic.Pointer[harness.Edge], k.edges)}
	for i, e := range f.Edges {
		f.run.alive[i].Store(e)
	}
	f.run.check.Shared, f.run.check.Restored = k.edges > 1, strings.Contains(k.drawn, "restore")
	f.random = f.run.part(1)
	return f
}

func (f *faultRun) file(options ...string) string { return history.Caddyfile(f.store, options...) }

func (f *faultRun) awaitHistories() {
	f.T.Helper()
	for at := range f.Edges {
		history.AwaitHistory(f.Overlay, at)
	}
}

// pause is a random time up to a part of the run's, in ms; a limit bounds it in soaks.
func (f *faultRun) pause(part time.Duration, limit time.Duration) int {
	return int(min(f.length/part, limit).Milliseconds())
}

func (f *faultRun) play(fault string) {
	f.T.Helper()
	random := f.random
	if !f.until.IsZero() && time.Now().After(f.until) {
		f.joinAgain()
	}
	at := random.IntN(len(f.Edges))
	if !f.until.IsZero() && at == f.parted { // it can do nothing of what is asked of it
		at = (at + 1) % len(f.Edges)
	}
	server := random.IntN(max(1, len(f.Nodes)))
	f.T.Logf("%s: %s of edge %d or server %d", time.Now().UTC().Format(time.TimeOnly+".000"), fault, at, server)
	switch fault {
	case "edge":
		f.KillAndStart(at, f.file("messages 1000"), func() { history.PauseRandomly(random, 500, nil) })
		f.run.alive[at].Store(f.Edges[at])
	case "node":
		f.stopped = true
		f.Nodes[server].Kill(f.T)
		history.PauseRandomly(random, 3000, nil)
		f.Nodes[server].Restart(f.T)
		f.AwaitAll(f.Nodes...)
	case "lag":
		f.Nodes[server].Suspend(f.T)
		history.PauseRandomly(random, f.pause(5, 12*time.Second), nil)
		f.Nodes[server].Continue(f.T)
		f.AwaitAll(f.Nodes...)
	case "cut":
		f.joinAgain()
		if f.short = random.IntN(2) == 0; f.short {
			f.shortest = 10
			f.Edges[at].Reload(f.file("messages 10"))
		}
		cut := []func(*natstest.Proxy){(*natstest.Proxy).Hold, (*natstest.Proxy).Cut}[random.IntN(2)]
		for _, link := range f.links[at] {
			cut(link)
		}
		// Other faults come meanwhile.
		f.parted, f.until = at, time.Now().Add(time.Duration(random.IntN(f.pause(harness.AtLength[time.Duration](5, 2), 30*time.Second)))*time.Millisecond)
	case "restore":
		f.restore()
	case "purge":
		f.Edges[at].Poll("a purge", func() bool {
			return f.Edges[at].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant, "--channel", fmt.Sprintf("chat.%d", random.IntN(5))).Code == 0
		})
	case "limits":
		messages := []int{10, 100, 1000, 1000, 1000}[random.IntN(5)]
		age := "age 30s" // below the time for which a key may have to be repeated, it would be forgotten too early
		if f.store == "memory" {
			age = "age 2s"
		}
		more := []string{"", "", "size 1MiB", age, "max_lag 1s"}[random.IntN(5)]
		f.shortest = min(f.shortest, messages)
		f.Edges[at].Reload(f.file(fmt.Sprintf("messages %d", messages), more))
	default:
		f.T.Fatalf("there is no fault %s", fault)
	}
}

// joinAgain gives an edge back its links, and the history its length.
func (f *faultRun) joinAgain() {
	f.T.Helper()
	if len(f.links) > 0 {
		for _, link := range f.links[f.parted] {
			link.Resume()
		}
	}
	f.until = time.Time{}
	if f.short {
		f.short = false
		f.Edges[(f.parted+1)%len(f.Edges)].Reload(f.file("messages 1000"))
	}
}

// restore puts the servers back to a copy: one that is made now, of which they lose what is
// stored afterwards, or an earlier one.
func (f *faultRun) restore() {
	f.T.Helper()
	f.joinAgain()
	if f.copies == nil || f.random.IntN(2) == 0 {
		f.copies = nil
		f.stopAndStart(func(at int, node *natstest.Node) {
			f.copies = append(f.copies, filepath.Join(f.T.TempDir(), "copy"))
			node.Save(f.T, f.copies[at])
		})
	}
	f.awaitHistories() // each edge has what the copy has not
	history.PauseRandomly(f.random, 500, nil)
	f.stopAndStart(func(at int, node *natstest.Node) { node.PutBack(f.T, f.copies[at]) })
	f.awaitHistories()
}

// stopAndStart stops all servers, does something with each, and starts them again.
func (f *faultRun) stopAndStart(meanwhile func(at int, node *natstest.Node)) {
	f.T.Helper()
	f.stopped = true
	for _, node := range f.Nodes {
		node.Stop(f.T)
	}
	for at, node := range f.Nodes {
		meanwhile(at, node)
	}
	for _, node := range f.Nodes {
		node.Restart(f.T)
	}
	f.AwaitAll(f.Nodes...)
}
