package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestMove(t *testing.T) {
	bubble(t, "the whole of a move: who leads when, and what goes where", func(t *testing.T, w *world) {
		c, first := w.connected(edgeA, edgeB)
		s := mustSubscribe(t, c, "x.#")
		publish := func(payload string) {
			t.Helper()
			noError(t, c.Publish(t.Context(), "t", "x", []byte(payload)))
		}
		publish("1")
		w.next(muteSub)
		first.line("RECONNECT")
		wantEvent(w, Moving{edgeA, WebSocket, ReasonDrain})
		second := <-w.links
		publish("2") // the next one has no subscriptions yet
		first.deliver("x", "a", "x.#")
		second.deliver("x", "a", "x.#")
		second.deliver("x", "b", "x.#")
		wantPayloads(t, s, "a")
		synctest.Wait()
		equal(t, "the second leads", len(s.Messages()), 0)
		first.deliver("x", "b", "x.#")
		payloads(t, s, 1)
		first.set(func(l *fakeLink) { l.mute["PING"] = true })
		second.line("OK:SUB:t:x.#")
		synctest.Wait()
		published := make(chan struct{})
		go func() {
			publish("3") // waits until the first edge has handled 2
			noError(t, c.Flush(t.Context()))
			close(published)
		}()
		time.Sleep(100 * time.Millisecond)
		wantFrames(t, second)
		first.set(func(l *fakeLink) { clear(l.mute) })
		first.line("PONG")
		<-published
		_, a := first.sent()
		_, b := second.sent()
		if !slices.Equal(a, []string{"x=1", "x=2"}) || !slices.Equal(b, []string{"x=3"}) {
			t.Errorf("got %q and %q", a, b)
		}
		second.deliver("x", "c", "x.#") // to one subscriber: on the next one alone
		second.deliver("x", "d", "x.#")
		first.deliver("x", "d", "x.#")
		first.deliver("x", "e", "x.#")
		wantEvent(w, Moved{edgeB, WebSocket, ReasonDrain})
		second.deliver("x", "e", "x.#")
		second.deliver("x", "f", "x.#")
		wantPayloads(t, s, "d", "e", "c", "f")
		<-first.finished
		wantLines(t, first, "SUB:t:x.#", "PING", "UNSUB:t:x.#", "PING")
		equal(t, "c.Edge()", c.Edge(), edgeB)
	})
	// Where an edge or the client gets no time, copies come late, and the move takes long: they
	// are known as much longer.
	bubble(t, "Late copies", func(t *testing.T, w *world) {
		_, first, s := w.subscribed(edgeA, edgeB)
		w.next(muteSub)
		first.line("RECONNECT")
		second := <-w.links
		first.bring("a")
		time.Sleep(2 * noteLife)
		second.bring("a")
		second.line("OK:SUB:t:x")
		first.bring("b")
		event[Moved](w)
		time.Sleep(2 * noteLife)
		second.bring("b")
		time.Sleep(2 * noteLife) // nothing is known any more
		second.bring("b", "c")
		wantPayloads(t, s, "a", "b", "b", "c")
	})
	bubble(t, "a message of a subscription that the current connection does not have is given at once", func(t *testing.T, w *world) {
		c, first := w.connected(edgeA)
		mustSubscribe(t, c, "x")
		first.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		first.line("RECONNECT")
		second := <-w.links
		early := mustSubscribe(t, c, "early") // on both
		time.Sleep(settleTime + time.Millisecond)
		late := mustSubscribe(t, c, "late") // on the next one alone
		second.deliver("late", "1", "late")
		payloads(t, late, 1)
		second.deliver("early", "2", "early")
		synctest.Wait()
		equal(t, "given before the first is left", len(early.Messages()), 0)
		before := time.Now()
		event[Moved](w)
		atMost(t, "left after", time.Since(before), leaveTime)
		payloads(t, early, 1)
		a, _ := first.sent()
		b, _ := second.sent()
		if slices.Contains(a, "SUB:t:late") || !slices.Contains(a, "SUB:t:early") || !slices.Contains(b, "SUB:t:late") || !slices.Contains(b, "SUB:t:early") {
			t.Errorf("sent %q and %q", a, b)
		}
	})
	bubble(t, "a message that comes on three connections within a second comes once", func(t *testing.T, w *world) {
		_, first, s := w.subscribed(edgeA, edgeB)
		first.line("RECONNECT")
		second := <-w.links
		first.bring("1")
		event[Moved](w)
		second.line("RECONNECT")
		third := <-w.links
		synctest.Wait()
		second.bring("1")
		synctest.Wait()
		third.bring("1")
		event[Moved](w)
		third.bring("2")
		wantPayloads(t, s, "1", "2")
	})
	bubble(t, "a stream of messages on two edges of different speeds loses nothing in a move", func(t *testing.T, w *world) {
		_, l, s := w.subscribed(edgeA, edgeB)
		next := 0
		const each = 500
		for range 5 {
			l.line("RECONNECT")
			second := <-w.links
			synctest.Wait()
			for i := range each { // both have it, the next one in part earlier, in part later
				payload := fmt.Sprint(next + i)
				if i%100 < 50 {
					second.bring(payload)
					l.bring(payload)
				} else {
					l.bring(payload)
					second.bring(payload)
				}
				if i%10 == 0 {
					time.Sleep(2 * time.Millisecond)
				}
			}
			event[Moved](w)
			for i, got := range payloads(t, s, each) {
				if got != fmt.Sprint(next+i) {
					t.Fatalf("got %s, want %d", got, next+i)
				}
			}
			next += each
			l = second
		}
		equal(t, "a copy", len(s.Messages()), 0)
	})
}

