package nats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/brokertest"
	"github.com/millrace/millrace/wire"
)

func (e *edge) awaitEdges(t *testing.T, want ...string) {
	t.Helper()
	await(t, fmt.Sprintf("the edges to be %q", want), func() bool {
		hosts := []string{}
		for _, edge := range e.Edges() {
			hosts = append(hosts, edge.Host+"/"+edge.Region)
		}
		return fmt.Sprintf("%q", hosts) == fmt.Sprintf("%q", want)
	})
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, b, c := startEdge(t, connect), startEdge(t, connect), startEdge(t, connect)
	a.awaitEdges(t) // nobody has said anything
	a.Announce(pubsub.Edge{Host: "a", Region: "eu"})
	b.Announce(pubsub.Edge{Host: "b", Region: "us"})
	c.Announce(pubsub.Edge{Host: "c:8443"})
	for _, e := range []*edge{a, b, c} {
		e.awaitEdges(t, "a/eu", "b/us", "c:8443/")
	}
	late := startEdge(t, connect) // those that are there tell it
	late.awaitEdges(t, "a/eu", "b/us", "c:8443/")
	late.Announce(pubsub.Edge{Host: "a", Region: "eu"})

	b.SetDraining(true)
	for _, e := range []*edge{a, b, c, late} {
		e.awaitEdges(t, "a/eu", "c:8443/")
	}
	b.SetDraining(false)
	for _, e := range []*edge{a, b, c, late} {
		e.awaitEdges(t, "a/eu", "b/us", "c:8443/")
	}
	b.SetDraining(true)
	nc, err := connect()
	must(t, err)
	defer nc.Close()
	said, err := nc.SubscribeSync("p.a")
	must(t, err)
	must(t, nc.Flush())
	noError(t, c.Close())
	for { // it says so, and does not only fall silent
		m, err := said.NextMsg(natstest.Limit)
		must(t, err)
		if bytes.Contains(m.Data, []byte("c:8443")) && bytes.Contains(m.Data, []byte("gone")) {
			break
		}
	}
	for _, e := range []*edge{a, b, late} {
		e.awaitEdges(t, "a/eu")
	}
	noError(t, late.Close()) // another one has its host
	a.Announce(pubsub.Edge{Host: "z"})
	b.awaitEdges(t, "z/")
}

// What was under way to an edge that died without an announcement is lost. What is sent
// after NATS has noticed goes to others, at once.
func TestDeadEdgeIsDropped(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	p := natstest.StartProxy(t, s)
	from, witness, dies := startEdge(t, natstest.Connect(s)), startEdge(t, natstest.Connect(s)), startEdge(t, connectThrough(p, never))
	meet(t, []*edge{from, witness, dies})
	for _, e := range []*edge{from, witness, dies} {
		e.subscribe(t, "t", "a")
	}
	from.reach(t, witness, "a")
	await(t, "a message at the edge that is to die", func() bool { // until it is known to have a subscriber
		from.mustPublish(t, wire.OneRandom, "a", "first")
		return dies.has("first")
	})
	p.Cut()
	await(t, "the server to notice", func() bool { return s.NumClients() == 2 })

	const n = 100
	for i := range n {
		from.mustPublish(t, wire.OneRandom, "a", fmt.Sprint("to one ", i))
		from.reach(t, witness, "a") // a way to NATS and back
	}
	came := func() (came int) {
		for _, payload := range append(from.payloads(), witness.payloads()...) {
			if bytes.HasPrefix([]byte(payload), []byte("to one")) {
				came++
			}
		}
		return came
	}
	await(t, "all messages", func() bool { return came() >= n })
	if edges := from.Edges(); came() != n || len(edges) != 2 {
		t.Errorf("%d of %d messages came; the edges are %v, with one that is dead", came(), n, edges)
	}
}

// An edge has caught up when the hub has all that others had published, and theirs all
// that it had, wherever that was held up.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	p := natstest.StartProxy(t, s)
	slow, others := startEdge(t, connectThrough(p, never)), []*edge{startEdge(t, natstest.Connect(s)), startEdge(t, natstest.Connect(s))}
	meet(t, append(others, slow))
	slow.subscribe(t, "t", "a")
	for _, from := range others {
		from.reach(t, slow, "a")
	}
	const n = 1000
	for _, where := range []struct {
		name     string
		hold, on func()
	}{{"on the way", p.Hold, p.Resume}, {"in its inbox", slow.hold, slow.release}} {
		t.Run(where.name, func(t *testing.T) {
			where.hold()
			for i := range n {
				for at, from := range others {
					from.mustPublish(t, wire.Broadcast, "a", fmt.Sprintf("%s %d of %d", where.name, i, at))
				}
			}
			caught, heard := make(chan bool, 1), make(chan bool, 1)
			last := func(of int) bool { return slow.has(fmt.Sprintf("%s %d of %d", where.name, n-1, of)) }
			slow.CatchUp("t", func() { caught <- last(0) && last(1) })
			others[1].CatchUp("t", func() { heard <- last(1) })
			slow.giveUpNever("t")
			others[1].giveUpNever("t")
			where.on()
			for who, got := range map[string]<-chan bool{"the edge that was held up": caught, "the edge that published": heard} {
				if !natstest.Receive(t, who, got) {
					t.Errorf("%s was told too early that all is there", who)
				}
			}
		})
	}
}

