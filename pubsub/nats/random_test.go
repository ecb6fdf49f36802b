package nats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// startOverlay starts edges that know each other.
func startOverlay(t *testing.T, edges int) (list []*edge) {
	t.Helper()
	connect := serve(t)
	for range edges {
		list = append(list, startEdge(t, connect))
	}
	meet(t, list)
	return list
}

// meet waits until edges have heard of each other.
func meet(t *testing.T, list []*edge) {
	t.Helper()
	for i, e := range list {
		e.Announce(pubsub.Edge{Host: fmt.Sprintf("edge%d", i)})
	}
	for _, e := range list {
		await(t, "the edges to meet", func() bool { return len(e.Edges()) == len(list) })
	}
}

// taken returns how many messages each hub took.
func taken(list []*edge) (each []int, sum int) {
	for _, e := range list {
		n := e.taken()
		each, sum = append(each, n), sum+n
	}
	return each, sum
}

// once checks that n different payloads have come, each to one hub.
func once(t *testing.T, list []*edge, n int) {
	t.Helper()
	await(t, "all messages", func() bool { _, sum := taken(list); return sum >= n })
	var all []string
	for _, e := range list {
		all = append(all, e.payloads()...)
	}
	slices.Sort(all)
	if different := len(slices.Compact(slices.Clone(all))); len(all) != n || different != n {
		t.Errorf("%d messages came, %d different ones, want %d", len(all), different, n)
	}
}

// Each edge with a subscriber has the same probability, however many interests it has: brokers
// know nothing of connections.
func TestRandomIsUniformOverEdges(t *testing.T) {
	t.Parallel()
	list := startOverlay(t, 3)
	for i, interests := range [][]string{{"a.b"}, {"a.b", "a.*", "#"}, {"a.b", "a.*", "#", ">", "a.#", "*.b"}} {
		list[i].subscribe(t, "t", interests...)
	}
	const n = 10_000
	// On a busy machine the first messages go before all edges have answered.
	first := 0
	await(t, "messages at all edges", func() bool {
		list[0].mustPublish(t, wire.OneRandom, "a.b", first)
		first++
		each, _ := taken(list)
		return !slices.Contains(each, 0)
	})
	once(t, list, first)
	before, _ := taken(list)
	for i := range n {
		list[0].mustPublish(t, wire.OneRandom, "a.b", first+i)
		if i%500 == 499 { // more at once may be too much for a busy edge
			once(t, list, first+i+1)
		}
	}
	each, _ := taken(list)
	tolerance := 6 * math.Sqrt(n*1./3*2/3)
	for i, got := range each {
		if got -= before[i]; math.Abs(float64(got)-n/3.) > tolerance {
			t.Errorf("edge %d took %d of %d, want a third", i, got, n)
		}
	}
}

// A message that nobody takes, though all have subscribers, is offered to each edge, and
// counted; once more as a last resort, if some were told to leave.
func TestNobodyHasRoom(t *testing.T) {
	t.Parallel()
	const n = 200
	for name, row := range map[string]struct {
		leaves bool
		last   int
		want   []int // a nearest one leaves its own edge out at first
	}{
		"none has room": {false, 0, []int{n, 2 * n, 2 * n}},
		"some leave":    {true, 2 * n, []int{n + 2*n, 2*n + 2*n, 2*n + 2*n}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := startOverlay(t, 3)
			for _, e := range list {
				e.subscribe(t, "t", "a", "done")
				e.set(func(s *hubState) { s.refuses, s.onlyLeaving = true, row.leaves })
			}
			for i := range n {
				for _, d := range []wire.Delivery{wire.OneRandom, wire.OneNearest} {
					list[0].mustPublish(t, d, "a", i)
				}
			}
			for i, e := range list {
				await(t, "all edges to be asked", func() bool { return e.get().offered >= row.want[i] })
			}
			counted := func() (n int) {
				for _, e := range list {
					n += e.get().unsent
				}
				return n
			}
			await(t, "what nobody took to be counted", func() bool { return counted() >= 2*n })
			list[0].reach(t, list[1], "done")
			list[1].reach(t, list[2], "done")
			list[2].reach(t, list[0], "done")
			for i, e := range list {
				if s := e.get(); s.offered != row.want[i] || s.last != row.last || s.missed != 0 {
					t.Errorf("edge %d: %d were offered, want %d, %d as a last resort, want %d; %d missed", i, s.offered, row.want[i], s.last, row.last, s.missed)
				}
			}
			equal(t, "messages that are counted as unsent", counted(), 2*n)
		})
	}
}

