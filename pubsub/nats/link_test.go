package nats

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
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
			equal(t, "when it was confirmed the hub had heard", e.linkHistory(), "[false]")
			e.subscribe(t, "t", "down") // nobody waits while the link is down
			if err := e.publish(wire.Broadcast, "x", "x"); err == nil {
				t.Error("a message is taken while the link is down")
			}
			equal(t, "the hub heard", e.linkHistory(), "[false]")

			if queued > 0 { // half of a message may be written: the connection is given up
				await(t, "the count of what waited for it", func() bool { return e.get().unsent > 0 })
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
	equal(t, "the hub heard of the link", e.linkHistory(), "[]")
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
		equal(t, "the hub heard", late.linkHistory(), "[false]")
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

// queueBytes is much more than what the kernel takes.
const queueBytes = 1 << 20

// fill publishes until nothing more is taken, and returns how much was. The
// payloads begin with their number.
func (e *edge) fill(t *testing.T) (taken int) {
	t.Helper()
	for {
		if err := e.publish(wire.Broadcast, "a", fmt.Sprintf("%d %s", taken, strings.Repeat("x", 4000))); err != nil {
			if !errors.Is(err, pubsub.ErrLinkFull) && (e.config.serverTimeout == natstest.Limit || !errors.Is(err, ErrUnavailable)) {
				t.Errorf("a full queue: %v", err)
			}
			break
		}
		taken++
		if taken*4000 > 16*queueBytes {
			t.Fatal("the queue has no end")
		}
	}
	// Two queues, one that is being written, and what the kernel takes.
	if limit := 2*queueBytes + 2<<20; taken*4000 > limit {
		t.Errorf("%d messages were taken, and %d bytes should wait at most", taken, limit)
	}
	return taken
}

// numbers returns the numbers of what came from fill.
func (h *hub) numbers(t *testing.T) (list []int) {
	t.Helper()
	for _, payload := range h.payloads() {
		var n int
		var x string
		if strings.HasPrefix(payload, "probe") {
			continue
		}
		if _, err := fmt.Sscan(payload, &n, &x); err != nil || len(x) != 4000 || len(list) > 0 && n <= list[len(list)-1] {
			t.Fatalf("a message of %d bytes came after %v: %.20q", len(payload), list, payload)
		}
		list = append(list, n)
	}
	return list
}

// What NATS does not take at once waits, up to the bound. A tenant whose share is full is the
// only one to be told: publishers to other tenants, and subscribers, lose nothing.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	other, p := startEdge(t, natstest.Connect(s), withQueue(16<<20)), natstest.StartProxy(t, s)
	other.subscribe(t, "t", "a")
	other.subscribe(t, "quiet", "a")
	e := startEdge(t, connectThrough(p, never), withQueue(queueBytes), patient)
	e.reach(t, other, "a")

	p.Hold()
	taken := e.fill(t)
	// The kernel may have taken some of what fill found waiting.
	await(t, "the refusal of a message beyond the share", func() bool {
		err := e.publish(wire.Broadcast, "beyond", strings.Repeat("x", 4000))
		return errors.Is(err, pubsub.ErrLinkFull)
	})
	for _, d := range []wire.Delivery{wire.Broadcast, wire.OneNearest, wire.OneRandom} {
		m := pubsub.Message{Tenant: []byte("quiet"), Channel: []byte("a"), Payload: fmt.Append(nil, "probe during ", d), Delivery: d}
		if err := e.Publish(m); err != nil {
			t.Errorf("%v of another tenant: %v", d, err)
		}
	}
	p.Resume()
	await(t, "the other tenant's message", func() bool { return other.has(fmt.Sprint("probe during ", wire.Broadcast)) })
	e.reach(t, other, "a")
	equal(t, "the hub heard of the link, which is up", e.linkHistory(), "[]")
	if numbers, unsent := other.numbers(t), e.get().unsent; len(numbers)+unsent != taken {
		t.Errorf("%d of %d messages came, and %d were not sent", len(numbers), taken, unsent)
	}
}

// A message that is larger than the queue is still sent, when the queue is empty. One that
// is larger than NATS allows is lost, and the next one is not.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, b := startEdge(t, connect, withQueue(1000)), startEdge(t, connect, withQueue(1000))
	b.subscribe(t, "t", "a")
	a.reach(t, b, "a")
	tooLarge := strings.Repeat("x", 2<<20)
	await(t, "one that is too large to be taken", func() bool { return a.publish(wire.Broadcast, "a", tooLarge) == nil })
	await(t, "it not to be sent", func() bool { return a.get().unsent == 1 })
	a.reach(t, b, "a")
	large := strings.Repeat("x", 100<<10)
	await(t, "a large one", func() bool { return a.tryToReach(b, "a", large) })
	a.reach(t, b, "a")
	if unsent := a.get().unsent; unsent != 1 || a.linkHistory() != "[]" {
		t.Errorf("%d messages were not sent, want 1, and of the link the hub heard %s", unsent, a.linkHistory())
	}
}
