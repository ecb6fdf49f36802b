package nats_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
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
	s := natstest.Server(t)
	a, b, c := startEdge(t, natstest.Connect(s), 1<<20), startEdge(t, natstest.Connect(s), 1<<20), startEdge(t, natstest.Connect(s), 1<<20)
	a.awaitEdges(t) // nobody has said anything
	a.Announce(pubsub.Edge{Host: "a", Region: "eu"})
	b.Announce(pubsub.Edge{Host: "b", Region: "us"})
	c.Announce(pubsub.Edge{Host: "c:8443"})
	for _, e := range []*edge{a, b, c} {
		e.awaitEdges(t, "a/eu", "b/us", "c:8443/")
	}
	late := startEdge(t, natstest.Connect(s), 1<<20) // those that are there tell it
	late.awaitEdges(t, "a/eu", "b/us", "c:8443/")
	late.Announce(pubsub.Edge{Host: "a", Region: "eu"})

	b.Draining()
	for _, e := range []*edge{a, b, c, late} {
		e.awaitEdges(t, "a/eu", "c:8443/")
	}
	nc, err := natstest.Connect(s)()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	said, err := nc.SubscribeSync("p.a")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for { // it says so, and does not only fall silent
		m, err := said.NextMsg(testTimeout)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(m.Data, []byte("c:8443")) && bytes.Contains(m.Data, []byte("gone")) {
			break
		}
		if edges := a.Edges(); len(edges) == 1 {
			t.Fatal("an edge that closed is dropped, and has not said so")
		}
	}
	for _, e := range []*edge{a, b, late} {
		e.awaitEdges(t, "a/eu")
	}
	if err := late.Close(); err != nil { // another one has its host
		t.Error(err)
	}
	a.Announce(pubsub.Edge{Host: "z"})
	b.awaitEdges(t, "z/")
}
