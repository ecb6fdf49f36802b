package nats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// An edge has caught up when the hub has all that others had published, and theirs all
// that it had, wherever that was held up.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p := natstest.StartProxy(t, s)
	slow, others := startEdge(t, connectThrough(p, time.Minute), 8<<20), []*edge{
		startEdge(t, natstest.Connect(s), 8<<20), startEdge(t, natstest.Connect(s), 8<<20),
	}
	meet(t, append(others, slow))
	slow.subscribe(t, "t", "a")
	for _, from := range others {
		from.reach(t, slow, "a")
	}
	const n = 1000
	for _, where := range []struct {
		name     string
		hold, on func()
	}{
		{"nowhere", func() {}, func() {}},
		{"on the way", p.Hold, p.Resume},
		{"in its inbox", slow.hold, slow.release},
	} {
		t.Run(where.name, func(t *testing.T) {
			where.hold()
			for i := range n {
				for at, from := range others {
					if err := from.publish(wire.Broadcast, "a", fmt.Sprintf("%s %d of %d", where.name, i, at)); err != nil {
						t.Fatal(err)
					}
				}
			}
			start, caught, heard := time.Now(), make(chan []string, 1), make(chan []string, 1)
			slow.CatchUp("t", func() { caught <- slow.payloads() })
			others[1].CatchUp("t", func() { heard <- slow.payloads() })
			where.on()
			select {
			case got := <-caught:
				if where.name == "nowhere" && time.Since(start) >= pubsub.CatchUpTime {
					t.Error("it is the answers that count, and not the time")
				}
				for at := range others {
					if last := fmt.Sprintf("%s %d of %d", where.name, n-1, at); !slices.Contains(got, last) {
						t.Errorf("%q is missing", last)
					}
				}
			case <-time.After(testTimeout):
				t.Fatal("in vain")
			}
			if last := fmt.Sprintf("%s %d of 1", where.name, n-1); !slices.Contains(<-heard, last) {
				t.Errorf("the edge that published %q was told too early that it is there", last)
			}
		})
	}
}

// hold has Receive wait until release.
func (h *hub) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = make(chan struct{})
}

func (h *hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.held)
	h.held = nil
}

// Without another edge, or a link, there is nothing to wait for; the wait for an edge that
// does not answer ends after CatchUpTime. Many calls that wait cost few messages.
func TestCatchUpEnds(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p, q := natstest.StartProxy(t, s), natstest.StartProxy(t, s)
	e := startEdge(t, connectThrough(p, time.Minute), 8<<20)
	catchUp := func(times int) (took time.Duration) {
		t.Helper()
		start, caught := time.Now(), make(chan struct{}, times)
		for range times {
			e.CatchUp("t", func() { caught <- struct{}{} })
		}
		for range times {
			select {
			case <-caught:
			case <-time.After(testTimeout):
				t.Fatal("in vain")
			}
		}
		return time.Since(start)
	}
	if took := catchUp(1); took >= pubsub.CatchUpTime {
		t.Errorf("an edge alone has waited for %v", took)
	}

	silent := startEdge(t, connectThrough(q, time.Minute), 8<<20)
	meet(t, []*edge{e, silent})
	before := s.NumClients()
	messages := func() uint64 {
		vars, err := s.Varz(nil)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(vars.InMsgs)
	}
	sent := messages()
	catchUp(10_000)
	if n := messages() - sent; n > 20 { // two markers and their answers, and announcements
		t.Errorf("%d messages for 10,000 calls that wait", n)
	}
	q.Hold()
	if took := catchUp(3); took < pubsub.CatchUpTime {
		t.Errorf("an edge that is silent was waited for for %v", took)
	}
	q.Resume()
	p.Cut()
	await(t, "the server to notice", func() bool { return s.NumClients() < before })
	await(t, "the edge to notice", func() bool { return !e.up() })
	if took := catchUp(1); took >= pubsub.CatchUpTime {
		t.Errorf("an edge without a link has waited for %v", took)
	}
}