// heard notes messages about presence.
type heard struct {
	mu       sync.Mutex
	messages []string
}

func (h *heard) take(_, edge string, message []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, edge+" "+string(message))
	if string(message) == "bad" {
		return errors.New("none of ours")
	}
	return nil
}

func (h *heard) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

func TestAsides(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, _ := startBroker(t, connect)
	b, q := startBroker(t, connect)
	startBroker(t, connect) // has no presence, and takes no notices
	var ofA, ofB, notices heard
	a.HandlePresence(ofA.take)
	b.HandlePresence(ofB.take)
	b.HandleNotices(func(message []byte) error { return notices.take("", "", message) })
	for range 2 { // NATS has both subscriptions when it has answered
		must(t, errors.Join(a.conn.Flush(), b.conn.Flush()))
	}
	a.SendPresence("", []byte("to all"))
	a.SendPresence(b.id.String(), []byte("to b"))
	await(t, "two messages", func() bool { return len(ofB.list()) == 2 })
	if got, want := fmt.Sprint(ofB.list()), fmt.Sprintf("[%[1]s to all %[1]s to b]", a.id); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.SendPresence(a.id.String(), []byte("to a"))
	await(t, "an answer", func() bool { return len(ofA.list()) == 1 })

	nc, err := connect()
	must(t, err)
	defer nc.Close()
	bad := [][]byte{nil, {version}, {version, kindPresence, 1}, {version + 1, kindPresence, 0, 0, 0, 0, 0, 0, 0, 1, 'x'},
		{version, kindQuery, 0, 0, 0, 0, 0, 0, 0, 1, 'x'}, append([]byte{version, kindPresence, 0, 0, 0, 0, 0, 0, 0, 1}, "bad"...)}
	for _, body := range bad {
		must(t, nc.Publish(b.subscribePrefix+"p", body))
	}
	must(t, nc.Flush())
	must(t, nc.Publish(b.subscribePrefix+"t", []byte{version, kindPresence, 0, 0, 0, 0, 0, 0, 0, 1, 'x'}))
	must(t, nc.Flush())
	a.SendNotice([]byte("revoked"))
	await(t, "a notice", func() bool { return slices.Equal(notices.list(), []string{" revoked"}) })
	a.SendPresence("", []byte("last"))
	await(t, "the last message", func() bool { return slices.Contains(ofB.list(), a.id.String()+" last") })
	if got := ofB.list(); len(got) != 4 || q.get().rejected != len(bad)+1 { // with the one that the registry does not know
		t.Errorf("got %q, and %d of %d are counted as refused", got, q.get().rejected, len(bad))
	}
}

// The conformance suite by one server, by a cluster, and with edges that may each send in
// their own name only. Each case is an overlay of its own.
func TestConformance(t *testing.T) {
	names := []string{"edge-0", "edge-1", "edge-2"}
	one, cluster, named := natstest.Server(t, natstest.Core), natstest.Cluster(t, 3, natstest.Core), namedServer(t, names...)
	var overlays atomic.Int64
	for name, config := range map[string]func(i int) Config{
		"one server": func(int) Config { return Config{Connect: natstest.Connect(one)} },
		"a cluster":  func(i int) Config { return Config{Connect: natstest.Connect(cluster[i])} },
		"names":      func(i int) Config { return Config{Connect: as(named, names[i]), EdgeName: names[i]} },
	} {
		t.Run(name, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
				t.Parallel()
				prefix := fmt.Sprint("p", overlays.Add(1))
				if name != "names" {
					prefix += ".edges" // a prefix may have dots
				}
				for i := range edges {
					c := config(i)
					c.Prefix, c.QueueBytes, c.Log, c.maxLateness = prefix, 8<<20, zaptest.NewLogger(t), natstest.Limit
					b, err := New(c)
					must(t, err)
					list = append(list, b)
				}
				return list
			})
		})
	}
}
