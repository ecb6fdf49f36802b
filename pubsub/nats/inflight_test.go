package nats

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// What is kept of messages that were sent is bounded, in bytes and in time; a
// message that was dropped and comes back from NATS is counted as lost.
func TestInFlightIsBounded(t *testing.T) {
	var f inFlight
	now := time.Now()
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: make([]byte, 10_000), Delivery: wire.OneRandom}
	for range 1000 {
		f.add(m, []edgeID{1}, now)
	}
	most := maxInFlightBytes / 10_000
	if n := len(f.messages); n > most || n < most/2 || f.bytes > maxInFlightBytes {
		t.Errorf("%d messages of 10 kB are kept, %d bytes", n, f.bytes)
	}
	if f.take(1) != nil {
		t.Error("the first one is still there")
	}
	last := f.take(1000)
	if last == nil || len(last.message.Payload) != 10_000 || string(last.message.Tenant) != "t" || string(last.message.Channel) != "c" {
		t.Errorf("the last one is %+v", last)
	}
	if f.take(1000) != nil {
		t.Error("one is taken twice")
	}
	f.add(m, nil, now.Add(2*inFlightTime))
	if n := len(f.messages); n != 1 || f.bytes > 11_000 {
		t.Errorf("%d messages are kept after %v, %d bytes", n, 2*inFlightTime, f.bytes)
	}
}

// A message to the nearest edge that no other edge has an interest in goes, as a last
// resort, to a subscriber of this edge that was told to leave.
func TestNearestAsLastResort(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneNearest, "")
	for i, wanted := range []bool{false, true, true} {
		m.HasSubscribers, m.Payload = wanted, fmt.Append(nil, i)
		noError(t, b.Publish(m))
	}
	q.await(t, "2")
	if got := q.payloads(); len(got) != 2 || got[0] != "1" {
		t.Errorf("as a last resort came %q", got)
	}
	b.inFlight.mu.Lock()
	defer b.inFlight.mu.Unlock()
	if len(b.inFlight.messages) > 0 {
		t.Errorf("%d messages are kept", len(b.inFlight.messages))
	}
}
