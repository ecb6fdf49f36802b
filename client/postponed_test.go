package client

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// tryLater makes a link answer SUB for x with try_later.
func tryLater(l *fakeLink) { l.answer["SUB:t:x"] = "ERR:try_later:SUB:t:x" }

// allow makes a link confirm what it answered with try_later.
func (l *fakeLink) allow() { l.set(func(l *fakeLink) { clear(l.answer) }) }

// count returns how often a link was sent a line.
func (l *fakeLink) count(line string) (n int) {
	lines, _ := l.sent()
	for _, other := range lines {
		if other == line {
			n++
		}
	}
	return n
}

// postponedX awaits a SubscriptionError, which must be the one of try_later for x.
func postponedX(w *world) {
	w.t.Helper()
	if e := event[SubscriptionError](w); e != (SubscriptionError{Tenant: "t", Pattern: "x", Code: "try_later"}) {
		w.t.Errorf("got %+v", e)
	}
}

func TestPostponed(t *testing.T) {
	// The application decides what follows when a new subscription or a publish is to be
	// tried later.
	bubble(t, "Try later", func(t *testing.T, w *world) {
		w.next(tryLater)
		c, l := w.connected(edgeA)
		var e *Error
		if _, err := c.Subscribe(t.Context(), "t", "x"); !errors.Is(err, ErrTryLater) || !errors.As(err, &e) || e.Pattern != "x" {
			t.Errorf("got %v", err)
		}
		l.line("ERR:try_later:PUB:t:c")
		wantEvent(w, PublishError{"t", "c", "try_later"})
		time.Sleep(time.Minute)
		if n := l.count("SUB:t:x"); n != 1 {
			t.Errorf("%d SUBs", n)
		}
		l.allow()
		mustSubscribe(t, c, "x")
		noEvent[SubscriptionError](w)
	})
	// A subscription that begins while the client moves, and that the next connection is to
	// try later, keeps the current one.
	bubble(t, "Subscribe later while moving", func(t *testing.T, w *world) {
		c, first := w.connected(edgeA, edgeB)
		mustSubscribe(t, c, "y")
		w.next(func(l *fakeLink) { tryLater(l); l.mute["SUB:t:x"] = true })
		first.line("RECONNECT")
		second := <-w.links
		event[Moving](w)
		time.Sleep(settleTime / 2)
		mustSubscribe(t, c, "x")
		second.set(func(l *fakeLink) { clear(l.mute) })
		second.line("ERR:try_later:SUB:t:x")
		postponedX(w)
		time.Sleep(time.Minute)
		if c.Edge() != edgeA || first.count("UNSUB:t:y") > 0 {
			t.Error("the first connection is left")
		}
		second.allow()
		event[Moved](w)
	})
	// When the next connection dies after the current one was asked for the end of everything,
	// the current one is asked for everything again, and may answer that later, too.
	bubble(t, "Subscribe again later", func(t *testing.T, w *world) {
		c, first, s := w.subscribed(edgeA, edgeB)
		first.set(func(l *fakeLink) { tryLater(l); l.mute["UNSUB"] = true })
		first.line("RECONNECT")
		second := <-w.links
		time.Sleep(settleTime + behindTime)
		if first.count("UNSUB:t:x") != 1 {
			t.Fatal("the first connection is not asked to end")
		}
		w.set(edgeA, errUnreachable)
		w.set(edgeB, errUnreachable)
		second.end(1001)
		postponedX(w)
		ready := make(chan bool, 1)
		c.post(func() { ready <- c.current.ready })
		if <-ready { // what the next connection brought beside it would be lost
			t.Error("the first connection counts as complete")
		}
		time.Sleep(10 * time.Second)
		first.allow()
		time.Sleep(15 * time.Second)
		subs := first.count("SUB:t:x")
		reaches(t, first, s, "1")
		time.Sleep(time.Minute)
		if n := first.count("SUB:t:x"); n != subs || n < 3 {
			t.Errorf("%d SUBs, %d more later", subs, n-subs)
		}
		noEvent[SubscriptionError](w)
	})
}

