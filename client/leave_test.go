package client

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// startDrain connects, subscribes to x, and begins a move whose next connection
// is returned. change is for the first link, before that.
func startDrain(t *testing.T, w *world, change func(*fakeLink)) (c *Client, first, second *fakeLink, s *Subscription) {
	c, first = w.connected(edgeA, edgeB)
	s = mustSubscribe(t, c, "x")
	if change != nil {
		first.set(change)
	}
	first.line("RECONNECT")
	return c, first, <-w.links, s
}

// A message for a subscription that only the next connection has comes, also if
// the current one delivers it to others.
func TestOverlapWhileLeaving(t *testing.T) {
	for _, order := range []string{"first", "second", "late"} {
		bubble(t, order, func(t *testing.T, w *world) {
			c, first, second, s := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
			time.Sleep(settleTime + time.Millisecond)
			all := mustSubscribe(t, c, "#")
			one := func() { first.bring("1"); synctest.Wait() }
			two := func() { second.deliver("x", "1", "x", "#"); synctest.Wait() }
			switch order {
			case "first":
				one()
				two()
			case "second":
				two()
				one()
			default:
				time.Sleep(leaveTime - 2*time.Millisecond)
				one()
				event[Moved](w)
				two()
			}
			if order != "late" {
				event[Moved](w)
			}
			second.deliver("x", "2", "x", "#")
			for _, sub := range []*Subscription{s, all} {
				wantPayloads(t, sub, "1", "2")
			}
		})
	}
}

// A subscription is confirmed when the current connection has it.
func TestSubscribeConfirmedByCurrent(t *testing.T) {
	for _, end := range []string{"answer", "death"} {
		bubble(t, end, func(t *testing.T, w *world) {
			c, first, second, _ := startDrain(t, w, func(l *fakeLink) { l.mute["SUB:t:#"] = true })
			done := make(chan struct{})
			go func() {
				mustSubscribe(t, c, "#")
				close(done)
			}()
			synctest.Wait()
			if lines, _ := second.sent(); !slices.Contains(lines, "SUB:t:#") {
				t.Errorf("sent %q", lines)
			}
			wantNone(t, "confirmed by the second", done)
			if end == "answer" {
				first.line("OK:SUB:t:#")
			} else {
				first.end(1001)
			}
			<-done
			event[Moved](w)
		})
	}
}
