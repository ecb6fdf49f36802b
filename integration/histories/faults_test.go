package histories

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/natstest"
)

// Random publishers and subscribers, at all edges, while edges and NATS servers are killed
// and started again, servers stand still, links are cut, limits change, and channels are
// purged. Who was told complete has everything, once and in order, and every loss was told.
func TestHistoriesOverEdges(t *testing.T) {
	t.Parallel()
	first := []string{"cut", "edge", "lag", "node"}
	drawn := append(first[:len(first):len(first)], "purge", "limits")
	if harness.Soaking {
		drawn = append(drawn, "restore") // takes long with three servers
	}
	for range harness.SoakCount(t, 1, 100) {
		runFaults(t, 3, 3, harness.SoakFor(t, 10*time.Second, 60*time.Second), first, drawn)
	}
}

// The same with one NATS server, which is put back to older copies of what it had stored.
// All edges run then: one that was not there cannot know what the server has lost.
func TestHistoriesRestored(t *testing.T) {
	t.Parallel()
	first := harness.AtLength([]string{"restore"}, []string{"restore", "restore"})
	drawn := []string{"restore", "restore", "cut", "edge", "lag", "node", "purge", "limits"}
	for range harness.SoakCount(t, 1, 100) {
		runFaults(t, 1, 2, harness.SoakFor(t, 2*time.Second, 60*time.Second), first, drawn)
	}
}

// runFaults makes a run of so many NATS servers and edges for as long as length: each of the
// first faults, and then random ones.
func runFaults(t *testing.T, nodes, edges int, length time.Duration, first, drawn []string) {
	t.Helper()
	seed := harness.Seed(t)
	f := startFaults(t, seed, nodes, edges, slices.Contains(drawn, "restore"))
	f.run.StartClients()
	f.run.Start(4, 8)
	for end := time.Now().Add(length); len(first) > 0 || time.Now().Before(end); {
		history.PauseRandomly(f.random, 1500, nil)
		fault := drawn[f.random.IntN(len(drawn))]
		if len(first) > 0 {
			fault, first = first[0], first[1:]
		}
		f.play(fault, length)
	}
	f.joinAgain()
	if f.stopped {
		f.run.check.KeysEndAfter = f.shortest
	}
	f.run.Finish()
	if t.Failed() {
		t.FailNow()
	}
	for _, e := range f.Edges {
		e.Stop()
	}
}

// faultRun is a random run over edges, each of which has links of its own to all servers.
type faultRun struct {
	*harness.Overlay
	run      *run
	random   *rand.Rand
	replicas string
	links    [][]*natstest.Proxy // by edge

	parted   int       // the edge whose links are cut
	until    time.Time // so long; zero: none
	short    bool      // meanwhile the history is so short that messages go before that edge has them
	stopped  bool      // a server was: should it lead, it knows the keys of kept messages alone (docs/clustering.md, Keys)
	shortest int       // the fewest messages of a channel that the history had
	copies   []string  // folders with what each server had stored; none: no copy was made
}

// startFaults starts the edges and servers, and returns when each can store.
func startFaults(t *testing.T, seed uint64, nodes, edges int, restored bool) *faultRun {
	t.Helper()
	// A server that told edges of the others would show them ways around the links.
	f := &faultRun{Overlay: &harness.Overlay{T: t, Nodes: harness.StartNATS(t, nodes, ", no_advertise: true")}, replicas: fmt.Sprint(nodes)}
	var urls []string
	for range edges {
		var links []*natstest.Proxy
		var each []string
		for _, node := range f.Nodes {
			link := node.StartProxy(t)
			links, each = append(links, link), append(each, link.URL())
		}
		f.links, urls = append(f.links, links), append(urls, strings.Join(each, " "))
	}
	f.StartEdges(f.file("messages 1000"), harness.JoiningBy(urls, nodes, ""))
	f.Token = f.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	f.awaitHistories()
	f.run = newRun(t, seed, f.Edges...)
	f.run.check.Restored, f.shortest = restored, 1000
	f.random = f.run.Random(1)
	return f
}

func (f *faultRun) file(options ...string) string {
	return history.Caddyfile("nats {\n\t\t\treplicas "+f.replicas+"\n\t\t}", options...)
}

func (f *faultRun) awaitHistories() {
	f.T.Helper()
	for at := range f.Edges {
		history.AwaitHistory(f.Overlay, at)
	}
}

