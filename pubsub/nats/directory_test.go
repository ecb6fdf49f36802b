package nats

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
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

	b.Draining()
	for _, e := range []*edge{a, b, c, late} {
		e.awaitEdges(t, "a/eu", "c:8443/")
	}
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
