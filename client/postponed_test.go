package client

import (
	"errors"
	"fmt"
	"testing"
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
	if e := event[SubscriptionError](w); e != (SubscriptionError{Tenant: "t", Pattern: "x", Code: "try_later", Text: reasons["try_later"]}) {
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
		wantEvent(w, refusedPublish("t", "c", "try_later"))
		time.Sleep(time.Minute)
		if n := l.count("SUB:t:x"); n != 1 {
			t.Errorf("%d SUBs", n)
		}
		l.allow()
		mustSubscribe(t, c, "x")
		noEvent[SubscriptionError](w)
	})
}

// What can be subscribed later is told once, and SUB is repeated until it is confirmed.
func TestSubscribeLater(t *testing.T) {
	const told = "told SubscriptionError Pattern:x Code:try_later; "
	const restored = "subscribe y; next postpones x; 1 ends 1001; " + told + `
		link; after 2m; 2 counts SUB:t:x 10-100 # 8 within 15 s, and then 8 in a minute at least
		2 counts SUB:t:y 1; silent on SubscriptionError Reconnected Disconnected
		`
	scenes{
		"restored, and confirmed": restored + `
			2 answers; told Reconnected Away:2m; 2 rests SUB:t:x; 2: 2; got 2; silent on SubscriptionError`,
		"restored, and refused": restored + "2 denies x; told Reconnected Away:2m; ended; 2 rests SUB:t:x",
		"restored, and left":    restored + "unsubscribe; told Reconnected Away:2m; 2 rests SUB:t:x; silent on SubscriptionError",
		"in a move, and the first stays": "next postpones x; drains; " + told + `
			after 1m; at A; 1: 1; got 1; 2 answers; told Moved B; 2: 2; got 2; silent on SubscriptionError Disconnected`,
		"in a move, and the first ends": "next postpones x; drains; " + told + `
			after 1m; at A; 1: 1; got 1; 1 ends 1001; settle; 2 answers; told Disconnected; told Reconnected B
			silent on SubscriptionError; 2: 2; got 2; at B`,
		"what began while it moves keeps the current connection": `
			next mute SUB:t:y; drains; told Moving; after settleTime/2; subscribe y; 2 answers; 2 postpones y
			2 says ERR:try_later:SUB:t:y; told SubscriptionError Pattern:y Code:try_later
			after 1m; at A; 1 counts UNSUB:t:x 0; 2 answers; told Moved B`,
		// It was asked for the end of everything, is asked for everything again, and answers that
		// later, too. Until then, what the next connection brought beside it would be lost.
		"when the next one dies, by the current one": `
			1 mute UNSUB; 1 postpones x; drains; after settleTime+behindTime; 1 counts UNSUB:t:x 1
			A gone; B gone; 2 ends 1001; told SubscriptionError Pattern:x Code:try_later; incomplete; after 10s; 1 answers
			after 15s; 1: 1; got 1; 1 counts SUB:t:x 3-20; 1 rests SUB:t:x; silent on SubscriptionError`,
		// It is not given up as one that says nothing either.
		"beside a suspect connection it does not take over": "flow; 1 mute; next postpones x; " + told + `
			link; after 15s; at A; alone; 2 answers; told Recovered B; 2: 1; got 1`,
		"beside one that wakes": "flow; 1 mute; next postpones x; " + told + `
			link; after 15s; at A; alone; 1: 1; told Recovered A Away:0s; got 1; 2 rests SUB:t:x`,
	}.run(t, twoEdges)
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
