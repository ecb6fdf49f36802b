package client

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestReconnects(t *testing.T) {
	scenes{
		"a further loss, while the client is not back, does not make it away for less long": `
			next mute SUB; 1 ends 1001; link; after 20s; 2 says ERR:of_later; settle; next answers; 2 ends 1001
			told Reconnected Away:20`,
		"a subscription that is restored may be refused then": `
			subscribe y; next denies x; 1 ends 1001; told SubscriptionError Pattern:x Code:permission_denied; ended
			told Reconnected; 1 counts UNSUB:t:y 0`,
	}.run(t, oneEdge)
	bubble(t, "Reconnect", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA, edgeB)
		s := mustSubscribe(t, c, "x.#")
		l.deliver("x", "1", "x.#")
		payloads(t, s, 1)
		time.Sleep(20 * time.Second)
		w.set(edgeA, errUnreachable)
		w.set(edgeB, errUnreachable)
		heard := l.heard()
		l.end(1001)
		if e := event[Disconnected](w); e.Edge != edgeA || !errors.Is(e.Err, ErrDisconnected) || e.Err.(*Error).Close != 1001 {
			t.Errorf("got %+v", e)
		}
		wantEvent(w, Reconnecting{1, 0})
		var slept time.Duration
		for attempt := range 12 {
			e := event[Reconnecting](w)
			bound := min(15*time.Second, 250*time.Millisecond<<attempt)
			if e.Attempt != attempt+2 || e.Delay < 0 || e.Delay > bound {
				t.Errorf("got %+v, want at most %v", e, bound)
			}
			slept += e.Delay
		}
		wantError(t, c.Publish(t.Context(), "t", "x", nil), ErrDisconnected)
		wantError(t, c.Flush(t.Context()), ErrDisconnected)
		// A subscription waits for the connection.
		subscribed := make(chan *Subscription)
		go func() { subscribed <- mustSubscribe(t, c, "y") }()
		synctest.Wait()
		w.set(edgeB, nil)
		e := event[Reconnected](w)
		if e.Edge != edgeB || c.Edge() != edgeB || e.Away != time.Since(heard) {
			t.Errorf("got %+v, away %v", e, time.Since(heard))
		}
		l = <-w.links
		y := <-subscribed
		lines, _ := l.sent()
		slices.Sort(lines)
		if want := []string{"SUB:t:x.#", "SUB:t:y"}; !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
		l.deliver("x", "2", "x.#")
		l.deliver("y", "3", "y")
		if got := append(payloads(t, s, 1), payloads(t, y, 1)...); !slices.Equal(got, []string{"2", "3"}) {
			t.Errorf("got %q", got)
		}
		noError(t, c.Publish(t.Context(), "t", "x", nil))
	})
}

// A client whose connection an operator closes comes back, however it learns of it. So does
// one that does not know the code of such a line.
func TestClosedByOperator(t *testing.T) {
	for _, test := range []struct {
		line, reason string
		want         Code
	}{
		{"ERR:closed_by_operator", "closed_by_operator", "closed_by_operator"},
		{"", "closed_by_operator", "closed_by_operator"}, // the end of a WebTransport session overtook the line
		{"ERR:of_later", "of_later", CodeDisconnected},
	} {
		bubble(t, test.line+" "+test.reason, func(t *testing.T, w *world) {
			_, l, s := w.subscribed(edgeA)
			if test.line != "" {
				l.line(test.line)
			}
			l.endFor(1013, test.reason)
			e := event[Disconnected](w)
			err, ok := e.Err.(*Error)
			if !ok || err.Code != test.want || err.Close != 1013 {
				t.Errorf("got %+v", e)
			}
			if test.want == "closed_by_operator" && !errors.Is(e.Err, ErrClosedByOperator) {
				t.Errorf("got %v", e.Err)
			}
			wantEvent(w, Reconnecting{1, 0})
			event[Reconnected](w)
			(<-w.links).bring("back")
			wantPayloads(t, s, "back")
		})
	}
}

func TestReconnectTimes(t *testing.T) {
	bubble(t, "an edge that ends connections at once", func(t *testing.T, w *world) {
		_, l := w.connected(edgeA)
		start := time.Now()
		for range 30 {
			l.end(1011)
			l = <-w.links
		}
		if since := time.Since(start); since < 30*time.Second {
			t.Errorf("30 connections in %v", since)
		}
		// A connection that lasts starts over.
		time.Sleep(stableAfter)
		before := time.Now()
		l.end(1011)
		<-w.links
		equal(t, "waited", time.Since(before), 0)
	})
	bubble(t, "an edge that asks to wait", func(t *testing.T, w *world) {
		_, l := w.connected(edgeA)
		w.set(edgeA, errDraining)
		l.end(1001)
		event[Reconnecting](w)
		if e := event[Reconnecting](w); e.Delay < 5*time.Second {
			t.Errorf("got %+v", e)
		}
		w.set(edgeA, &Error{Code: "draining", Status: 503, RetryAfter: time.Hour})
		event[Reconnecting](w)
		if e := event[Reconnecting](w); e.Delay > 15*time.Second {
			t.Errorf("got %+v", e)
		}
	})
}
