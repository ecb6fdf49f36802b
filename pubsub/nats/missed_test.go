package nats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// A hub that is too slow misses messages; it is told how many.
func TestSlowHub(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	const bound, messages = 64 << 10, 5000
	from, slow, fast := startEdge(t, natstest.Connect(s), 16<<20), startEdge(t, natstest.Connect(s), bound), startEdge(t, natstest.Connect(s), 16<<20)
	for _, e := range []*edge{slow, fast} {
		e.subscribe(t, "t", "a")
		from.reach(t, e, "a")
	}
	probes, _, _ := slow.counts()
	held := make(chan struct{})
	slow.mu.Lock()
	slow.held = held
	slow.mu.Unlock()

	text := strings.Repeat("x", 1000)
	for i := range messages {
		if err := from.publish(wire.Broadcast, "a", fmt.Sprintf("%d %s", i, text)); err != nil {
			t.Fatal(err)
		}
	}
	last := fmt.Sprintf("%d %s", messages-1, text)
	await(t, "the last message, elsewhere", func() bool { return fast.has(last) })
	slow.mu.Lock()
	slow.held = nil
	slow.mu.Unlock()
	close(held)

	// Those of Subscribe's probes that were late come before the first message.
	sum := func() (taken, lost int) {
		taken, _, lost = slow.counts()
		for _, payload := range slow.payloads()[probes:] {
			if strings.HasPrefix(payload, "probe") {
				taken--
			}
		}
		return taken - probes, lost
	}
	await(t, "the sum of what came and what did not", func() bool {
		taken, lost := sum()
		return taken+lost >= messages
	})
	from.reach(t, slow, "a") // nothing comes after this
	taken, lost := sum()
	if taken+lost != messages {
		t.Errorf("%d messages came and %d were missed, of %d", taken, lost, messages)
	}
	if lost < messages/2 || taken < 10 {
		t.Errorf("%d messages came and %d were missed; %d bytes should have waited", taken, lost, bound)
	}
	before := -1
	for _, payload := range slow.payloads() {
		if strings.HasPrefix(payload, "probe") {
			continue
		}
		var n int
		if _, err := fmt.Sscan(payload, &n); err != nil || n <= before {
			t.Fatalf("%.10s comes after %d: %v", payload, before, err)
		}
		before = n
	}
	if !slow.up() {
		t.Error("the link is down for a hub that is slow")
	}
}
