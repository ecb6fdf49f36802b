package nats_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/nats"
	"github.com/millrace/millrace/wire"
)

// queueBytes is much more than what the kernel takes.
const queueBytes = 1 << 20

// fill publishes until nothing more is taken, and returns how much was. The
// payloads begin with their number.
func (e *edge) fill(t *testing.T) (taken int) {
	t.Helper()
	var longest time.Duration
	for {
		begin := time.Now()
		err := e.publish(wire.Broadcast, "a", fmt.Sprintf("%d %s", taken, strings.Repeat("x", 4000)))
		longest = max(longest, time.Since(begin))
		if err != nil {
			if !errors.Is(err, pubsub.ErrLinkFull) || errors.Is(err, nats.ErrUnavailable) {
				t.Errorf("a full queue: %v", err)
			}
			break
		}
		taken++
		if taken*4000 > 16*queueBytes {
			t.Fatal("the queue has no end")
		}
	}
	if longest > 4*time.Second { // a write gives up after 5 s
		t.Errorf("Publish blocked for %v", longest)
	}
	// Two queues, of which one is being written, and what the kernel takes.
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
		if _, err := fmt.Sscan(payload, &n, &x); err != nil || len(x) != 4000 {
			t.Fatalf("a message of %d bytes came: %.20q", len(payload), payload)
		}
		list = append(list, n)
	}
	return list
}

// What NATS does not take at once waits, up to the bound.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	other := startEdge(t, natstest.Connect(s), 16<<20)
	other.subscribe(t, "t", "a")
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), queueBytes)
	e.reach(t, other, "a")

	p.Hold()
	taken := e.fill(t)
	p.Resume()
	e.reach(t, other, "a")
	if got := e.linkHistory(); got != "[]" {
		t.Errorf("the hub heard %s of the link, which is up", got)
	}
	_, unsent, _ := e.counts()
	numbers := other.numbers(t)
	if len(numbers)+unsent != taken {
		t.Errorf("%d of %d messages came, and %d were not sent", len(numbers), taken, unsent)
	}
	for i := range numbers[1:] {
		if numbers[i] >= numbers[i+1] {
			t.Fatalf("message %d comes before %d", numbers[i], numbers[i+1])
		}
	}
}

// A tenant whose share is full is the only one to be told: publishers to other tenants,
// and subscribers, lose nothing.
func TestFullShareIsTheTenants(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	other := startEdge(t, natstest.Connect(s), 16<<20)
	other.subscribe(t, "quiet", "a")
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), queueBytes)
	quiet := func(d wire.Delivery, payload string) error {
		return e.Publish(pubsub.Message{Tenant: []byte("quiet"), Channel: []byte("a"), Payload: []byte(payload), Delivery: d})
	}
	await(t, "the interest", func() bool { return quiet(wire.Broadcast, "before") == nil && other.has("before") })

	p.Hold()
	e.fill(t)
	// The kernel may have taken some of what fill found waiting.
	await(t, "the refusal of a message beyond the share", func() bool {
		return errors.Is(e.publish(wire.OneNearest, "a", strings.Repeat("x", 4000)), pubsub.ErrLinkFull)
	})
	for _, d := range []wire.Delivery{wire.Broadcast, wire.OneNearest, wire.OneRandom} {
		if err := quiet(d, fmt.Sprint("during ", d)); err != nil {
			t.Errorf("%v of another tenant: %v", d, err)
		}
	}
	p.Resume()
	await(t, "the other tenant's messages", func() bool { return other.has(fmt.Sprint("during ", wire.Broadcast)) })
	if got := e.linkHistory(); got != "[]" {
		t.Errorf("the hub heard %s of the link, which is up", got)
	}
}

// A connection that takes nothing for long is given up, as half of a message is
// written. What waited for it is counted, and the next connection works as before.
func TestStuckConnection(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	other := startEdge(t, natstest.Connect(s), 16<<20)
	other.subscribe(t, "t", "a")
	p := natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, never), 2*queueBytes) // of which one tenant has half
	e.subscribe(t, "t", "back")
	e.reach(t, other, "a")

	p.Hold()
	taken := e.fill(t)
	await(t, "what waits to be given up", func() bool {
		_, unsent, _ := e.counts()
		return unsent*4000 >= queueBytes/4
	})
	await(t, "the end of the link", func() bool { return e.linkHistory() == "[false]" })
	p.Resume()
	await(t, "the link", e.up)
	e.reach(t, other, "a")
	other.reach(t, e, "back")
	if _, unsent, _ := e.counts(); len(other.numbers(t))+unsent > taken {
		t.Errorf("%d came of %d messages of which %d were not sent", len(other.numbers(t)), taken, unsent)
	}
}

// A message that is larger than the queue is still sent, when the queue is empty.
func TestMessageLargerThanQueue(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := startEdge(t, natstest.Connect(s), 1000), startEdge(t, natstest.Connect(s), 1000)
	b.subscribe(t, "t", "a")
	a.reach(t, b, "a")
	large := strings.Repeat("x", 100<<10)
	await(t, "the large one to be taken", func() bool { return a.publish(wire.Broadcast, "a", large) == nil })
	await(t, "the large one", func() bool { return b.has(large) })
}

// A message that is larger than NATS allows is lost, and the next one is not.
func TestMessageTooLargeForNATS(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := startEdge(t, natstest.Connect(s), 8<<20), startEdge(t, natstest.Connect(s), 8<<20)
	b.subscribe(t, "t", "a")
	a.reach(t, b, "a")
	if err := a.publish(wire.Broadcast, "a", strings.Repeat("x", 2<<20)); err != nil {
		t.Error(err)
	}
	await(t, "a message that was not sent", func() bool {
		_, unsent, _ := a.counts()
		return unsent == 1
	})
	a.reach(t, b, "a")
	if _, unsent, _ := a.counts(); unsent != 1 || a.linkHistory() != "[]" {
		t.Errorf("%d messages were not sent, want 1, and of the link the hub heard %s", unsent, a.linkHistory())
	}
}
