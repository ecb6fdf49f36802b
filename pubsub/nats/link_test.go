package nats

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// The link is down while the server says nothing, also where a write is stuck, and up again
// when it goes on. What is subscribed meanwhile does not wait for long.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	for name, queued := range map[string]int{"idle": 0, "a stuck write": 512} { // much more than the kernel takes, much less than the queue
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t, natstest.Core)
			other := startEdge(t, natstest.Connect(s))
			p := natstest.StartProxy(t, s)
			e := startEdge(t, connectThrough(p, never), withQueue(16<<20), impatient)
			e.subscribe(t, "t", "before")
			await(t, "the link", e.up)
			e.set(func(s *hubState) { s.links = nil })

			p.Hold()
			for range queued {
				_ = e.publish(wire.Broadcast, "a", strings.Repeat("x", 8<<10)) // the time may be over already
			}
			e.subscribe(t, "t", "during")
			if got := e.linkHistory(); got != "[false]" {
				t.Errorf("when it was confirmed the hub had heard %s, want that the link is down", got)
			}
			e.subscribe(t, "t", "down") // nobody waits while the link is down
			if err := e.publish(wire.Broadcast, "x", "x"); err == nil {
				t.Error("a message is taken while the link is down")
			}
			if got := e.linkHistory(); got != "[false]" {
				t.Errorf("the hub heard %s, want once that the link is down", got)
			}

			p.Resume()
			await(t, "the link", e.up)
			for _, channel := range []string{"before", "during", "down"} {
				other.reach(t, e, channel)
			}
			e.wantChangesOnce(t)
		})
	}
}

// The link stays up while the server answers late, but in time.
func TestConfirmationWaits(t *testing.T) {
	t.Parallel()
	p := natstest.StartProxy(t, natstest.Server(t, natstest.Core))
	e := startEdge(t, connectThrough(p, never), patient)
	p.Hold()
	confirmed := make(chan struct{})
	e.Subscribe("t", "a", func() { close(confirmed) })
	await(t, "the subscription to be written", func() bool {
		e.Broker.mu.Lock()
		defer e.Broker.mu.Unlock()
		return e.subscribesWritten == e.subscribesQueued
	})
	select {
	case <-confirmed:
		t.Error("it is confirmed, and no server knows of it")
	default:
	}
	p.Resume()
	natstest.Receive(t, "the confirmation", confirmed)
	if got := e.linkHistory(); got != "[]" {
		t.Errorf("the hub heard %s of the link", got)
	}
}

// Interests are announced again to a server that was restarted. An edge that starts without a
// server serves its own clients until there is one.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t, natstest.Core)
	connect := natstest.Connect(s)
	a, b := startEdge(t, connect), startEdge(t, connect)
	b.subscribe(t, "t", "before", "ended")
	a.reach(t, b, "before")
	var late *edge
	again(func() {
		await(t, "the end of the links", func() bool { return !a.up() && !b.up() })
		b.subscribe(t, "t", "during")
		b.Unsubscribe("t", "ended")
		if err := a.publish(wire.Broadcast, "before", "lost"); err == nil {
			t.Error("a message is taken while there is no server")
		}
		late = newEdge(t, connect)
		if got := late.linkHistory(); got != "[false]" {
			t.Errorf("the hub heard %s, want that the link is down", got)
		}
		late.subscribe(t, "t", "late")
		if err := late.publish(wire.OneRandom, "late", "own"); err != nil || !late.has("own") {
			t.Errorf("a message that an own client can take: %v", err)
		}
	})
	await(t, "the links", func() bool { return a.up() && b.up() })
	a.reach(t, b, "before")
	a.reach(t, b, "during")
	a.reach(t, late, "late")
	late.reach(t, b, "before")
	a.mustPublish(t, wire.Broadcast, "ended", "ended")
	a.reach(t, b, "before") // order holds, so what is before it has come or will not
	if b.has("ended") || b.has("lost") {
		t.Errorf("%q came", b.payloads())
	}
	for _, e := range []*edge{a, b, late} {
		e.wantChangesOnce(t)
	}
}
