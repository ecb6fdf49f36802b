package nats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// What was under way to an edge that died without an announcement is lost. What is sent
// after NATS has noticed goes to others, at once.
func TestDeadEdgeIsDropped(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p := natstest.StartProxy(t, s)
	from, witness := startEdge(t, natstest.Connect(s), 8<<20), startEdge(t, natstest.Connect(s), 8<<20)
	dies := startEdge(t, connectThrough(p, time.Second), 8<<20)
	meet(t, []*edge{from, witness, dies})
	for _, e := range []*edge{from, witness, dies} {
		e.subscribe(t, "t", "a")
	}
	from.reach(t, witness, "a")
	for i := 0; ; i++ { // until it is known to have a subscriber
		if n, _, _ := dies.counts(); n > 0 && dies.has("first") {
			break
		}
		if err := from.publish(wire.OneRandom, "a", "first"); err != nil || i > 10_000 {
			t.Fatalf("no message of %d came to the edge that is to die: %v", i, err)
		}
		time.Sleep(time.Millisecond)
	}
	p.Cut()
	await(t, "the server to notice", func() bool { return s.NumClients() == 2 })

	const n = 300
	for i := range n {
		if err := from.publish(wire.OneRandom, "a", fmt.Sprintf("to one %d", i)); err != nil {
			t.Fatal(err)
		}
		from.reach(t, witness, "a") // a way to NATS and back
	}
	came := 0
	for _, e := range []*edge{from, witness} {
		for _, payload := range e.payloads() {
			var i int
			if _, err := fmt.Sscanf(payload, "to one %d", &i); err == nil {
				came++
			}
		}
	}
	if came != n {
		t.Errorf("%d of %d messages came", came, n)
	}
	if edges := from.Edges(); len(edges) != 2 {
		t.Errorf("the edges are %v, with one that is dead", edges)
	}
}
