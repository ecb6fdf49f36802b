package nats_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// closeBound is far above what Close may take: four waits of leaveTimeout, and writes that
// give up after 5 s.
const closeBound = 25 * time.Second

// leaveTimeout is how long Close waits for other edges, and for NATS.
const leaveTimeout = time.Second

func closeInTime(t *testing.T, e *edge) {
	t.Helper()
	begin := time.Now()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > closeBound {
		t.Errorf("Close took %v", took)
	}
}

func TestCloseWithoutServer(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	e := startEdge(t, natstest.Connect(s), 1<<20)
	e.subscribe(t, "t", "a")
	s.Shutdown()
	s.WaitForShutdown()
	closeInTime(t, e) // before it has noticed, perhaps
	begun := startStopped(t)
	closeInTime(t, begun)
}

// startStopped returns an edge that has noticed that its server is gone.
func startStopped(t *testing.T) *edge {
	t.Helper()
	s := natstest.Server(t)
	e := startEdge(t, natstest.Connect(s), 1<<20)
	s.Shutdown()
	s.WaitForShutdown()
	await(t, "the end of the link", func() bool { return !e.up() })
	return e
}

func TestCloseWithSilentServer(t *testing.T) {
	t.Parallel()
	p := natstest.StartProxy(t, natstest.Server(t))
	e := startEdge(t, connectThrough(p, never), 1<<20)
	e.subscribe(t, "t", "a")
	p.Hold()
	e.Subscribe("t", "b", func() {})
	closeInTime(t, e)
}

// Close waits for what is queued, but only up to leaveTimeout.
func TestCloseWithFullQueue(t *testing.T) {
	t.Parallel()
	p := natstest.StartProxy(t, natstest.Server(t))
	e := startEdge(t, connectThrough(p, never), queueBytes)
	p.Hold()
	e.fill(t)
	closeInTime(t, e)
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	e := startEdge(t, natstest.Connect(natstest.Server(t)), 1<<20)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { closeInTime(t, e) })
	}
	wg.Wait()
	closeInTime(t, e)
}

// The hub is not told that a link is down that the edge itself ends.
func TestCloseIsNoOutage(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	var list []*edge
	for range 20 { // the client library says so a moment later, if at all
		list = append(list, startEdge(t, natstest.Connect(s), 1<<20))
	}
	for _, e := range list {
		closeInTime(t, e)
	}
	await(t, "the connections to end", func() bool { return s.NumClients() == 0 })
	for _, e := range list {
		if got := e.linkHistory(); got != "[]" {
			t.Errorf("the hub heard %s of a link that was closed", got)
		}
	}
}

// All methods can be called while the broker closes, and nothing comes after.
func TestCloseAmongCalls(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := startEdge(t, natstest.Connect(s), 1<<20), startEdge(t, natstest.Connect(s), 1<<20)
	for _, e := range []*edge{a, b} {
		e.subscribe(t, "t", "a")
	}
	a.reach(t, b, "a")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g, e := range []*edge{a, b, a, b} {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = e.publish(wire.Delivery(i%3), "a", "x")
				e.Subscribe("t", fmt.Sprintf("own%d", g), func() {})
				e.Announce(pubsub.Edge{Host: "h"})
				e.Edges()
				e.Unsubscribe("t", fmt.Sprintf("own%d", g))
				time.Sleep(time.Millisecond)
			}
		})
	}
	closeInTime(t, b)
	n, _, _ := b.counts()
	for range 20 {
		_ = a.publish(wire.Broadcast, "a", "late")
	}
	a.reachServer(t)
	if b.has("late") {
		t.Errorf("%d messages came, and then one after Close", n)
	}
	close(stop)
	wg.Wait()
}

// reachServer returns when the server has read what e sent.
func (e *edge) reachServer(t *testing.T) {
	t.Helper()
	e.subscribe(t, "t", "unique.to.this")
}

// No message to a random subscriber is lost when an edge stops that others take for one with
// a subscriber: it forwards what is on its way to it.
func TestCloseLosesNoMessageToOne(t *testing.T) {
	// Not in parallel: the edge waits no longer than leaveTimeout for the others to hear of it,
	// and messages that these then send to it may be lost.
	servers := natstest.Cluster(t, 2) // a message may cross the word that nobody listens any more
	publisher, stays := startEdge(t, natstest.Connect(servers[0]), 8<<20), startEdge(t, natstest.Connect(servers[0]), 8<<20)
	publisher.refuses, publisher.uninterested = true, true
	stays.subscribe(t, "t", "a")
	sent := 0
	for heard := 0; heard < 20; {
		stops := startEdge(t, natstest.Connect(servers[1]), 8<<20)
		stops.subscribe(t, "t", "a")
		await(t, "a message there", func() bool {
			if err := publisher.publish(wire.OneRandom, "a", fmt.Sprint(sent)); err != nil {
				t.Error(err)
			}
			sent++
			n, _, _ := stops.counts()
			return n > 0
		})
		quit, stopped := make(chan struct{}), make(chan struct{})
		go func() { // ends with quit
			defer close(stopped)
			for tick := time.NewTicker(20 * time.Microsecond); ; <-tick.C {
				select {
				case <-quit:
					tick.Stop()
					return
				default:
				}
				came, _, _ := stays.counts()
				taken, _, _ := stops.counts()
				if sent-came-taken > 1000 { // what is more than the queues hold would be dropped
					continue
				}
				if err := publisher.publish(wire.OneRandom, "a", fmt.Sprint(sent)); err != nil {
					t.Error(err)
				}
				sent++
			}
		}()
		stops.mu.Lock()
		stops.refuses, stops.uninterested = true, true // its last session has ended
		stops.mu.Unlock()
		begin := time.Now()
		closeInTime(t, stops)
		inTime := time.Since(begin) < leaveTimeout
		close(quit)
		<-stopped
		n, _, _ := stops.counts()
		sent -= n // what it took
		if inTime {
			heard++
			await(t, "all messages", func() bool { n, _, _ := stays.counts(); return n >= sent })
			continue
		}
		last := fmt.Sprint("the last one before ", sent)
		if err := publisher.publish(wire.OneRandom, "a", last); err != nil {
			t.Error(err)
		}
		await(t, last, func() bool { return stays.has(last) })
		sent, _, _ = stays.counts()
	}
}
