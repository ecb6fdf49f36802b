package nats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// never is a time between pings in which no test ends.
const never = time.Hour

// The link is down while the server says nothing, and up again when it goes on.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	other := startEdge(t, natstest.Connect(s), 1<<20)
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), 1<<20)
	e.subscribe(t, "t", "before")

	p.Hold()
	begin := time.Now()
	e.subscribe(t, "t", "during")
	if took := time.Since(begin); took < 4*time.Second {
		t.Errorf("it was confirmed after %v, by nobody", took)
	}
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
	if got := e.linkHistory(); got != "[false true]" {
		t.Errorf("the hub heard %s, want each change once", got)
	}
}

// The link stays up while the server answers late, but in time.
func TestConfirmationWaits(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), 1<<20)
	p.Hold()
	confirmed := make(chan struct{})
	e.Subscribe("t", "a", func() { close(confirmed) })
	select {
	case <-confirmed:
		t.Error("it is confirmed, and no server knows of it")
	case <-time.After(300 * time.Millisecond):
	}
	p.Resume()
	<-confirmed
	if got := e.linkHistory(); got != "[]" {
		t.Errorf("the hub heard %s of the link", got)
	}
}

// Interests are announced again to a server that was restarted.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	port := loopback.FreePort(t)
	start := func() *server.Server { return natstest.Server(t, func(o *server.Options) { o.Port = port }) }
	s := start()
	a, b := startEdge(t, natstest.Connect(s), 1<<20), startEdge(t, natstest.Connect(s), 1<<20)
	b.subscribe(t, "t", "before")
	b.subscribe(t, "t", "ended")
	a.reach(t, b, "before")

	s.Shutdown()
	s.WaitForShutdown()
	await(t, "the end of the links", func() bool { return !a.up() && !b.up() })
	b.subscribe(t, "t", "during")
	b.Unsubscribe("t", "ended")
	if err := a.publish(wire.Broadcast, "before", "lost"); err == nil {
		t.Error("a message is taken while there is no server")
	}

	start()
	await(t, "the links", func() bool { return a.up() && b.up() })
	a.reach(t, b, "before")
	a.reach(t, b, "during")
	if err := a.publish(wire.Broadcast, "ended", "ended"); err != nil {
		t.Error(err)
	}
	a.reach(t, b, "before") // order holds, so what is before it has come or will not
	if b.has("ended") || b.has("lost") {
		t.Errorf("%q came", b.payloads())
	}
	for _, e := range []*edge{a, b} {
		if got := e.linkHistory(); got != "[false true]" {
			t.Errorf("the hub heard %s, want each change once", got)
		}
	}
}

// An edge that starts before its server serves its own clients until then.
func TestServerStartsLater(t *testing.T) {
	t.Parallel()
	port := loopback.FreePort(t)
	s := natstest.Server(t, func(o *server.Options) { o.Port = port })
	connect := natstest.Connect(s)
	s.Shutdown()
	s.WaitForShutdown()

	var edges []*edge
	for range 2 {
		e := newEdge(t, connect, 1<<20)
		if got := e.linkHistory(); got != "[false]" {
			t.Errorf("the hub heard %s, want that the link is down", got)
		}
		e.subscribe(t, "t", "a")
		if err := e.publish(wire.OneRandom, "a", "own"); err != nil || !e.has("own") {
			t.Errorf("a message that an own client can take: %v", err)
		}
		edges = append(edges, e)
	}
	natstest.Server(t, func(o *server.Options) { o.Port = port })
	edges[0].reach(t, edges[1], "a")
	edges[1].reach(t, edges[0], "a")
}

// A subscription does not wait for long behind a write that is stuck.
func TestSubscribeBehindStuckWrite(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	other := startEdge(t, natstest.Connect(s), 1<<20)
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), 16<<20)
	p.Hold()
	text := strings.Repeat("x", 8<<10)
	for range 512 { // much more than the kernel takes, much less than the queue
		if err := e.publish(wire.Broadcast, "a", text); err != nil {
			t.Fatal(err)
		}
	}
	e.subscribe(t, "t", "b")
	if got := e.linkHistory(); got != "[false]" {
		t.Errorf("when it was confirmed the hub had heard %s, want that the link is down", got)
	}
	p.Resume()
	await(t, "the link", e.up)
	other.reach(t, e, "b")
}