// A subscription that cannot be restored yet does not end: SUB is repeated, and the client
// is back when the edge confirms it.
func TestRestoreLater(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(t *testing.T, l *fakeLink, s *Subscription)
		want error // of the subscription
	}{
		{"confirmed", func(_ *testing.T, l *fakeLink, _ *Subscription) { l.allow() }, nil},
		{"refused", func(_ *testing.T, l *fakeLink, _ *Subscription) {
			l.set(func(l *fakeLink) { l.answer["SUB:t:x"] = "ERR:permission_denied:SUB:t:x" })
		}, ErrPermissionDenied},
		{"left", func(t *testing.T, _ *fakeLink, s *Subscription) {
			noError(t, s.Unsubscribe(t.Context()))
		}, nil},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			c, l := w.connected(edgeA)
			x, y := mustSubscribe(t, c, "x"), mustSubscribe(t, c, "y")
			w.next(tryLater)
			l.end(1001)
			postponedX(w)
			l = <-w.links
			l.deliver("y", "1", "y")
			payloads(t, y, 1)
			time.Sleep(2 * time.Minute) // 8 attempts or more within 15 s, and then 8 in a minute at least
			if n := l.count("SUB:t:x"); n < 10 || n > 100 || l.count("SUB:t:y") != 1 {
				t.Errorf("%d SUBs for x, %d for y", n, l.count("SUB:t:y"))
			}
			select {
			case <-x.done:
				t.Fatal("the subscription has ended")
			default:
			}
			for len(w.events) > 0 {
				switch e := (<-w.events).(type) {
				case SubscriptionError, Reconnected, Disconnected:
					t.Errorf("got %+v", e)
				}
			}
			test.end(t, l, x)
			if e := event[Reconnected](w); e.Away < 2*time.Minute {
				t.Errorf("got %+v", e)
			}
			wantError(t, x.Err(), test.want)
			l.allow()
			subs := l.count("SUB:t:x")
			time.Sleep(time.Minute)
			if n := l.count("SUB:t:x"); n != subs {
				t.Errorf("%d more SUBs", n-subs)
			}
			if test.name == "confirmed" {
				reaches(t, l, x, "2")
			}
			noEvent[SubscriptionError](w)
		})
	}
}

// A move waits for the next connection that is to try later, and goes on as ever if the
// first one ends meanwhile.
func TestMoveLater(t *testing.T) {
	for _, test := range []struct {
		name string
		end  bool // the current connection ends
		want []string
	}{
		{"the first stays", false, []string{"Moved"}},
		{"the first ends", true, []string{"Disconnected", "Reconnected"}},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			c, first, s := w.subscribed(edgeA, edgeB)
			w.next(tryLater)
			first.line("RECONNECT")
			postponedX(w)
			second := <-w.links
			time.Sleep(time.Minute)
			equal(t, "the client has moved", c.Edge(), edgeA)
			reaches(t, first, s, "1")
			if test.end {
				first.end(1001)
				synctest.Wait()
			}
			second.allow()
			for e := range w.events {
				if got := name(e); slices.Contains([]string{"Moved", "Disconnected", "Reconnected", "SubscriptionError", "Closed"}, got) {
					equal(t, "got", got, test.want[0])
					if test.want = test.want[1:]; len(test.want) == 0 {
						break
					}
				}
			}
			reaches(t, second, s, "2")
			equal(t, "c.Edge()", c.Edge(), edgeB)
		})
	}
}

// A connection that is asked for the end of everything is not asked for a subscription
// any more, whether it was about to be or has yet to answer.
func TestLeaveLater(t *testing.T) {
	for _, asked := range []bool{false, true} {
		bubble(t, fmt.Sprint(asked), func(t *testing.T, w *world) {
			c, l := w.mustConnect([]string{edgeA, edgeB}, func(o *Options) {
				o.MinBackOff = 50 * time.Millisecond
				o.MaxBackOff = o.MinBackOff
			})
			mustSubscribe(t, c, "x")
			w.next(tryLater)
			l.end(1001)
			first := <-w.links
			postponedX(w)
			w.next(nil)
			first.line("RECONNECT")
			<-w.links
			time.Sleep(settleTime / 2)
			first.set(func(l *fakeLink) {
				l.mute["UNSUB"] = true
				if asked {
					l.mute["SUB"] = true
				}
			})
			for first.count("UNSUB:t:x") == 0 {
				time.Sleep(time.Millisecond)
			}
			subs := first.count("SUB:t:x")
			if asked {
				first.line("ERR:try_later:SUB:t:x")
			}
			event[Moved](w)
			if n := first.count("SUB:t:x"); n != subs {
				t.Errorf("%d more SUBs", n-subs)
			}
		})
	}
}

// The next connection that is to try later does not take over from a suspect one yet, and
// is not given up as one that says nothing.
func TestTakeOverLater(t *testing.T) {
	for _, wakes := range []bool{false, true} {
		suspect(t, fmt.Sprint(wakes), func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
			w.next(tryLater)
			postponedX(w)
			second := <-w.links
			time.Sleep(15 * time.Second)
			if c.Edge() != edgeA || len(w.links) > 0 {
				t.Errorf("at %s, with %d further connections", c.Edge(), len(w.links))
			}
			if wakes {
				first.bring("1")
				if e := event[Recovered](w); e.Edge != edgeA || e.Away != 0 {
					t.Errorf("got %+v", e)
				}
				payloads(t, s, 1)
				subs := second.count("SUB:t:x")
				time.Sleep(time.Minute)
				if n := second.count("SUB:t:x"); n != subs {
					t.Errorf("%d more SUBs on a connection that was left", n-subs)
				}
				return
			}
			second.allow()
			equal(t, "Recovered.Edge", event[Recovered](w).Edge, edgeB)
			reaches(t, second, s, "1")
		})
	}
}