// The current connection that is behind is not left: it may have to deliver what the next one
// was subscribed too late for.
func TestCurrentIsBehind(t *testing.T) {
	for _, behind := range []time.Duration{settleTime + behindTime/2, settleTime + 2*behindTime} {
		bubble(t, behind.String(), func(t *testing.T, w *world) {
			_, first, s := w.subscribed(edgeA)
			first.line("RECONNECT")
			second := <-w.links
			second.bring("2")
			time.Sleep(behind)
			first.bring("1", "2")
			event[Moved](w)
			want := []string{"1", "2"}
			if behind > settleTime+behindTime {
				want = want[1:] // for ever it does not wait
			}
			wantPayloads(t, s, want...)
		})
	}
}

func TestMoveFails(t *testing.T) {
	start := func(t *testing.T, addresses ...string) (*world, *Client, *fakeLink, *Subscription) {
		w := newWorld(t)
		c, first := w.mustConnect(addresses, nil)
		return w, c, first, mustSubscribe(t, c, "x")
	}
	bubble(t, "the second dies", func(t *testing.T, _ *world) {
		w, c, first, s := start(t, edgeA, edgeB)
		first.line("RECONNECT")
		for range 3 {
			second := <-w.links
			second.bring("1")
			synctest.Wait()
			equal(t, "moves to", second.edge, edgeB)
			second.end(1011)
		}
		reaches(t, first, s, "1")
		synctest.Wait()
		noError(t, c.Flush(t.Context()))
		event[Moved](w)
		second := <-w.links
		second.bring("1", "2")
		// The note has been taken by then, or it is a second old: 1 may come again.
		for got := payloads(t, s, 1)[0]; got != "2"; got = payloads(t, s, 1)[0] {
			equal(t, "got", got, "1")
		}
	})
	bubble(t, "the second dies when it was to lead", func(t *testing.T, _ *world) {
		w, c, first, s := start(t, edgeA, edgeB)
		first.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		first.line("RECONNECT")
		second := <-w.links
		time.Sleep(settleTime + time.Millisecond) // UNSUB is sent
		w.set(edgeB, errUnreachable)
		w.set(edgeA, errDraining)
		first.set(func(l *fakeLink) { l.mute["SUB"] = true })
		second.bring("0")
		synctest.Wait()
		time.Sleep(time.Second)
		second.end(1011)
		if e := event[Disconnected](w); e.Edge != edgeB || e.Err == nil {
			t.Errorf("got %+v", e)
		}
		payloads(t, s, 1) // what it brought is not lost
		time.Sleep(time.Second)
		if len(w.events) > 0 {
			t.Errorf("the subscriptions are not back yet, and there is %+v", <-w.events)
		}
		first.line("OK:SUB:t:x")
		wantEvent(w, Reconnected{edgeA, WebSocket, 2 * time.Second, false})
		noError(t, c.Publish(t.Context(), "t", "x", []byte("1")))
		reaches(t, first, s, "1")
		synctest.Wait()
		lines, frames := first.sent()
		if !slices.Equal(lines, []string{"SUB:t:x", "PING", "UNSUB:t:x", "PING", "SUB:t:x"}) || !slices.Equal(frames, []string{"x=1"}) {
			t.Errorf("sent %q %q", lines, frames)
		}
		w.set(edgeB, nil)
		event[Moved](w)
	})
	recorded(t, "the second dies when it was to lead, and all have a history: nothing is lost", func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		first.set(func(l *fakeLink) { l.mute["PING"] = true }) // so that it is not left at once
		first.line("RECONNECT")
		event[Moving](w)
		second := <-w.links
		time.Sleep(settleTime + leaveTime/2)
		w.set(edgeB, errUnreachable)
		w.set(edgeA, errDraining)
		second.end(1011)
		first.stored(1)
		payloads(t, s, 1)
		time.Sleep(10 * time.Second)
		noEvent[Disconnected](w)
		lines, _ := first.sent()
		if lines = slices.DeleteFunc(lines, func(l string) bool { return l == "PING" }); !slices.Equal(lines, []string{"RSUB:t:x:now"}) {
			t.Errorf("sent %q", lines)
		}
		w.set(edgeB, nil)
		event[Moved](w)
	})
	bubble(t, "the first dies when the second is ready", func(t *testing.T, _ *world) {
		w, _, first, s := start(t, edgeA, edgeB)
		first.line("RECONNECT")
		second := <-w.links
		second.bring("1")
		synctest.Wait()
		first.end(1001)
		event[Moved](w)
		payloads(t, s, 1)
	})
	bubble(t, "the first dies before the second is ready", func(t *testing.T, _ *world) {
		w, c, first, s := start(t, edgeA, edgeB)
		w.next(muteSub)
		first.line("RECONNECT")
		second := <-w.links
		second.bring("1")
		synctest.Wait()
		first.end(1001)
		synctest.Wait()
		noError(t, c.Publish(t.Context(), "t", "x", []byte("2")))
		equal(t, "given too early", len(s.Messages()), 0)
		second.line("OK:SUB:t:x")
		event[Disconnected](w)
		event[Reconnected](w)
		event[Moved](w)
		payloads(t, s, 1)
	})
	bubble(t, "the first drains before it has all subscriptions", func(t *testing.T, _ *world) {
		w, _, lost, _ := start(t, edgeA, edgeB)
		w.next(muteSub)
		lost.end(1001)
		first := <-w.links
		w.next(nil)
		first.line("RECONNECT")
		if e := event[Reconnected](w); e.Edge == first.edge {
			t.Errorf("got %+v", e)
		}
		event[Moved](w)
	})
	bubble(t, "both die", func(t *testing.T, _ *world) {
		w, _, first, _ := start(t, edgeA, edgeB)
		w.next(muteSub)
		first.line("RECONNECT")
		second := <-w.links
		synctest.Wait()
		first.end(1001)
		synctest.Wait()
		w.next(nil)
		second.end(1011)
		event[Disconnected](w)
		event[Reconnected](w)
	})
	bubble(t, "there is no other edge", func(t *testing.T, _ *world) {
		w, c, first, s := start(t, edgeA)
		w.set(edgeA, errDraining)
		first.line("RECONNECT")
		time.Sleep(6 * time.Second)
		reaches(t, first, s, "1")
		first.end(1001)
		event[Disconnected](w)
		wantError(t, c.Flush(t.Context()), ErrDisconnected)
		w.set(edgeA, nil)
		event[Reconnected](w)
	})
	bubble(t, "the second drains, too", func(t *testing.T, _ *world) {
		w, c, first, s := start(t, edgeA, edgeB)
		first.line("RECONNECT")
		second := <-w.links
		second.line("RECONNECT")
		equal(t, "Moved.Edge", event[Moved](w).Edge, edgeB)
		equal(t, "Moving.Edge", event[Moving](w).Edge, edgeB)
		// What the current one has delivered comes on the next one late, and on the third.
		third := <-w.links
		equal(t, "Moved.Edge", event[Moved](w).Edge, edgeA)
		reaches(t, third, s, "1")
		equal(t, "c.Edge()", c.Edge(), edgeA)
	})
	bubble(t, "closed meanwhile", func(t *testing.T, _ *world) {
		w, c, first, _ := start(t, edgeA, edgeB)
		first.line("RECONNECT")
		second := <-w.links
		synctest.Wait()
		c.Close()
		<-first.finished
		<-second.finished
	})
}
