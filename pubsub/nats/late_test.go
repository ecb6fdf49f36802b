package nats

import (
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
)

// hearings hears an edge whose clock is an hour behind ours, in seconds of ours.
type hearings struct {
	hearing
	behind float64
}

func micros(seconds float64) uint64 { return uint64((1e6 + seconds) * 1e6) }

func (h *hearings) announced(sent, came float64) { h.announcedAt(micros(sent-h.behind), micros(came)) }

func (h *hearings) isLate(sent, came float64) bool {
	return h.late(micros(sent-h.behind), micros(came))
}

// A broadcast is late when it was held back for long, whatever the clocks show.
func TestLate(t *testing.T) {
	for _, behind := range []float64{3600, 0, -3600} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			h := hearings{behind: behind}
			if h.isLate(0, 100) {
				t.Error("late, before the edge has shown a clock")
			}
			h.announced(0, 0.3) // a slow one
			h.announced(2, 2.001)
			h.announced(4, 4.001)
			for _, late := range []float64{0, 1, 4.9} {
				if h.isLate(5, 5+late) {
					t.Errorf("what came %v s after it was sent is late", late)
				}
			}
			if !h.isLate(5, 10.1) {
				t.Error("what came 5.1 s after it was sent is not late")
			}

			for sent := 6.0; sent < 30; sent += 2 { // all that was held back comes at once
				h.announced(sent, 30)
				if want := sent < 24.9; h.isLate(sent, 30) != want {
					t.Errorf("what was sent at %v and came at 30: late %v", sent, !want)
				}
			}
			h.announced(30, 30.001)
			if h.isLate(30, 31) || !h.isLate(30, 36) {
				t.Error("afterwards it is as before")
			}

			// Its machine stands still for 30 s, and its clock with it.
			h.behind += 30
			h.announced(62, 62.001)
			h.announced(64, 64.001)
			if h.isLate(65, 65.1) || !h.isLate(65, 71) {
				t.Error("what an edge sends is late after its clock has stood still")
			}
		})
	}
}

// What was held back is dropped and counted, unless its edge shows no clock, as those
// of earlier versions.
func TestLateIsDropped(t *testing.T) {
	t.Parallel()
	b, q := startQuiet(t, natstest.Connect(natstest.Server(t)))
	r := receiving{edges: map[edgeID]*hearing{}}
	admitted := func(from edgeID, number uint64) bool {
		_, ok := b.admit(&r, &client.Msg{Subject: b.listen + broadcasts + "t.c" + end, Data: appendBroadcast(nil, from, number, []byte("x"))})
		return ok
	}
	announce := func(from edgeID, clock uint64) {
		data := fmt.Appendf(nil, `{"v":1,"id":"%v","state":"here","clock":%d}`, from, clock)
		if _, ok := b.admit(&r, &client.Msg{Subject: b.listen + announcements, Data: data}); !ok {
			t.Error("an announcement is dropped")
		}
	}
	const hour = uint64(time.Hour / time.Microsecond)
	now := b.clock.now() - hour
	announce(stranger, now)
	if admitted(stranger, now-6e6) {
		t.Error("what was sent 6 s ago is delivered")
	}
	if !admitted(stranger, now-1e6) || admitted(stranger, now-1e6) {
		t.Error("what was sent a second ago is not delivered once")
	}
	q.mu.Lock()
	if q.missed != 1 {
		t.Errorf("%d messages are counted", q.missed)
	}
	q.mu.Unlock()
	announce(stranger+1, 0)
	if !admitted(stranger+1, 1) || !admitted(stranger+1, 2) {
		t.Error("an edge without a clock is not heard")
	}
}
