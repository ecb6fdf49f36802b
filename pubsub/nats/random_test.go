package nats_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// startOverlay starts edges that know each other.
func startOverlay(t *testing.T, edges int) (s *server.Server, list []*edge) {
	t.Helper()
	s = natstest.Server(t)
	for range edges {
		list = append(list, startEdge(t, natstest.Connect(s), 8<<20))
	}
	meet(t, list)
	return s, list
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
		n, _, _ := e.counts()
		each, sum = append(each, n), sum+n
	}
	return each, sum
}

// once checks that each payload from 0 to n-1 came to exactly one hub.
func once(t *testing.T, list []*edge, n int) {
	t.Helper()
	await(t, "all messages", func() bool {
		_, sum := taken(list)
		return sum >= n
	})
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
	_, list := startOverlay(t, 3)
	for i, interests := range [][]string{{"a.b"}, {"a.b", "a.*", "#"}, {"a.b", "a.*", "#", ">", "a.#", "*.b"}} {
		for _, text := range interests {
			list[i].subscribe(t, "t", text)
		}
	}
	const n = 10_000
	send := func(i int) {
		t.Helper()
		if err := list[0].publish(wire.OneRandom, "a.b", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine the first messages go before all edges have answered.
	first := 0
	await(t, "messages at all edges", func() bool {
		send(first)
		first++
		each, _ := taken(list)
		return !slices.Contains(each, 0)
	})
	once(t, list, first)
	before, _ := taken(list)
	for i := range n {
		send(first + i)
	}
	once(t, list, first+n)
	each, _ := taken(list)
	for i := range each {
		each[i] -= before[i]
	}
	tolerance := 5 * math.Sqrt(n*1./3*2/3)
	for i, got := range each {
		if math.Abs(float64(got)-n/3.) > tolerance {
			t.Errorf("edge %d took %d of %d, want a third", i, got, n)
		}
	}
}

// An edge that answered yes and has no subscriber any more forwards messages.
func TestRandomIsForwarded(t *testing.T) {
	t.Parallel()
	_, list := startOverlay(t, 4)
	for _, e := range list {
		e.subscribe(t, "t", "a")
	}
	for _, e := range list[:3] {
		e.mu.Lock()
		e.refuses = true
		e.mu.Unlock()
	}
	const n = 1000
	for i := range n {
		if err := list[0].publish(wire.OneRandom, "a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	once(t, list, n)
	if each, _ := taken(list); each[3] != n {
		t.Errorf("the edges took %v", each)
	}
	for i, e := range list[1:3] {
		e.mu.Lock()
		if e.offered == 0 || e.offered > n {
			t.Errorf("edge %d was offered %d messages of %d", i+1, e.offered, n)
		}
		e.mu.Unlock()
	}
}

// A message that nobody takes, though all have subscribers, is offered to each edge, and
// counted; once more as a last resort, if some were told to leave.
func TestNobodyHasRoom(t *testing.T) {
	t.Parallel()
	const n = 200
	for name, row := range map[string]struct {
		leaves bool
		want   []int // a nearest one leaves its own edge out at first
	}{
		"none has room": {false, []int{n, 2 * n, 2 * n}},
		"some leave":    {true, []int{n + 2*n, 2*n + 2*n, 2*n + 2*n}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list := startOverlay(t, 3)
			for _, e := range list {
				e.subscribe(t, "t", "a")
				e.subscribe(t, "t", "done")
				e.mu.Lock()
				e.refuses, e.onlyLeaving = true, row.leaves
				e.mu.Unlock()
			}
			for i := range n {
				for _, d := range []wire.Delivery{wire.OneRandom, wire.OneNearest} {
					if err := list[0].publish(d, "a", fmt.Sprint(i)); err != nil {
						t.Error(err)
					}
				}
			}
			offered := func(e *edge) int {
				e.mu.Lock()
				defer e.mu.Unlock()
				return e.offered
			}
			for i, e := range list {
				await(t, "all edges to be asked", func() bool { return offered(e) >= row.want[i] })
			}
			list[0].reach(t, list[1], "done")
			list[1].reach(t, list[2], "done")
			list[2].reach(t, list[0], "done")
			counted := 0
			for i, e := range list {
				_, unsent, lost := e.counts()
				if counted += unsent; offered(e) != row.want[i] || lost != 0 {
					t.Errorf("edge %d: %d were offered, want %d; %d missed", i, offered(e), row.want[i], lost)
				}
			}
			if counted != 2*n {
				t.Errorf("%d of %d are counted", counted, 2*n)
			}
		})
	}
}

// Without any interest a message ends where it is published.
func TestNobodyIsInterested(t *testing.T) {
	t.Parallel()
	_, list := startOverlay(t, 3)
	for _, e := range list {
		e.subscribe(t, "t", "done")
		e.mu.Lock()
		e.uninterested, e.refuses = true, true
		e.mu.Unlock()
	}
	for _, d := range []wire.Delivery{wire.OneRandom, wire.OneNearest} {
		for range 100 {
			if err := list[0].publish(d, "a", "x"); err != nil {
				t.Error(err)
			}
		}
	}
	await(t, "the end at the own edge", func() bool {
		list[0].mu.Lock()
		defer list[0].mu.Unlock()
		return list[0].offered >= 100
	})
	list[0].reach(t, list[1], "done")
	list[0].reach(t, list[2], "done")
	for i, want := range []int{100, 0, 0} {
		list[i].mu.Lock()
		if list[i].offered != want || list[i].unsent != 0 {
			t.Errorf("edge %d was offered %d messages, want %d; %d were not sent", i, list[i].offered, want, list[i].unsent)
		}
		list[i].mu.Unlock()
	}
}

// An edge that answered no is drawn as soon as it has a subscriber.
func TestResponderComesLater(t *testing.T) {
	t.Parallel()
	_, list := startOverlay(t, 2)
	for _, e := range list {
		e.mu.Lock()
		e.uninterested, e.refuses = true, true
		e.mu.Unlock()
	}
	if err := list[0].publish(wire.OneRandom, "a", "nobody"); err != nil {
		t.Error(err)
	}
	await(t, "the end at the own edge", func() bool {
		list[0].mu.Lock()
		defer list[0].mu.Unlock()
		return list[0].offered == 1
	})
	list[1].mu.Lock()
	list[1].uninterested, list[1].refuses = false, false
	list[1].mu.Unlock()
	list[1].subscribe(t, "t", "a")
	list[0].reach(t, list[1], "a") // its answer to the pending query came before
	before, _, _ := list[1].counts()
	for i := range 10 {
		if err := list[0].publish(wire.OneRandom, "a", fmt.Sprint(i)); err != nil {
			t.Error(err)
		}
	}
	await(t, "the messages", func() bool {
		n, _, _ := list[1].counts()
		return n == before+10
	})
}

// A subscription that ends loses nothing that NATS has chosen it for, if another
// one of that edge, or of another edge, could take it.
func TestNearestWhileOthersLeave(t *testing.T) {
	t.Parallel()
	_, list := startOverlay(t, 3)
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
			if err := list[0].publish(wire.OneNearest, "a.b", fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	once(t, list, n)
}

// A client that has just subscribed gets messages although the publisher's edge has not
// heard of it yet: NATS knows.
func TestRandomToNewSubscriber(t *testing.T) {
	t.Parallel()
	_, list := startOverlay(t, 2)
	from, to := list[0], list[1]
	from.mu.Lock()
	from.refuses = true
	from.mu.Unlock()
	to.mu.Lock()
	to.uninterested = true // when it is asked
	to.mu.Unlock()
	offered := func() int {
		from.mu.Lock()
		defer from.mu.Unlock()
		return from.offered
	}
	const n = 100
	for i := range n {
		channel, before := fmt.Sprint("a.", i), offered()
		if err := from.publish(wire.OneRandom, channel, "early"); err != nil { // it asks, and is told no; may come yet
			t.Fatal(err)
		}
		await(t, "the answer", func() bool { return offered() > before })
		to.subscribe(t, "t", channel)
		if err := from.publish(wire.OneRandom, channel, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	late := func() (list []string) {
		for _, payload := range to.payloads() {
			if payload != "early" {
				list = append(list, payload)
			}
		}
		return list
	}
	await(t, "all messages", func() bool { return len(late()) >= n })
	got := late()
	slices.Sort(got)
	if different := len(slices.Compact(slices.Clone(got))); len(got) != n || different != n {
		t.Errorf("%d messages came, %d different ones, want %d", len(got), different, n)
	}
}
