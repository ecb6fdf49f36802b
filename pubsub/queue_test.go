package pubsub

import (
	"slices"
	"testing"
)

func delivery(data []byte) *frame { return &frame{data: data, kind: Binary} }

// Memory of a queue stays bounded for a client that never reads.
func TestQueueBookkeepingIsBounded(t *testing.T) {
	var q queue
	frame := delivery(make([]byte, 10))
	for range 1_000_000 {
		q.pushDelivery(&q.mainLane, frame, 4096)
	}
	if cap(q.mainLane.items) > 4096 || q.deliveries > 4096 {
		t.Errorf("%d slots, %d bytes", cap(q.mainLane.items), q.deliveries)
	}
	n := 0
	for {
		if q.take(&q.mainLane) == nil {
			break
		}
		n++
	}
	if q.deliveries != 0 || uint64(n)+q.dropped != 1_000_000 {
		t.Errorf("%d taken, %d dropped, %d bytes left", n, q.dropped, q.deliveries)
	}
}

// Nor does a queue that is never empty remember what has passed through it.
func TestQueueThatNeverEmptiesIsBounded(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		defer c.block()()
		q := &c.queue
		frame := delivery(make([]byte, batchBytes)) // one for each batch
		c.mu.Lock()
		defer c.mu.Unlock()
		q.pushDelivery(&q.mainLane, frame, 1<<20)
		for range 1000 {
			q.pushDelivery(&q.mainLane, frame, 1<<20)
			var b batch
			if c.nextBatch(&b); b.frames != 1 {
				t.Fatalf("%d messages in a batch", b.frames)
			}
		}
		if len(q.mainLane.items) > 200 {
			t.Errorf("%d slots for one message", len(q.mainLane.items))
		}
	})
}

// A frame that fits into no queue drops nothing but itself.
func TestFrameLargerThanTheQueue(t *testing.T) {
	var q queue
	for range 50 {
		q.pushDelivery(&q.mainLane, delivery(make([]byte, 10)), 8000)
	}
	if n := q.pushDelivery(&q.mainLane, delivery(make([]byte, 9000)), 8000); n != 1 || q.dropped != 1 {
		t.Errorf("dropped %d, counted %d, want 1", n, q.dropped)
	}
}

// The lanes share one budget, and the oldest delivery of all goes first, also
// when the count of deliveries wraps around.
func TestLanesShareOneBudget(t *testing.T) {
	q := queue{deliverySeq: 1<<32 - 3}
	a, b := new(lane), new(lane)
	q.ownLanes = []*lane{a, b}
	limit := 6 * cost([]byte{0})
	for i, l := range []*lane{a, b, &q.mainLane, a, b, &q.mainLane, b, b, b} {
		q.pushDelivery(l, delivery([]byte{byte(i)}), limit)
	}
	var left []byte
	for _, l := range []*lane{&q.mainLane, a, b} {
		for f := q.take(l); f != nil; f = q.take(l) {
			left = append(left, f.data...)
		}
	}
	if want := []byte{5, 3, 4, 6, 7, 8}; !slices.Equal(left, want) || q.dropped != 3 || q.deliveries != 0 {
		t.Errorf("left %v, want %v; %d dropped, %d bytes", left, want, q.dropped, q.deliveries)
	}
}
