package nats

import (
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// testSource is an edge whose clock is behind ours. Its methods take seconds of our clock.
type testSource struct {
	source
	behind float64
}

func micros(seconds float64) uint64 { return uint64((1e6 + seconds) * 1e6) }

func (h *testSource) announce(sent, came float64) {
	h.observeClock(micros(sent-h.behind), micros(came))
}

func (h *testSource) lateAt(sent, came float64) bool {
	return h.source.isLate(micros(sent-h.behind), micros(came))
}

// A broadcast is late when it was held back for long, whatever the clocks show.
func TestLate(t *testing.T) {
	for _, behind := range []float64{3600, 0, -3600} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			h := testSource{behind: behind}
			if h.lateAt(0, 100) {
				t.Error("late, before the edge has shown a clock")
			}
			h.announce(0, 0.3) // a slow one
			h.announce(2, 2.001)
			h.announce(4, 4.001)
			for _, late := range []float64{0, 1, 4.9} {
				if h.lateAt(5, 5+late) {
					t.Errorf("what came %v s after it was sent is late", late)
				}
			}
			if !h.lateAt(5, 10.1) {
				t.Error("what came 5.1 s after it was sent is not late")
			}

			for sent := 6.0; sent < 30; sent += 2 { // all that was held back comes at once
				h.announce(sent, 30)
				if want := sent < 24.9; h.lateAt(sent, 30) != want {
					t.Errorf("what was sent at %v and came at 30: late %v", sent, !want)
				}
			}
			h.announce(30, 30.001)
			if h.lateAt(30, 31) || !h.lateAt(30, 36) {
				t.Error("afterwards it is as before")
			}

			// Its machine stands still for 30 s, and its clock with it.
			h.behind += 30
			h.announce(62, 62.001)
			h.announce(64, 64.001)
			if h.lateAt(65, 65.1) || !h.lateAt(65, 71) {
				t.Error("what an edge sends is late after its clock has stood still")
			}
		})
	}
}

// What was held back is dropped and counted, unless its edge shows no clock, as those
// of earlier versions.
func TestLateIsDropped(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	r := readState{sources: map[edgeID]*source{}}
	admitted := func(from edgeID, number uint64) bool {
		_, ok := b.admit(&r, &client.Msg{Subject: b.subscribePrefix + broadcasts + "t.c" + natssubject.ChannelEnd, Data: appendBroadcast(nil, from, number, body{payload: []byte("x")})})
		return ok
	}
	announce := func(from edgeID, clock uint64) {
		data := fmt.Appendf(nil, `{"v":1,"id":"%v","state":"here","clock":%d}`, from, clock)
		if _, ok := b.admit(&r, &client.Msg{Subject: b.subscribePrefix + announcements, Data: data}); !ok {
			t.Error("an announcement is dropped")
		}
	}
	const hour = uint64(time.Hour / time.Microsecond)
	now := b.clock.now() - hour
	announce(fakePeer, now)
	if admitted(fakePeer, now-6e6) {
		t.Error("what was sent 6 s ago is delivered")
	}
	if !admitted(fakePeer, now-1e6) || admitted(fakePeer, now-1e6) {
		t.Error("what was sent a second ago is not delivered once")
	}
	if n := q.get().missed; n != 1 {
		t.Errorf("%d messages are counted", n)
	}
	announce(fakePeer+1, 0)
	if !admitted(fakePeer+1, 1) || !admitted(fakePeer+1, 2) {
		t.Error("an edge without a clock is not heard")
	}
}