// play plays a fault, in a run of this length.
func (f *faultRun) play(fault string, length time.Duration) {
	f.T.Helper()
	random, log := f.random, func(format string, args ...any) {
		f.T.Logf("%s: %s", time.Now().UTC().Format(time.TimeOnly+".000"), fmt.Sprintf(format, args...))
	}
	if !f.until.IsZero() && time.Now().After(f.until) {
		f.joinAgain()
		log("edge %d has its links again", f.parted)
	}
	at := random.IntN(len(f.Edges))
	if !f.until.IsZero() && at == f.parted { // it can do nothing of what is asked of it
		at = (at + 1) % len(f.Edges)
	}
	server := random.IntN(len(f.Nodes))
	node := f.Nodes[server]
	switch fault {
	case "edge":
		log("edge %d is killed", at)
		f.KillAndStart(at, f.file("messages 1000"), func() { history.PauseRandomly(random, 500, nil) })
		f.run.edges[at].Store(f.Edges[at])
	case "node":
		log("server %d is killed", server)
		f.stopped = true
		node.Kill(f.T)
		history.PauseRandomly(random, 3000, nil)
		node.Restart(f.T)
		f.AwaitAll(f.Nodes...)
	case "lag":
		log("server %d stands still", server)
		node.Suspend(f.T)
		history.PauseRandomly(random, millis(min(length/5, 12*time.Second)), nil)
		node.Continue(f.T)
		f.AwaitAll(f.Nodes...)
	case "cut":
		f.joinAgain()
		silent := random.IntN(2) == 0
		if f.short = random.IntN(2) == 0; f.short {
			f.shortest = 10
			f.Edges[at].Reload(f.file("messages 10"))
		}
		log("edge %d has no links, silently: %v, with a short history: %v", at, silent, f.short)
		for _, link := range f.links[at] {
			if silent {
				link.Hold()
			} else {
				link.Cut()
			}
		}
		// Other faults come meanwhile.
		f.parted, f.until = at, time.Now().Add(time.Duration(random.IntN(millis(min(harness.AtLength(length/5, length/2), 30*time.Second))))*time.Millisecond)
	case "restore":
		f.restore(log)
	case "purge":
		log("edge %d purges", at)
		f.Edges[at].Poll("a purge", func() bool {
			return f.Edges[at].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant, "--channel", fmt.Sprintf("chat.%d", random.IntN(5))).Code == 0
		})
	case "limits":
		// An age below the time for which a key may have to be repeated forgets it too early.
		limits := [][]string{{"messages 10"}, {"messages 100"}, {"messages 1000", "age 30s"}, {"messages 1000", "max_lag 1s"}, {"messages 1000"}}
		put := limits[random.IntN(len(limits))]
		log("edge %d: %s", at, put)
		var messages int
		if _, err := fmt.Sscanf(put[0], "messages %d", &messages); err != nil {
			f.T.Fatal(err)
		}
		f.shortest = min(f.shortest, messages)
		f.Edges[at].Reload(f.file(put...))
	default:
		f.T.Fatalf("there is no fault %s", fault)
	}
}

func millis(d time.Duration) int { return int(d.Milliseconds()) }

// joinAgain gives an edge back its links, and the history its length.
func (f *faultRun) joinAgain() {
	f.T.Helper()
	for _, link := range f.links[f.parted] {
		link.Resume()
	}
	f.until = time.Time{}
	if f.short {
		f.short = false
		f.Edges[(f.parted+1)%len(f.Edges)].Reload(f.file("messages 1000"))
	}
}

// restore puts the servers back to a copy: one that is made now, of which they lose what is
// stored afterwards, or an earlier one.
func (f *faultRun) restore(log func(string, ...any)) {
	t := f.T
	t.Helper()
	f.joinAgain()
	if f.copies == nil || f.random.IntN(2) == 0 {
		log("the servers are copied")
		f.copies = nil
		f.stopAndStart(func(at int, node *natstest.Node) {
			to := filepath.Join(t.TempDir(), "copy")
			node.Save(t, to)
			f.copies = append(f.copies, to)
		})
	}
	f.awaitHistories() // each edge has what the copy has not
	history.PauseRandomly(f.random, 500, nil)
	log("the servers are put back to the copy")
	f.stopAndStart(func(at int, node *natstest.Node) { node.PutBack(t, f.copies[at]) })
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
