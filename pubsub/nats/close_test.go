package nats

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// closeInTime closes an edge; the goroutines that Close waits for must end.
func closeInTime(t *testing.T, e *edge) {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	noError(t, natstest.Receive(t, "Close", closed))
}

// Close returns, whatever has become of the server. It waits for what is queued, but not
// for ever.
func TestCloseWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *natstest.Proxy, *edge){
		"cut": func(_ *testing.T, p *natstest.Proxy, _ *edge) { p.Cut() }, // before it has noticed, perhaps
		"cut, and noticed": func(t *testing.T, p *natstest.Proxy, e *edge) {
			p.Cut()
			await(t, "the end of the link", func() bool { return !e.up() })
		},
		"silent": func(_ *testing.T, p *natstest.Proxy, e *edge) {
			p.Hold()
			e.Subscribe("t", "b", func() {})
		},
		"silent, with a full queue": func(t *testing.T, p *natstest.Proxy, e *edge) {
			p.Hold()
			e.fill(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := natstest.StartProxy(t, natstest.Server(t, natstest.Core))
			e := startEdge(t, connectThrough(p, never), withQueue(queueBytes), impatient)
			e.subscribe(t, "t", "a")
			lose(t, p, e)
			closeInTime(t, e)
		})
	}
}

// The hub is not told that a link is down that the edge itself ends.
func TestCloseIsNoOutage(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	var list []*edge
	for range 20 { // the client library says so a moment later, if at all
		list = append(list, startEdge(t, natstest.Connect(s)))
	}
	for _, e := range list {
		closeInTime(t, e)
	}
	await(t, "the connections to end", func() bool { return s.NumClients() == 0 })
	for _, e := range list {
		equal(t, "the hub heard of a link that was closed", e.linkHistory(), "[]")
	}
}

// All methods can be called while the broker closes, also Close, and nothing comes after.
func TestCloseAmongCalls(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, b := startEdge(t, connect), startEdge(t, connect)
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
				case <-time.After(time.Millisecond):
				}
				_ = e.publish(wire.Delivery(i%3), "a", "x")
				e.Subscribe("t", fmt.Sprintf("own%d", g), func() {})
				e.Announce(pubsub.Edge{Host: "h"})
				e.Edges()
				e.Unsubscribe("t", fmt.Sprintf("own%d", g))
			}
		})
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() { closeInTime(t, b) })
	}
	closing.Wait()
	n := b.taken()
	for range 20 {
		_ = a.publish(wire.Broadcast, "a", "late")
	}
	a.subscribe(t, "t", "unique.to.this") // the server has read what a sent
	if b.has("late") {
		t.Errorf("%d messages came, and then one after Close", n)
	}
	close(stop)
	wg.Wait()
}

// No message to a random subscriber is lost when an edge stops that others take for one with
// a subscriber: it forwards what is on its way to it.
func TestCloseLosesNoMessageToOne(t *testing.T) {
	// Not in parallel: the edge waits no longer than leaveTimeout for the others to hear of it,
	// and messages that these then send to it may be lost.
	servers := natstest.Cluster(t, 2, natstest.Core) // a message may cross the word that nobody listens any more
	publisher, stays := startEdge(t, natstest.Connect(servers[0])), startEdge(t, natstest.Connect(servers[0]))
	leave := func(s *hubState) { s.refuses, s.uninterested = true, true }
	publisher.set(leave)
	stays.subscribe(t, "t", "a")
	sent := 0
	for heard := 0; heard < 20; {
		stops := startEdge(t, natstest.Connect(servers[1]))
		stops.subscribe(t, "t", "a")
		await(t, "a message there", func() bool {
			publisher.mustPublish(t, wire.OneRandom, "a", sent)
			sent++
			return stops.taken() > 0
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
				if sent-stays.taken()-stops.taken() > 1000 { // what is more than the queues hold would be dropped
					continue
				}
				noError(t, publisher.publish(wire.OneRandom, "a", fmt.Sprint(sent)))
				sent++
			}
		}()
		stops.set(leave) // its last session has ended
		begin := time.Now()
		closeInTime(t, stops)
		inTime := time.Since(begin) < leaveTimeout
		close(quit)
		<-stopped
		sent -= stops.taken()
		if inTime {
			heard++
			await(t, "all messages", func() bool { return stays.taken() >= sent })
			continue
		}
		last := fmt.Sprint("the last one before ", sent)
		publisher.mustPublish(t, wire.OneRandom, "a", last)
		await(t, last, func() bool { return stays.has(last) })
		sent = stays.taken()
	}
}
