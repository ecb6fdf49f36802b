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

// Answers that never come must not go on with a move when the client is closed.
func TestCloseWhileMoving(t *testing.T) {
	for _, test := range []struct {
		name, mute string
		after      time.Duration
	}{
		{"publishes wait", "PING", 100 * time.Millisecond},
		{"the first is being left", "UNSUB", settleTime + 100*time.Millisecond},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			c, _, _, _ := startDrain(t, w, func(l *fakeLink) { l.mute[test.mute] = true })
			time.Sleep(test.after)
			c.Close()
			wantError(t, c.Publish(t.Context(), "t", "x", nil), ErrClosed)
			for e := range w.events {
				if _, ok := e.(Moved); ok {
					t.Error("moved")
				}
				if _, ok := e.(Closed); ok {
					break
				}
			}
		})
	}
}

func TestLeave(t *testing.T) {
	// A subscription that is confirmed while the client moves is not lost with the
	// current connection.
	bubble(t, "Subscribe while settling", func(t *testing.T, w *world) {
		c, first, second, _ := startDrain(t, w, nil)
		synctest.Wait()
		second.set(func(l *fakeLink) { l.mute["SUB:t:y"] = true })
		y := mustSubscribe(t, c, "y") // the current one has confirmed it
		time.Sleep(10 * settleTime)
		if lines, _ := first.sent(); slices.Contains(lines, "UNSUB:t:y") {
			t.Fatal("left too early")
		}
		first.deliver("y", "1", "y")
		payloads(t, y, 1)
		second.line("OK:SUB:t:y")
		event[Moved](w)
	})
	// When the next connection dies while the current one is left, what the next one had
	// delivered is not lost, and comes once.
	bubble(t, "Next dies while leaving", func(t *testing.T, w *world) {
		_, first, second, s := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
		time.Sleep(settleTime + time.Millisecond)
		second.bring("1")
		second.bring("2") // the current one has ended the subscription
		synctest.Wait()
		second.end(1011)
		synctest.Wait()
		first.bring("1", "3")
		wantPayloads(t, s, "1", "2", "3")
	})
	// The answers to what a connection was asked when it was to be left the first time
	// do not count the second time.
	bubble(t, "Leave twice", func(t *testing.T, w *world) {
		_, first, second, _ := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
		time.Sleep(settleTime + time.Millisecond)
		second.end(1011)
		<-w.links
		time.Sleep(settleTime + time.Millisecond)
		first.line("OK:UNSUB:t:x") // of the first time
		synctest.Wait()
		for len(w.events) > 0 {
			if _, ok := (<-w.events).(Moved); ok {
				t.Error("left before the first has answered")
			}
		}
		first.line("OK:UNSUB:t:x")
		event[Moved](w)
	})
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