// Without any interest a message ends where it is published. An edge that answered no is drawn
// as soon as it has a subscriber.
func TestNobodyIsInterested(t *testing.T) {
	t.Parallel()
	list := startOverlay(t, 3)
	for _, e := range list {
		e.subscribe(t, "t", "done")
		e.set(func(s *hubState) { s.uninterested, s.refuses = true, true })
	}
	for _, d := range []wire.Delivery{wire.OneRandom, wire.OneNearest} {
		for range 100 {
			list[0].mustPublish(t, d, "a", "x")
		}
	}
	await(t, "the end at the own edge", func() bool { return list[0].get().offered >= 100 })
	list[0].reach(t, list[1], "done")
	list[0].reach(t, list[2], "done")
	for i, want := range []int{100, 0, 0} {
		if s := list[i].get(); s.offered != want || s.unsent != 0 {
			t.Errorf("edge %d was offered %d messages, want %d; %d were not sent", i, s.offered, want, s.unsent)
		}
	}
	late := list[1]
	late.set(func(s *hubState) { s.uninterested, s.refuses = false, false })
	late.subscribe(t, "t", "a")
	list[0].reach(t, late, "a") // its answer to the pending query came before
	before := late.taken()
	for i := range 10 {
		list[0].mustPublish(t, wire.OneRandom, "a", i)
	}
	await(t, "the messages", func() bool { return late.taken() == before+10 })
}

// A subscription that ends loses nothing that NATS has chosen it for, if another
// one of that edge, or of another edge, could take it.
func TestNearestWhileOthersLeave(t *testing.T) {
	t.Parallel()
	list := startOverlay(t, 3)
	list[1].subscribe(t, "t", "a.b")
	n := 0
	for range 100 {
		for _, e := range list[1:] {
			e.subscribe(t, "t", "a.*")
		}
		for i := range 40 {
			if i == 20 {
				for _, e := range list[1:] {
					e.Unsubscribe("t", "a.*")
				}
			}
			list[0].mustPublish(t, wire.OneNearest, "a.b", n)
			n++
		}
	}
	once(t, list, n)
}

// A client that has just subscribed gets messages although the publisher's edge has not
// heard of it yet: NATS knows.
func TestRandomToNewSubscriber(t *testing.T) {
	t.Parallel()
	list := startOverlay(t, 2)
	from, to := list[0], list[1]
	from.set(func(s *hubState) { s.refuses = true })
	to.set(func(s *hubState) { s.uninterested = true }) // when it is asked
	const n = 100
	for i := range n {
		channel, before := fmt.Sprint("a.", i), from.get().offered
		from.mustPublish(t, wire.OneRandom, channel, "early") // it asks, and is told no; may come yet
		await(t, "the answer", func() bool { return from.get().offered > before })
		to.subscribe(t, "t", channel)
		from.mustPublish(t, wire.OneRandom, channel, i)
	}
	late := func() []string {
		return slices.DeleteFunc(to.payloads(), func(payload string) bool { return payload == "early" })
	}
	await(t, "all messages", func() bool { return len(late()) >= n })
	got := late()
	slices.Sort(got)
	if different := len(slices.Compact(slices.Clone(got))); len(got) != n || different != n {
		t.Errorf("%d messages came, %d different ones, want %d", len(got), different, n)
	}
}
